//go:build cgo

package ffi

// #include <stdlib.h>
// #include "ffi.h"
import "C"

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/xlatypes"
	"github.com/hlocb/hlocb/runtime"
)

// Symbol is the default symbol of a handler in a shared library.
const Symbol = "hlocb_handler"

// Library is a handler in a shared library: a function of the XLA FFI, as XLA calls it for a custom call of API version
// 4. It implements runtime.Handler on every backend, with hlocb's own call frame:
//
//   - Operands and results are the hook's, without chain and tokens, row-major. Types narrower than a byte are packed,
//     low bits first. The results of an inout hook are its operands' memory; a tap has no results.
//   - The attributes are the source's, without the attributes that hlocb adds. A handler that refuses the number of
//     attributes is called again without the attribute that names the hook, which may be meant for hlocb alone.
//   - The stage is execute. The context provides run id, device ordinal, memory and threads, but no stream, state or
//     user data.
//   - Handle waits for a handler that completes its call later.
//
// Several devices may call the handler at once, as XLA does. A library stays loaded. A handler that crashes ends the
// process.
type Library struct {
	path, symbol string
	handler      *Handler
	attrs        sync.Map // of *hook.Site to *Attrs
}

// LibraryError says why a handler in a shared library cannot be used.
type LibraryError struct{ Path, Symbol, Reason string }

func (e *LibraryError) Error() string {
	return fmt.Sprintf("%s: symbol %s: %s", e.Path, e.Symbol, e.Reason)
}

// Error is an error of a handler in a shared library.
type Error struct {
	Code    xlatypes.Code
	Message string
}

func (e *Error) Error() string { return e.Code.String() + ": " + e.Message }

// Load loads a shared library, looks up its handler and requests its FFI version. An empty symbol means Symbol. The
// error for a missing file is an *fs.PathError, otherwise a *LibraryError.
func Load(path, symbol string) (*Library, error) {
	if symbol == "" {
		symbol = Symbol
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	full, err := filepath.Abs(path) // the loader searches other places for a name without a slash
	if err != nil {
		return nil, err
	}
	refuse := func(message *C.char) (*Library, error) {
		return nil, &LibraryError{path, symbol, strings.TrimPrefix(takeMessage(message), full+": ")}
	}
	cpath, csymbol := C.CString(full), C.CString(symbol)
	defer C.free(unsafe.Pointer(cpath))
	defer C.free(unsafe.Pointer(csymbol))
	var message *C.char
	library := C.hl_ffi_open(cpath, &message)
	if library == nil {
		return refuse(message)
	}
	handler := C.hl_ffi_symbol(library, csymbol, &message)
	if handler == nil {
		C.hl_ffi_close(library)
		return refuse(message)
	}
	h, err := New(handler)
	if err != nil {
		return nil, &LibraryError{path, symbol, err.Error()}
	}
	return &Library{path: path, symbol: symbol, handler: h}, nil
}

// Address returns the handler's function, which a plugin can register.
func (h *Library) Address() unsafe.Pointer { return h.handler.Address() }

// CheckSite implements runtime.SiteChecker. It refuses attributes and types that the FFI does not have.
func (h *Library) CheckSite(s *hook.Site) error {
	if err := xlatypes.CheckFFI(s); err != nil {
		return err
	}
	_, err := h.attrsOf(s)
	return err
}

// attrsOf returns a site's attributes in the form of the FFI. It converts them once.
func (h *Library) attrsOf(s *hook.Site) (*Attrs, error) {
	if a, ok := h.attrs.Load(s); ok {
		return a.(*Attrs), nil
	}
	a, err := attrsOfText(s.Attrs)
	if err != nil {
		return nil, err
	}
	kept, _ := h.attrs.LoadOrStore(s, a)
	return kept.(*Attrs), nil
}

// MemoryUse implements runtime.MemoryUser: the library expects the layouts that the program's source asks for.
func (h *Library) MemoryUse() runtime.MemoryUse {
	return runtime.MemoryUse{HostViews: true, Layouts: true}
}

// Handle implements runtime.Handler.
func (h *Library) Handle(_ context.Context, c *runtime.Call) error {
	attrs, err := h.attrsOf(c.Site)
	if err != nil {
		return err
	}
	call := Call{Operands: c.Operands, Results: c.Results, Attrs: attrs, Run: c.Run, Device: int32(c.Device)}
	err = h.handler.Call(&call)
	if f, ok := err.(*Error); ok && strings.Contains(f.Message, "Wrong number of attributes") {
		if rest, ok := h.withoutName(c.Site); ok { // the FFI decodes all attributes before it runs the handler
			call.Attrs = rest
			if h.handler.Call(&call) != nil {
				return f
			}
			h.attrs.Store(c.Site, rest)
			return nil
		}
	}
	return err
}

// withoutName returns the attributes of a site without the one that names the hook. ok is false if there is none.
func (h *Library) withoutName(s *hook.Site) (*Attrs, bool) {
	for _, name := range [...]string{"name", "hook"} {
		if _, ok := s.Attrs[name]; ok {
			rest := maps.Clone(s.Attrs)
			delete(rest, name)
			a, err := attrsOfText(rest)
			return a, err == nil
		}
	}
	return nil, false
}

var _ runtime.SiteChecker = (*Library)(nil)
