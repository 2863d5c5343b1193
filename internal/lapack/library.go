//go:build cgo

package lapack

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

typedef uintptr_t u;

// hl_call calls a Fortran subroutine: every argument is an address. The lengths of up to four strings follow, all 1.
static void hl_call(void *f, const u *a, int n) {
  switch (n) {
#define A(i) a[i]
#define A5 A(0), A(1), A(2), A(3), A(4)
#define A10 A5, A(5), A(6), A(7), A(8), A(9)
#define A15 A10, A(10), A(11), A(12), A(13), A(14)
#define P5 u, u, u, u, u
#define L4 u, u, u, u
#define C(n, types, ...) case n: ((void (*)(types, L4))f)(__VA_ARGS__, 1, 1, 1, 1); return
#define T(...) __VA_ARGS__
    C(5, T(P5), A5);
    C(6, T(P5, u), A5, A(5));
    C(8, T(P5, u, u, u), A5, A(5), A(6), A(7));
    C(9, T(P5, u, u, u, u), A5, A(5), A(6), A(7), A(8));
    C(10, T(P5, P5), A10);
    C(11, T(P5, P5, u), A10, A(10));
    C(13, T(P5, P5, u, u, u), A10, A(10), A(11), A(12));
    C(14, T(P5, P5, u, u, u, u), A10, A(10), A(11), A(12), A(13));
    C(15, T(P5, P5, P5), A15);
  }
}
*/
import "C"

import (
	"fmt"
	goruntime "runtime"
	"sync"
	"unsafe"
)

// sharedLibrary is LAPACK in a shared library.
type sharedLibrary struct {
	path    string
	handle  unsafe.Pointer
	symbols sync.Map // of name to unsafe.Pointer
}

// Open opens OpenBLAS as the Python package scipy-openblas32 carries it. The library stays loaded.
func Open(path string) (*Library, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	h := C.dlopen(name, C.RTLD_NOW|C.RTLD_LOCAL)
	if h == nil {
		return nil, fmt.Errorf("%s: %s", path, C.GoString(C.dlerror()))
	}
	return &Library{&sharedLibrary{path: path, handle: h}}, nil
}

// symbol returns a subroutine.
func (l *sharedLibrary) symbol(name string) (unsafe.Pointer, error) {
	if p, ok := l.symbols.Load(name); ok {
		return p.(unsafe.Pointer), nil
	}
	c := C.CString("scipy_" + name + "_")
	defer C.free(unsafe.Pointer(c))
	p := C.dlsym(l.handle, c)
	if p == nil {
		return nil, fmt.Errorf("%s has no LAPACK subroutine %s", l.path, name)
	}
	l.symbols.Store(name, p)
	return p, nil
}

func (*sharedLibrary) has(target) bool { return true }

func (l *sharedLibrary) call(name string, args ...any) error {
	f, err := l.symbol(name)
	if err != nil {
		return err
	}
	var pin goruntime.Pinner
	defer pin.Unpin()
	list := make([]C.u, len(args))
	for i, a := range args {
		var p unsafe.Pointer
		switch a := a.(type) {
		case byte:
			p = unsafe.Pointer(&[]byte{a}[0])
		case int:
			p = unsafe.Pointer(&[]int32{int32(a)}[0])
		case *int32:
			p = unsafe.Pointer(a)
		case []byte:
			p = address(a)
		case []int32:
			p = address(a)
		default:
			return fmt.Errorf("argument %d of %s is a %T", i, name, a)
		}
		if p != nil {
			pin.Pin(p)
		}
		list[i] = C.u(uintptr(p))
	}
	C.hl_call(f, &list[0], C.int(len(list)))
	return nil
}

// address returns the address of a list, also of an empty one: some subroutines refuse a null pointer.
func address[T any](list []T) unsafe.Pointer {
	if len(list) == 0 {
		return unsafe.Pointer(&make([]T, 1)[0])
	}
	return unsafe.Pointer(&list[0])
}
