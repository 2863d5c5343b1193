package handlers

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/runtime"
)

// Env gives handlers access to streams, files and libraries. The command line fills it in.
type Env struct {
	Out io.Writer // output of print, stats and count
	Err io.Writer // standard error of the child of exec
	// Create opens a file for writing and Open opens a file for reading, for record, npz and replay. If they are nil,
	// these handlers fail.
	Create func(name string) (io.WriteCloser, error)
	Open   func(name string) (io.ReadCloser, error)
	// Whole creates a file that gets its name when it is closed, because nobody can read a part of it: npz. Nil is Create.
	Whole func(name string) (io.WriteCloser, error)
	// Library loads a handler from a shared library; an empty symbol is the default. If it is nil, plugin fails.
	Library func(path, symbol string) (runtime.Handler, error)
}

// Info is one row of the table of handlers.
type Info struct {
	Name     string
	Args     string // the options after "NAME:" as in the help, empty for none
	Doc      string
	Observer bool // an observer; otherwise a responder
	// New creates the handler from the text after "NAME:". A handler that holds resources is an io.Closer.
	New func(args string, env *Env) (runtime.Handler, error)
}

// Table returns the built-in handlers in the order of the help.
func Table() []Info {
	return []Info{
		{Name: "print", Args: "threshold=N,head=N", Doc: "prints name, kind, location and operands", Observer: true, New: newPrint},
		{Name: "record", Args: "[raw=BYTES,]FILE", Doc: "writes each event as a line of JSON; values of at least BYTES go to FILE.data as raw bytes", Observer: true, New: newRecord},
		{Name: "npz", Args: "FILE", Doc: "writes each operand as an array of a .npz file", Observer: true, New: newNPZ},
		{Name: "stats", Doc: "prints minimum, maximum and mean of each operand, and counts NaN and Inf", Observer: true, New: newStats},
		{Name: "finite", Doc: "ends the run at the first NaN or Inf and reports its position", Observer: true, New: newFinite},
		{Name: "count", Doc: "counts events and prints the counts at the end", Observer: true, New: newCount},
		{Name: "sample", Args: "every=N,first=N,to=HANDLER", Doc: "forwards every Nth event, at most the first N, to another observer", Observer: true, New: newSample},
		{Name: "echo", Doc: "sets each result to the next operand of its type", New: newEcho},
		{Name: "const", Args: "LITERAL", Doc: "sets results to a constant: a number for all, or a dense<...> literal for the results of its type", New: newConst},
		{Name: "replay", Args: "FILE", Doc: "supplies the results that 'hlocb record' wrote", New: newReplay},
		{Name: "exec", Args: "[timeout=D,]COMMAND", Doc: "computes results in a child process; docs/handlers.md has the protocol", New: newExec},
		{Name: "plugin", Args: "PATH[:SYMBOL]", Doc: "calls an XLA FFI handler of a shared library (symbol hlocb_handler), on any backend", New: newPlugin},
	}
}

// Names returns the names of the built-in handlers.
func Names() []string {
	var names []string
	for _, info := range Table() {
		names = append(names, info.Name)
	}
	return names
}

// UnknownError says that no handler has the name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown handler %q: expected one of %s", e.Name, strings.Join(Names(), ", "))
}

// Parse creates the handler of spec, which is NAME or NAME:OPTIONS.
func Parse(spec string, env *Env) (h runtime.Handler, observer bool, err error) {
	name, args, _ := strings.Cut(spec, ":")
	for _, info := range Table() {
		if info.Name == name {
			if args != "" && info.Args == "" {
				return nil, false, fmt.Errorf("handler %s accepts no options, got %q", name, args)
			}
			h, err := info.New(args, env)
			if err != nil {
				return nil, false, fmt.Errorf("handler %s: %w", name, err)
			}
			return h, info.Observer, nil
		}
	}
	return nil, false, &UnknownError{name}
}

// CutBinding splits NAME=HANDLER at the '=' before a handler or a fault. A hook's name may contain '=', too, as
// train.py:41=x does. If nothing in spec names a handler, it splits at the first '='.
func CutBinding(spec string) (name, handler string, ok bool) {
	known := append(Names(), FaultNames()...)
	for i := range spec {
		word := spec[i+1:]
		if k := strings.IndexAny(word, ":=@"); k >= 0 {
			word = word[:k]
		}
		if spec[i] == '=' && i > 0 && slices.Contains(known, word) {
			return spec[:i], spec[i+1:], true
		}
	}
	name, handler, ok = strings.Cut(spec, "=")
	return name, handler, ok && name != "" && handler != ""
}

// option is one key=value of a handler's options.
type option struct{ key, value string }

// splitOptions reads key=value pairs separated by commas. The value of the key last is the rest of the text, commas
// included.
func splitOptions(args, last string) ([]option, error) {
	var out []option
	for args != "" {
		key, rest, ok := strings.Cut(args, "=")
		if !ok || key == "" || strings.Contains(key, ",") {
			part, _, _ := strings.Cut(args, ",")
			return nil, fmt.Errorf("expected option=value, found %q", part)
		}
		if key == last {
			return append(out, option{key, rest}), nil
		}
		value, more, _ := strings.Cut(rest, ",")
		out = append(out, option{key, value})
		args = more
	}
	return out, nil
}
