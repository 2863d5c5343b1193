package handlers

import (
	"errors"
	"strings"

	"github.com/hlocb/hlocb/runtime"
)

// newPlugin loads a handler from a shared library. A ':' after the last '/' separates the symbol.
func newPlugin(args string, env *Env) (runtime.Handler, error) {
	if args == "" {
		return nil, errors.New("needs a shared library: plugin:PATH or plugin:PATH:SYMBOL")
	}
	if env.Library == nil {
		return nil, errors.New("no libraries can be loaded here")
	}
	path, symbol := args, ""
	if i := strings.LastIndexByte(args, ':'); i > strings.LastIndexByte(args, '/') {
		path, symbol = args[:i], args[i+1:]
	}
	return env.Library(path, symbol)
}
