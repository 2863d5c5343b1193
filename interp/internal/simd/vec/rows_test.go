package vec

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// TestRows: rows that one loop combines have the bits of rows one after another, also if a row occurs twice.
func TestRows(t *testing.T) {
	rows[float32](t, Add32Loop)
	rows[float64](t, Add64Loop)
	rows[int32](t, AddI32Loop)
	rows[int64](t, AddI64Loop)
	rows[uint16](t, AddBF16Loop)
}

func rows[T comparable](t *testing.T, l *Loop) {
	rng := rand.New(rand.NewPCG(5, 13))
	for _, n := range []int{1, 7, 16, 37, 64} {
		for _, vector := range append(vectorSizes(), 0) {
			code := rowsOf(l.name, vector)
			if vector > 0 && code == nil {
				t.Fatalf("%s has no code for vectors of %d bytes", l.name, vector)
			}
			b := operand(rng, 200*n, l.sizes[0], l.width)
			x := unsafe.Slice((*T)(unsafe.Pointer(&b[0])), 200*n)
			got := slices.Clone(x[:10*n])
			want := slices.Clone(got)
			var places []int
			for i := range 100 {
				places = append(places, i*i%7*n, i*n)
				for k := range n {
					o := want[i*i%7*n+k:]
					l.twin(at(o), at(o), at(x[i*n+k:]), nil, 1)
				}
			}
			rowsWith[T](l, l.rows)(got, x, places, n)
			for i := range got {
				if !sameElement(unsafe.Slice(at(got[i:]), l.width), unsafe.Slice(at(want[i:]), l.width)) && l.width == l.sizes[0] || l.width != l.sizes[0] && got[i] != want[i] {
					t.Fatalf("%s of rows of %d, vectors of %d bytes: element %d is %v, not %v", l.name, n, vector, i, got[i], want[i])
				}
			}
		}
	}
}

// TestGatherElements: indices below 0 and above the limit are clamped.
func TestGatherElements(t *testing.T) {
	gathered[uint16](t)
	gathered[uint32](t)
	gathered[uint64](t)
	gathered[uint8](t)
}

func gathered[T uint8 | uint16 | uint32 | uint64](t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 14))
	for _, stride := range []int{1, 3} {
		for _, n := range []int{1, 8, 100, 1003} {
			for offset := range 2 {
				x := make([]T, offset+97*stride)[offset:]
				for i := range x {
					x[i] = T(rng.Uint64())
				}
				index, o := make([]int32, n), make([]T, n)
				for i := range index {
					index[i] = int32(rng.IntN(120) - 10)
					if i%50 == 7 {
						index[i] = int32(rng.Uint32())
					}
				}
				GatherElements(o, x, index, 96, stride)
				for i, v := range o {
					if want := x[max(0, min(int(index[i]), 96))*stride]; v != want {
						t.Fatalf("%d elements of %d bytes: element %d is %d, not %d", n, unsafe.Sizeof(v), i, v, want)
					}
				}
			}
		}
	}
}

// TestFill: fills whole vectors, and nothing after them.
func TestFill(t *testing.T) {
	for _, n := range []int{0, 63, 64, 200, 1024} {
		b := make([]byte, n+8)
		k := Fill(b[:n], 0x0807060504030201)
		for i, v := range b {
			if want := byte(i%8 + 1); i < k && v != want || i >= k && v != 0 {
				t.Fatalf("%d bytes: byte %d is %d", n, i, v)
			}
		}
		if k > n || Bytes() > 0 && k < n-63 {
			t.Errorf("%d of %d bytes", k, n)
		}
	}
}

// TestEveryOther compares with single elements, and reads nothing beyond the last one.
func TestEveryOther(t *testing.T) {
	everyOther[uint8](t)
	everyOther[uint16](t)
	everyOther[uint32](t)
	everyOther[uint64](t)
}

func everyOther[T uint8 | uint16 | uint32 | uint64](t *testing.T) {
	for n := range 70 {
		src, dst := make([]T, max(0, 2*n-1)), make([]T, n)
		for i := range src {
			src[i] = T(i*0x9e3779b9 + 1)
		}
		k := EveryOther(dst, src)
		if k > n {
			t.Fatalf("%d of %d", k, n)
		}
		for i, v := range dst {
			if i < k && v != src[2*i] || i >= k && v != 0 {
				t.Fatalf("%d elements: element %d is %d", n, i, v)
			}
		}
	}
}
