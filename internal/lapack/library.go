//go:build !static && (linux || darwin) && (amd64 || arm64)

package lapack

import (
	"fmt"
	goruntime "runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// sharedLibrary is LAPACK in a shared library.
type sharedLibrary struct {
	path    string
	handle  uintptr
	symbols sync.Map // of name to uintptr
}

// Open opens the OpenBLAS of the Python package scipy-openblas32, with or without cgo. The library stays loaded.
func Open(path string) (*Library, error) {
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	return &Library{&sharedLibrary{path: path, handle: h}}, nil
}

// symbol returns the address of a subroutine.
func (l *sharedLibrary) symbol(name string) (uintptr, error) {
	if p, ok := l.symbols.Load(name); ok {
		return p.(uintptr), nil
	}
	p, err := purego.Dlsym(l.handle, "scipy_"+name+"_")
	if err != nil {
		return 0, fmt.Errorf("%s has no LAPACK subroutine %s", l.path, name)
	}
	l.symbols.Store(name, p)
	return p, nil
}

func (*sharedLibrary) has(target) bool { return true }

// call calls a Fortran subroutine. Every argument is an address. The lengths of the strings, all 1, follow.
func (l *sharedLibrary) call(name string, args ...any) error {
	f, err := l.symbol(name)
	if err != nil {
		return err
	}
	var pin goruntime.Pinner
	defer pin.Unpin()
	list := make([]uintptr, 0, 2*len(args))
	strings := 0
	for i, a := range args {
		var p unsafe.Pointer
		switch a := a.(type) {
		case byte:
			strings++
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
		list = append(list, uintptr(p))
	}
	for range strings {
		list = append(list, 1)
	}
	purego.SyscallN(f, list...)
	return nil
}

// address returns the address of a list, even of an empty list: some subroutines refuse a null pointer.
func address[T any](list []T) unsafe.Pointer {
	if len(list) == 0 {
		return unsafe.Pointer(&make([]T, 1)[0])
	}
	return unsafe.Pointer(&list[0])
}
