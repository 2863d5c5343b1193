//go:build cgo

package ffi

// #include <stdlib.h>
// #include "ffi.h"
import "C"

import (
	"fmt"
	"maps"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/internal/xlatypes"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/tensor"
)

// Attrs holds attributes in the C form of the FFI, in C memory that its finalizer frees.
type Attrs struct {
	list   *C.hl_ffi_attrs
	blocks []unsafe.Pointer
}

// NewAttrs converts a dictionary. Numbers become scalars of their type, array<...> and dense<...> become arrays;
// strings and dictionaries keep their form. A nil dictionary is empty.
func NewAttrs(d *ir.DictAttr) (*Attrs, error) {
	if d == nil {
		d = ir.NewDict(nil)
	}
	a := &Attrs{}
	goruntime.SetFinalizer(a, (*Attrs).free)
	var err error
	a.list, err = a.dict(d)
	return a, err
}

// attrsOfText is NewAttrs for attributes in MLIR's text.
func attrsOfText(text map[string]string) (*Attrs, error) {
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(text)) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s = %s", mlirtext.Quote(name), text[name])
	}
	return ParseAttrs("{" + b.String() + "}")
}

// registry returns all dialects. Making them takes longer than reading attributes.
var registry = sync.OnceValues(func() (*ir.Registry, error) { return all.Registry() })

// ParseAttrs is NewAttrs for a dictionary in MLIR's text.
func ParseAttrs(dict string) (*Attrs, error) {
	reg, err := registry()
	if err != nil {
		return nil, err
	}
	attr, err := parse.Attr(diag.NewSource("attributes", []byte(dict)), ir.NewContext(reg))
	if err != nil {
		return nil, err
	}
	d, ok := attr.(*ir.DictAttr)
	if !ok {
		return nil, fmt.Errorf("the attributes are not a dictionary")
	}
	return NewAttrs(d)
}

func (a *Attrs) free() {
	for _, p := range a.blocks {
		C.free(p)
	}
}

// alloc returns zeroed C memory. C.malloc never returns nil: cgo ends the process instead.
func (a *Attrs) alloc(size uintptr) unsafe.Pointer {
	p := C.malloc(C.size_t(max(size, 1)))
	clear(unsafe.Slice((*byte)(p), size))
	a.blocks = append(a.blocks, p)
	return p
}

func (a *Attrs) bytes(data []byte) unsafe.Pointer {
	p := a.alloc(uintptr(len(data)))
	copy(unsafe.Slice((*byte)(p), len(data)), data)
	return p
}

func (a *Attrs) span(s string) *C.hl_ffi_span {
	p := (*C.hl_ffi_span)(a.alloc(unsafe.Sizeof(C.hl_ffi_span{})))
	p.ptr, p.len = (*C.char)(a.bytes([]byte(s))), C.size_t(len(s))
	return p
}

// dict converts a dictionary. Its entries are sorted by name.
func (a *Attrs) dict(d *ir.DictAttr) (*C.hl_ffi_attrs, error) {
	entries := d.Entries()
	n := uintptr(len(entries))
	out := (*C.hl_ffi_attrs)(a.alloc(unsafe.Sizeof(C.hl_ffi_attrs{})))
	out.size, out.n = C.size_t(unsafe.Sizeof(*out)), C.int64_t(n)
	out.kinds = (*C.int32_t)(a.alloc(n * unsafe.Sizeof(C.int32_t(0))))
	out.names = (**C.hl_ffi_span)(a.alloc(n * unsafe.Sizeof(uintptr(0))))
	out.items = (*unsafe.Pointer)(a.alloc(n * unsafe.Sizeof(uintptr(0))))
	for i, e := range entries {
		kind, item, err := a.value(e.Attr)
		if err != nil {
			return nil, fmt.Errorf("attribute %s: %w", e.Name, err)
		}
		unsafe.Slice(out.kinds, n)[i] = kind
		unsafe.Slice(out.names, n)[i] = a.span(e.Name)
		unsafe.Slice(out.items, n)[i] = item
	}
	return out, nil
}

func (a *Attrs) value(v ir.Attr) (kind C.int32_t, item unsafe.Pointer, err error) {
	switch v := v.(type) {
	case *ir.StringAttr:
		return C.HL_FFI_ATTR_STRING, unsafe.Pointer(a.span(v.Value())), nil
	case *ir.DictAttr:
		d, err := a.dict(v)
		return C.HL_FFI_ATTR_DICTIONARY, unsafe.Pointer(d), err
	case *ir.IntegerAttr:
		return a.scalar(v.Type(), uint64(v.Value()))
	case *ir.FloatAttr:
		return a.scalar(v.Type(), v.Bits())
	case *ir.DenseArrayAttr:
		d, ok := tensor.ParseDType(v.Elem().String())
		if !ok {
			break
		}
		t := tensor.New(d, tensor.Shape{int64(len(v.Values()))})
		for i, bits := range v.Values() {
			t.SetBits(i, uint64(bits))
		}
		return a.array(t)
	case *ir.DenseAttr:
		t, err := v.Tensor()
		if err != nil {
			return 0, nil, err
		}
		return a.array(t)
	}
	return 0, nil, fmt.Errorf("%s has no counterpart in the XLA FFI", v)
}

func (a *Attrs) scalar(t ir.Type, bits uint64) (C.int32_t, unsafe.Pointer, error) {
	d, ok := tensor.ParseDType(t.String())
	if !ok || xlatypes.FFICode(d) == 0 || xlatypes.PackedBits(d) != 0 {
		return 0, nil, fmt.Errorf("a scalar of type %s has no counterpart in the XLA FFI", t)
	}
	v := tensor.New(d, tensor.Shape{})
	v.SetBits(0, bits)
	if d == tensor.I1 {
		v.SetBits(0, bits&1)
	}
	s := (*C.hl_ffi_scalar)(a.alloc(unsafe.Sizeof(C.hl_ffi_scalar{})))
	s.dtype, s.value = C.int32_t(xlatypes.FFICode(d)), a.bytes(v.Bytes())
	return C.HL_FFI_ATTR_SCALAR, unsafe.Pointer(s), nil
}

func (a *Attrs) array(t *tensor.Tensor) (C.int32_t, unsafe.Pointer, error) {
	code := xlatypes.FFICode(t.DType())
	if code == 0 || xlatypes.PackedBits(t.DType()) != 0 {
		return 0, nil, fmt.Errorf("an array of %s has no counterpart in the XLA FFI", t.DType())
	}
	s := (*C.hl_ffi_array)(a.alloc(unsafe.Sizeof(C.hl_ffi_array{})))
	s.dtype, s.n, s.data = C.int32_t(code), C.size_t(t.NumElements()), a.bytes(t.Bytes())
	return C.HL_FFI_ATTR_ARRAY, unsafe.Pointer(s), nil
}
