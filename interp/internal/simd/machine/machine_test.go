package machine_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"unsafe"

	"github.com/hlocb/hlocb/interp/internal/simd/expr"
	"github.com/hlocb/hlocb/interp/internal/simd/machine"
	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/tensor"
)

// TestRandomPrograms: machine code computes the same bits as the evaluation of each operation, for random programs of
// both widths and both sets of vectors. HLOCB_LONG=1 tests a million programs.
func TestRandomPrograms(t *testing.T) {
	if vec.Bytes() == 0 {
		t.Skip("the processor has no vectors")
	}
	programs := 1500
	if os.Getenv("HLOCB_LONG") != "" {
		programs = 1000000
	}
	rng := rand.New(rand.NewPCG(47, 3))
	coded, tooLarge := 0, 0
	for i := range programs {
		width := []int{4, 8}[rng.IntN(2)]
		n := 1 + rng.IntN(40)
		if i%10 == 0 {
			n = 200
		}
		p := expr.Random(rng, width, n)
		for _, vector := range []int{32, 64} {
			if vector > vec.Bytes() {
				continue
			}
			code, err := machine.Compile(p, vector)
			if err != nil {
				tooLarge++
				continue
			}
			coded++
			compare(t, rng, p, code, i)
			if t.Failed() {
				return
			}
		}
	}
	if coded < 10*tooLarge {
		t.Errorf("%d programs have code, %d do not", coded, tooLarge)
	}
}

func compare(t *testing.T, rng *rand.Rand, p *expr.Program, code *machine.Code, number int) {
	n := (1 + number%3) * code.Lanes() // one vector, two in an iteration, or both
	var table []unsafe.Pointer
	lanes := make([][]uint64, n)
	for _, o := range p.In {
		size := expr.Size(o.Format)
		b := make([]byte, max(n*size, 64))
		var first uint64
		for i := range len(b) / size {
			v := element(rng, o.Format)
			if o.Same {
				if i == 0 {
					first = v
				}
				v = first
			}
			put(b, i, size, v)
			if i < n {
				lanes[i] = append(lanes[i], widened(o.Format, p.Width, v))
			}
		}
		table = append(table, unsafe.Pointer(&b[0]))
	}
	var results [][]byte
	for _, o := range p.Out {
		b := make([]byte, n*expr.Size(o.Format)+1)
		b[len(b)-1] = 0xA5
		results = append(results, b)
		table = append(table, unsafe.Pointer(&b[0]))
	}
	code.Run(&table[0], n)
	for i := range n {
		for k, want := range p.Evaluate(vec.FMA, lanes[i]...) {
			o := p.Out[k]
			size := expr.Size(o.Format)
			want = narrowed(o.Format, p.Width, want)
			got := get(results[k], i, size)
			if got != want && !bothNaN(o.Format, got, want) {
				t.Errorf("program %d, %d lanes of %d bytes: result %d (%s) of element %d is %#x, not %#x", number, code.Lanes(), p.Width, k, o.Format, i, got, want)
				return
			}
		}
	}
	for k, b := range results {
		if b[len(b)-1] != 0xA5 {
			t.Errorf("program %d writes beyond result %d", number, k)
		}
	}
}

// element returns an element of a format.
func element(rng *rand.Rand, format string) uint64 {
	v := []float64{0, math.Copysign(0, -1), 1, math.Inf(1), math.Inf(-1), math.NaN(), 1e30, 1e-40, rng.NormFloat64(), 100 * rng.NormFloat64(), float64(rng.IntN(20))}[rng.IntN(11)]
	switch format {
	case "f32":
		return uint64(math.Float32bits(float32(v)))
	case "f64":
		return math.Float64bits(v)
	case "bf16":
		return uint64(math.Float32bits(float32(v)) >> 16)
	case "f16":
		return uint64(tensor.F16FromFloat32(float32(v)))
	case "i1":
		return rng.Uint64() & 1
	case "i32":
		return rng.Uint64() >> (32 + rng.IntN(32))
	}
	return rng.Uint64() >> rng.IntN(64)
}

// widened returns the bits of a lane that holds an element.
func widened(format string, width int, v uint64) uint64 {
	switch {
	case format == "bf16":
		return v << 16
	case format == "f16":
		return uint64(math.Float32bits(tensor.F16ToFloat32(uint16(v))))
	case format == "f32" && width == 8:
		return math.Float64bits(float64(math.Float32frombits(uint32(v))))
	case format == "i32" && width == 8:
		return uint64(int64(int32(v)))
	}
	return v
}

// narrowed returns the element of a lane.
func narrowed(format string, width int, v uint64) uint64 {
	switch {
	case format == "f16":
		return uint64(tensor.F16FromFloat32(math.Float32frombits(uint32(v))))
	case format == "f32" && width == 8:
		return uint64(math.Float32bits(float32(math.Float64frombits(v))))
	case format == "i32":
		return uint64(uint32(v))
	}
	return v
}

func bothNaN(format string, a, b uint64) bool {
	switch format {
	case "f32":
		x, y := math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b))
		return x != x && y != y
	case "f64":
		x, y := math.Float64frombits(a), math.Float64frombits(b)
		return x != x && y != y
	}
	return false
}

func put(b []byte, i, size int, v uint64) {
	var w [8]byte
	binary.LittleEndian.PutUint64(w[:], v)
	copy(b[i*size:(i+1)*size], w[:])
}

func get(b []byte, i, size int) uint64 {
	var w [8]byte
	copy(w[:], b[i*size:(i+1)*size])
	return binary.LittleEndian.Uint64(w[:])
}

func BenchmarkCompile(b *testing.B) {
	if vec.Bytes() == 0 {
		b.Skip("the processor has no vectors")
	}
	rng := rand.New(rand.NewPCG(47, 3))
	p := expr.Random(rng, 4, 60)
	for b.Loop() {
		if _, err := machine.Compile(p, vec.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}
