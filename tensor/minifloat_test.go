package tensor_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/tensor"
)

var mlNames = []struct {
	dtype tensor.DType
	name  string // in ml_dtypes or numpy
}{
	{tensor.F4E2M1FN, "float4_e2m1fn"},
	{tensor.F6E2M3FN, "float6_e2m3fn"},
	{tensor.F6E3M2FN, "float6_e3m2fn"},
	{tensor.F8E3M4, "float8_e3m4"},
	{tensor.F8E4M3, "float8_e4m3"},
	{tensor.F8E4M3FN, "float8_e4m3fn"},
	{tensor.F8E4M3FNUZ, "float8_e4m3fnuz"},
	{tensor.F8E4M3B11FNUZ, "float8_e4m3b11fnuz"},
	{tensor.F8E5M2, "float8_e5m2"},
	{tensor.F8E5M2FNUZ, "float8_e5m2fnuz"},
	{tensor.F8E8M0FNU, "float8_e8m0fnu"},
	{tensor.BF16, "bfloat16"},
	{tensor.F16, "float16"},
}

// peerScript reads values as f64 and answers, per type, the f64 value of every code and then the code of every
// value given, as u16.
const peerScript = `
import sys, numpy as np, ml_dtypes
np.seterr(all="ignore")
names = sys.argv[1].split(",")
v = np.frombuffer(sys.stdin.buffer.read(), "<f8")
for n in names:
    t = np.dtype(getattr(ml_dtypes, n, None) or n)
    u = np.uint8 if t.itemsize == 1 else np.uint16
    codes = np.arange(1 << (8 * t.itemsize)).astype(u)
    sys.stdout.buffer.write(codes.view(t).astype("<f8").tobytes())
    x = v.astype(np.float32) if n == "bfloat16" else v
    sys.stdout.buffer.write(x.astype(t).view(u).astype("<u2").tobytes())
`

// TestMinifloatAgainstPeer compares every code of every small float, and the rounding of every value that lies
// on, between and next to the codes, with ml_dtypes.
func TestMinifloatAgainstPeer(t *testing.T) {
	peer.Each(t, label.Part, checkMinifloatAgainstPeer)
}

func checkMinifloatAgainstPeer(t *testing.T, p *peer.Interpreter) {
	python := p
	var values []float64
	add := func(v float64) { values = append(values, v, -v) }
	for _, m := range mlNames {
		n := 1 << (8 * m.dtype.Size())
		for code := range n {
			v := tensor.DecodeFloat(m.dtype, uint64(code))
			if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
				continue
			}
			add(v)
			next := tensor.DecodeFloat(m.dtype, uint64(code+1)%uint64(n))
			if mid := (v + next) / 2; next > v && !math.IsInf(next, 0) {
				// The middle and its f32 neighbours: bfloat16 is reached through f32 in ml_dtypes.
				add(mid)
				add(float64(math.Nextafter32(float32(mid), 0)))
				add(float64(math.Nextafter32(float32(mid), math.MaxFloat32)))
			}
		}
	}
	for _, v := range []float64{0, math.NaN(), math.Inf(1), 1e30, 1e300, 5e-324, math.MaxFloat64, 448, 464, 464.001, 57344, 61440, 61439, 65504, 65519.99, 65520, 240, 248, 247.9, 30, 31, 6, 7, 7.5, 7.75, 28, 30.1} {
		add(v)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		add(float64(math.Float32frombits(rng.Uint32())))
		add(math.Ldexp(1+rng.Float64(), rng.IntN(60)-30))
	}
	in := new(bytes.Buffer)
	binary.Write(in, binary.LittleEndian, values)
	names := ""
	for i, m := range mlNames {
		if i > 0 {
			names += ","
		}
		names += m.name
	}
	out := python.Run(t, peerScript, in.Bytes(), names)
	for _, m := range mlNames {
		for code := range 1 << (8 * m.dtype.Size()) {
			want := math.Float64frombits(binary.LittleEndian.Uint64(out))
			out = out[8:]
			if code >= 1<<m.dtype.Bits() {
				continue // in ml_dtypes, a byte with bits above the code has no defined value
			}
			got := tensor.DecodeFloat(m.dtype, uint64(code))
			if math.IsNaN(want) != math.IsNaN(got) || !math.IsNaN(want) && math.Float64bits(want) != math.Float64bits(got) {
				t.Fatalf("%s code %#x is %v, ml_dtypes has %v", m.dtype, code, got, want)
			}
		}
		for _, v := range values {
			want := uint64(binary.LittleEndian.Uint16(out))
			out = out[2:]
			x := v
			if m.dtype == tensor.BF16 {
				x = float64(float32(v))
			}
			got := tensor.EncodeFloat(m.dtype, x)
			if math.IsNaN(v) && m.dtype == tensor.F16 && want&0x7C00 == 0x7C00 && want&0x3FF != 0 {
				want = got // numpy keeps the payload of a NaN, here it is the quiet one
			}
			if got != want {
				t.Fatalf("%v as %s is %#x, ml_dtypes has %#x", v, m.dtype, got, want)
			}
		}
	}
	if len(out) != 0 {
		t.Errorf("%d bytes left over from the peer", len(out))
	}
}

// TestHalfFastPaths compares the f32 routes with the general route, which is compared with the peer.
func TestHalfFastPaths(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	check := func(f float32) {
		if got, want := tensor.F16FromFloat32(f), uint16(tensor.EncodeFloat(tensor.F16, float64(f))); got != want {
			t.Fatalf("F16FromFloat32(%v) = %#x, want %#x", f, got, want)
		}
		if got, want := tensor.BF16FromFloat32(f), uint16(tensor.EncodeFloat(tensor.BF16, float64(f))); got != want {
			t.Fatalf("BF16FromFloat32(%v) = %#x, want %#x", f, got, want)
		}
	}
	for code := range 1 << 16 {
		for _, d := range []tensor.DType{tensor.F16, tensor.BF16} {
			f := float32(tensor.DecodeFloat(d, uint64(code)))
			check(f)
			if next := tensor.DecodeFloat(d, uint64(code+1)&0xFFFF); !math.IsNaN(next) && !math.IsInf(next, 0) {
				mid := float32((float64(f) + next) / 2)
				check(mid)
				check(math.Nextafter32(mid, math.MaxFloat32))
				check(math.Nextafter32(mid, -math.MaxFloat32))
			}
		}
	}
	for range 1 << 20 {
		check(math.Float32frombits(rng.Uint32()))
	}
}
