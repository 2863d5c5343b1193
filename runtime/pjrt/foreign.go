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
	goruntime "runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
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
	handler      unsafe.Pointer
	attrs        sync.Map // of *hook.Site to *foreignAttrs
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
	h := &Foreign{path: path, symbol: symbol, handler: C.hl_symbol(library, csymbol, &message)}
	if h.handler == nil {
		C.hl_close(library)
		return refuse(message)
	}
	var major, minor C.int32_t
	if message = C.hl_foreign_version(h.handler, &major, &minor); message != nil {
		return refuse(message)
	}
	switch {
	case major < 0:
		return nil, &LibraryError{path, symbol, "it does not report its version of the XLA FFI"}
	case major != C.HL_FFI_MAJOR || minor > C.HL_FFI_MINOR:
		return nil, &LibraryError{path, symbol, fmt.Sprintf("it was built for XLA FFI %d.%d, hlocb has %d.%d", int(major), int(minor), int(C.HL_FFI_MAJOR), int(C.HL_FFI_MINOR))}
	}
	return h, nil
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
func (h *Foreign) attrsOf(s *hook.Site) (*foreignAttrs, error) {
	if a, ok := h.attrs.Load(s); ok {
		return a.(*foreignAttrs), nil
	}
	a, err := newForeignAttrs(s.Attrs)
	if err != nil {
		return nil, err
	}
	kept, _ := h.attrs.LoadOrStore(s, a)
	return kept.(*foreignAttrs), nil
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
	var pin goruntime.Pinner
	defer pin.Unpin()
	values := append(append(make([]*tensor.Tensor, 0, len(c.Operands)+len(c.Results)), c.Operands...), c.Results...)
	buffers := make([]C.hl_ffi_buffer, len(values)+1)
	packed := make([][]byte, len(values))
	for i, t := range values {
		b := &buffers[i]
		b.size, b.dtype, b.rank = C.size_t(unsafe.Sizeof(*b)), C.int32_t(ffiCode(t.DType())), C.int64_t(len(t.Shape()))
		data := t.Peek()
		if i >= len(c.Operands) {
			data = t.Bytes()
		}
		if bits := packedBits(t.DType()); bits != 0 {
			packed[i] = make([]byte, packedSize(len(data), bits))
			pack(packed[i], data, t.DType())
			data = packed[i]
			for k := range i {
				if values[k] == t { // the result of an inout hook is its operand
					packed[i], data = packed[k], packed[k]
				}
			}
		}
		if len(data) > 0 {
			pin.Pin(&data[0])
			b.data = unsafe.Pointer(&data[0])
		}
		if len(t.Shape()) > 0 {
			pin.Pin(&t.Shape()[0])
			b.dims = (*C.int64_t)(unsafe.Pointer(&t.Shape()[0]))
		}
	}
	err = h.call(c, buffers, attrs)
	if f, ok := err.(*ForeignError); ok && strings.Contains(f.Message, "Wrong number of attributes") {
		if rest, ok := h.withoutName(c.Site); ok {
			if err = h.call(c, buffers, rest); err == nil {
				h.attrs.Store(c.Site, rest)
			} else {
				err = f
			}
		}
	}
	if err != nil {
		return err
	}
	for i, r := range c.Results {
		if p := packed[len(c.Operands)+i]; p != nil {
			unpack(r.Bytes(), p, r.DType())
		}
	}
	return nil
}

// call calls the handler once. The FFI decodes all attributes before it runs the handler.
func (h *Foreign) call(c *runtime.Call, buffers []C.hl_ffi_buffer, attrs *foreignAttrs) error {
	var code C.int32_t
	message := C.hl_foreign_call(h.handler, &buffers[0], C.int64_t(len(c.Operands)), C.int64_t(len(c.Results)), attrs.list, C.int64_t(c.Run), C.int32_t(c.Device), &code)
	goruntime.KeepAlive(attrs)
	if message != nil || code != 0 {
		return &ForeignError{Code(code), takeMessage(message)}
	}
	return nil
}

// withoutName returns the attributes of a site without the one that names the hook. ok is false if there is none.
func (h *Foreign) withoutName(s *hook.Site) (*foreignAttrs, bool) {
	for _, name := range [...]string{"name", "hook"} {
		if _, ok := s.Attrs[name]; ok {
			rest := maps.Clone(s.Attrs)
			delete(rest, name)
			a, err := newForeignAttrs(rest)
			return a, err == nil
		}
	}
	return nil, false
}

var _ runtime.SiteChecker = (*Foreign)(nil)
