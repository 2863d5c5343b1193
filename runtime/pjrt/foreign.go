//go:build cgo

package pjrt

// #include <stdlib.h>
// #include "calls.h"
// #include "foreign.h"
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
	"github.com/hlocb/hlocb/runtime"
)

// ForeignSymbol is the default symbol of a handler in a shared library.
const ForeignSymbol = "hlocb_handler"

// Foreign is a handler in a shared library: a function of the XLA FFI, as XLA calls it for a custom call of API version
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
type Foreign struct {
	path, symbol string
	handler      *FFIHandler
	attrs        sync.Map // of *hook.Site to *FFIAttrs
}

// LibraryError says why a handler in a shared library cannot be used.
type LibraryError struct{ Path, Symbol, Reason string }

func (e *LibraryError) Error() string {
	return fmt.Sprintf("%s: symbol %s: %s", e.Path, e.Symbol, e.Reason)
}

// ForeignError is an error of a handler in a shared library.
type ForeignError struct {
	Code    Code
	Message string
}

func (e *ForeignError) Error() string { return e.Code.String() + ": " + e.Message }

// LoadForeign loads a shared library, looks up its handler and requests its FFI version. An empty symbol is
// ForeignSymbol. The error for a missing file is an *fs.PathError, otherwise a *LibraryError.
func LoadForeign(path, symbol string) (*Foreign, error) {
	if symbol == "" {
		symbol = ForeignSymbol
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	full, err := filepath.Abs(path) // the loader searches other places for a name without a slash
	if err != nil {
		return nil, err
	}
	refuse := func(message *C.char) (*Foreign, error) {
		return nil, &LibraryError{path, symbol, strings.TrimPrefix(takeMessage(message), full+": ")}
	}
	cpath, csymbol := C.CString(full), C.CString(symbol)
	defer C.free(unsafe.Pointer(cpath))
	defer C.free(unsafe.Pointer(csymbol))
	var message *C.char
	library := C.hl_open(cpath, &message)
	if library == nil {
		return refuse(message)
	}
	handler := C.hl_symbol(library, csymbol, &message)
	if handler == nil {
		C.hl_close(library)
		return refuse(message)
	}
	h, err := NewFFIHandler(handler)
	if err != nil {
		return nil, &LibraryError{path, symbol, err.Error()}
	}
	return &Foreign{path: path, symbol: symbol, handler: h}, nil
}

// CheckSite implements runtime.SiteChecker. It refuses attributes and types that the FFI does not have.
func (h *Foreign) CheckSite(s *hook.Site) error {
	if err := checkFFITypes(s); err != nil {
		return err
	}
	_, err := h.attrsOf(s)
	return err
}

// attrsOf returns a site's attributes in the form of the FFI. It converts them once.
func (h *Foreign) attrsOf(s *hook.Site) (*FFIAttrs, error) {
	if a, ok := h.attrs.Load(s); ok {
		return a.(*FFIAttrs), nil
	}
	a, err := ffiAttrsOfText(s.Attrs)
	if err != nil {
		return nil, err
	}
	kept, _ := h.attrs.LoadOrStore(s, a)
	return kept.(*FFIAttrs), nil
}

// MemoryUse implements runtime.MemoryUser: the library expects the layouts that the program's source asks for.
func (h *Foreign) MemoryUse() runtime.MemoryUse {
	return runtime.MemoryUse{HostViews: true, Layouts: true}
}

// Handle implements runtime.Handler.
func (h *Foreign) Handle(_ context.Context, c *runtime.Call) error {
	attrs, err := h.attrsOf(c.Site)
	if err != nil {
		return err
	}
	call := FFICall{Operands: c.Operands, Results: c.Results, Attrs: attrs, Run: c.Run, Device: int32(c.Device)}
	err = h.handler.Call(&call)
	if f, ok := err.(*ForeignError); ok && strings.Contains(f.Message, "Wrong number of attributes") {
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
func (h *Foreign) withoutName(s *hook.Site) (*FFIAttrs, bool) {
	for _, name := range [...]string{"name", "hook"} {
		if _, ok := s.Attrs[name]; ok {
			rest := maps.Clone(s.Attrs)
			delete(rest, name)
			a, err := ffiAttrsOfText(rest)
			return a, err == nil
		}
	}
	return nil, false
}

var _ runtime.SiteChecker = (*Foreign)(nil)
