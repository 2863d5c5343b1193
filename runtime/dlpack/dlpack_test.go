//go:build cgo

package dlpack

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

func values(d tensor.DType, shape tensor.Shape) *tensor.Tensor {
	t := tensor.New(d, shape)
	for i := range t.NumElements() {
		t.SetFloat(i, []float64{1, 0, 0.5, 1, 0, 2}[i%6])
	}
	return t
}

// at reads from C's memory.
func at[T any](p unsafe.Pointer, offset uintptr) T { return *(*T)(unsafe.Add(p, offset)) }

// TestLayout reads the structs at the offsets that DLPack's header gives them on a 64-bit machine.
func TestLayout(t *testing.T) {
	v := values(tensor.BF16, tensor.Shape{2, 0, 3})
	w := values(tensor.F32, tensor.Shape{2, 3, 4})
	for _, x := range []*tensor.Tensor{v, w} {
		for _, opts := range []Options{{}, {Versioned: true}, {Versioned: true, Writable: true}} {
			m, err := Export(x, opts)
			if err != nil {
				t.Fatal(err)
			}
			p := m.Pointer()
			tensorAt := uintptr(0)
			if opts.Versioned {
				tensorAt = 32
				flags := at[uint64](p, 24)
				if at[uint32](p, 0) != 1 || at[uint32](p, 4) != 1 || flags&1 != 0 == opts.Writable || at[uintptr](p, 16) == 0 {
					t.Errorf("version %d.%d, flags %#x", at[uint32](p, 0), at[uint32](p, 4), flags)
				}
			} else if at[uintptr](p, 56) == 0 {
				t.Error("no deleter")
			}
			q := unsafe.Add(p, tensorAt)
			data := at[unsafe.Pointer](q, 0)
			if len(x.Peek()) > 0 && data != unsafe.Pointer(&x.Peek()[0]) || len(x.Peek()) == 0 && data != nil {
				t.Errorf("data is at %p", data)
			}
			if at[int32](q, 8) != 1 || at[int32](q, 12) != 0 || at[int32](q, 16) != 3 || at[uint64](q, 40) != 0 || at[uint16](q, 22) != 1 {
				t.Errorf("device %d:%d, rank %d, offset %d", at[int32](q, 8), at[int32](q, 12), at[int32](q, 16), at[uint64](q, 40))
			}
			shape, strides := at[*[3]int64](q, 24), at[*[3]int64](q, 32)
			if got := fmt.Sprint(*shape); got != fmt.Sprint([]int64(x.Shape())) {
				t.Errorf("shape is %s", got)
			}
			if x == w && *strides != [3]int64{12, 4, 1} {
				t.Errorf("strides are %v", *strides)
			}
			consume(t, p, opts.Versioned)
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestTypes(t *testing.T) {
	want := map[tensor.DType]string{tensor.I1: "6 8", tensor.I4: "0 4", tensor.UI2: "1 2", tensor.I64: "0 64", tensor.UI8: "1 8", tensor.F16: "2 16", tensor.BF16: "4 16",
		tensor.F64: "2 64", tensor.Complex64: "5 64", tensor.Complex128: "5 128", tensor.F8E5M2: "12 8", tensor.F8E4M3FN: "10 8", tensor.F4E2M1FN: "17 4"}
	for d := tensor.I1; d <= tensor.Index; d++ {
		for _, versioned := range []bool{false, true} {
			m, err := Export(values(d, tensor.Shape{3}), Options{Versioned: versioned})
			var refused *TypeError
			if d == tensor.Index || d.Bits() < 8 && d != tensor.I1 && !versioned {
				if !errors.As(err, &refused) {
					t.Errorf("%s: error is %v, expected a TypeError", d, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", d, err)
				continue
			}
			p := m.ptr
			if versioned {
				if padded := at[uint64](p, 24)&4 != 0; padded != (d.Bits() < 8 && d != tensor.I1) {
					t.Errorf("%s: padded is %t", d, padded)
				}
				p = unsafe.Add(p, 32)
			}
			if got := fmt.Sprint(at[uint8](p, 20), at[uint8](p, 21)); want[d] != "" && got != want[d] {
				t.Errorf("%s has code and bits %s, expected %s", d, got, want[d])
			}
			if err := errors.Join(m.Close(), m.Close()); err != nil { // no consumer has the pointer
				t.Error(err)
			}
		}
	}
}

// TestCloseReportsHeldTensor: Close finds a consumer that keeps the tensor, and the consumer can release it later.
func TestCloseReportsHeldTensor(t *testing.T) {
	m, err := Export(values(tensor.F32, tensor.Shape{3}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := m.Pointer()
	if err := m.Close(); !errors.Is(err, ErrHeld) {
		t.Errorf("error is %v, expected ErrHeld", err)
	}
	consume(t, p, false)
}

// TestExportPointer: a device pointer is exported with its device, and memory that only the backend reaches is not.
func TestExportPointer(t *testing.T) {
	x := values(tensor.I4, tensor.Shape{2, 3})
	c := &runtime.Call{Ordinal: 5}
	p := runtime.DevicePointer{Address: 0x1000, Size: 3, Memory: runtime.CUDAMemory}
	m, err := ExportPointer(c, p, x, Options{Versioned: true})
	if err != nil {
		t.Fatal(err)
	}
	tensorAt := unsafe.Add(m.ptr, 32)
	if got := fmt.Sprint(at[uintptr](tensorAt, 0), at[int32](tensorAt, 8), at[int32](tensorAt, 12), at[uint64](m.ptr, 24)); got != "4096 2 5 1" {
		t.Errorf("address, kind and number of the device, and flags are %s, expected 4096 2 5 1", got)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	p.Memory = runtime.FarMemory
	if _, err := ExportPointer(c, p, x, Options{}); err == nil {
		t.Error("memory that only the backend reaches was exported")
	}
}

// consume releases a tensor as a consumer does.
func consume(t *testing.T, p unsafe.Pointer, versioned bool) {
	t.Helper()
	m, err := Import(p, versioned)
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
	m.Close()
}

// TestImportSharesExportedMemory imports an exported tensor: both have the same memory.
func TestImportSharesExportedMemory(t *testing.T) {
	for d := tensor.I1; d < tensor.Index; d++ {
		for _, shape := range []tensor.Shape{{}, {2, 3}, {0, 4}, {1, 5, 1}} {
			for _, versioned := range []bool{false, true} {
				x := values(d, shape)
				m, err := Export(x, Options{Versioned: versioned, Writable: true})
				if err != nil {
					continue // TestTypes lists them
				}
				in, err := Import(m.Pointer(), versioned)
				if err != nil {
					t.Errorf("%s%v: %v", d, shape, err)
					continue
				}
				y := in.Tensor
				if y.DType() != d || !y.Shape().Equal(shape) || len(y.Peek()) != len(x.Peek()) || len(y.Peek()) > 0 && &y.Peek()[0] != &x.Peek()[0] {
					t.Errorf("%s%v came back as %s%v", d, shape, y.DType(), y.Shape())
				}
				in.Close()
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// TestImportRefuses: Import refuses tensors that it cannot share.
func TestImportRefuses(t *testing.T) {
	set := func(p unsafe.Pointer, offset uintptr, v int64) { *(*int64)(unsafe.Add(p, offset)) = v }
	for _, c := range []struct {
		change func(p unsafe.Pointer)
		want   string
	}{
		{func(p unsafe.Pointer) { *(*int32)(unsafe.Add(p, 8)) = 2 }, "device of type 2"},
		{func(p unsafe.Pointer) { *(*uint16)(unsafe.Add(p, 22)) = 4 }, "4 lanes"},
		{func(p unsafe.Pointer) { *(*uint8)(unsafe.Add(p, 20)) = 99 }, "code 99"},
		{func(p unsafe.Pointer) { *(*int32)(unsafe.Add(p, 16)) = -1 }, "no shape"},
		{func(p unsafe.Pointer) { at[*[2]int64](p, 32)[0] = 7 }, "not row-major"},
		{func(p unsafe.Pointer) { at[*[2]int64](p, 24)[0] = -7 }, "has the shape [-7 3]"},
		{func(p unsafe.Pointer) { set(p, 0, 0) }, "no memory"},
	} {
		m, err := Export(values(tensor.F32, tensor.Shape{2, 3}), Options{})
		if err != nil {
			t.Fatal(err)
		}
		c.change(m.ptr)
		if _, err := Import(m.ptr, false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, expected %q", err, c.want)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestNumpy passes memory to numpy by this package's structs, in a Python process that loads the C part of the package.
func TestNumpy(t *testing.T) {
	peer.Each(t, label.Part, checkNumpy)
}

func checkNumpy(t *testing.T, p *peer.Interpreter) {
	python := p
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("skip: no C compiler")
	}
	library := filepath.Join(t.TempDir(), "libdlpack.so")
	if out, err := peer.Command(cc, "-shared", "-fPIC", "-O1", "-o", library, "dlpack.c").CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	type request struct {
		Code, Bits int
		Shape      []int64
		Data       []byte
		Flags      int
		Versioned  int
	}
	var list []request
	var want strings.Builder
	names := map[tensor.DType]string{tensor.I1: "bool", tensor.I8: "int8", tensor.I32: "int32", tensor.UI64: "uint64", tensor.F16: "float16", tensor.F32: "float32",
		tensor.F64: "float64", tensor.Complex64: "complex64", tensor.Complex128: "complex128"}
	for d := tensor.I1; d < tensor.Index; d++ {
		if names[d] == "" {
			continue // numpy knows no others
		}
		for _, shape := range []tensor.Shape{{}, {2, 3}, {0, 2}} {
			for _, opts := range []Options{{}, {Versioned: true}, {Versioned: true, Writable: true}} {
				x := values(d, shape)
				code, bits, err := dataType(d, opts.Versioned)
				if err != nil {
					t.Fatal(err)
				}
				r := request{int(code), int(bits), append([]int64{}, shape...), x.Peek(), 1, 0}
				if opts.Versioned {
					r.Versioned = 1
				}
				if opts.Writable {
					r.Flags = 0
				}
				list = append(list, r)
				fmt.Fprintf(&want, "%s %v %x writable=%t 1\n", names[d], []int64(shape), x.Peek(), opts.Writable || len(x.Peek()) == 0)
			}
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	out := python.Run(t, `
import sys, json, base64, ctypes, numpy as np
lib = ctypes.CDLL(sys.argv[1])
lib.hl_dlpack_new.restype = ctypes.c_void_p
lib.hl_dlpack_new.argtypes = [ctypes.c_int, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint8, ctypes.c_uint8, ctypes.c_void_p, ctypes.c_int32, ctypes.c_uint64]
lib.hl_dlpack_drop.argtypes = [ctypes.c_void_p, ctypes.c_int]
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

class Exported:
    def __init__(self, pointer, versioned): self.pointer, self.versioned = pointer, versioned
    def __dlpack_device__(self): return (1, 0)
    def __dlpack__(self, **kwargs):
        return new_capsule(self.pointer, b"dltensor_versioned" if self.versioned else b"dltensor", None)

for r in json.load(sys.stdin):
    data = base64.b64decode(r["Data"] or "")
    memory = ctypes.create_string_buffer(data, max(len(data), 1))
    shape = (ctypes.c_int64 * max(len(r["Shape"]), 1))(*r["Shape"])
    p = lib.hl_dlpack_new(r["Versioned"], 1, ctypes.addressof(memory) if data else None, r["Code"], r["Bits"], shape, len(r["Shape"]), r["Flags"])
    a = np.from_dlpack(Exported(p, r["Versioned"]))
    assert not data or a.ctypes.data == ctypes.addressof(memory)
    line = f"{a.dtype} [{' '.join(map(str, a.shape))}] {a.tobytes().hex()} writable={str(a.flags.writeable).lower()}"
    del a  # numpy calls the deleter
    print(line, lib.hl_dlpack_drop(p, r["Versioned"]))
`, text, library)
	if string(out) != want.String() {
		t.Errorf("numpy sees\n%s\nexpected\n%s", out, want.String())
	}
}
