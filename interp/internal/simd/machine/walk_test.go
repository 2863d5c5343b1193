package machine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hlocb/hlocb/interp/internal/simd/expr"
)

// next returns the length of the instruction at the begin of code, of those that the encoder writes without AVX-512.
func next(code []byte) (int, error) {
	operands := func(at int) int { // the bytes of ModRM, SIB and displacement
		switch mod, rm := code[at]>>6, code[at]&7; {
		case mod == 3:
			return 1
		case mod == 0 && rm == 5:
			return 5
		case mod == 2 && rm == 4:
			return 6
		}
		return -1 << 20 // the encoder writes no other form
	}
	n := -1
	switch b := code[0]; {
	case b == 0xC3: // ret
		return 1, nil
	case b == 0xC5 && code[1] == 0xF8 && code[2] == 0x77: // vzeroupper
		return 3, nil
	case b == 0xC4:
		table, op := code[1]&31, code[3]
		n = 4 + operands(4)
		if table == 3 || table == 1 && (op == 0xC2 || op == 0xC6 || op >= 0x70 && op <= 0x73) {
			n++
		}
	case b == 0xBA || b == 0xE9: // mov edx, jmp
		return 5, nil
	case b == 0xF6: // test dl
		return 3, nil
	case b == 0x0F && code[1]&0xF0 == 0x80: // a conditional jump
		return 6, nil
	case b == 0x31: // xor edx, edx
		return 2, nil
	case b&0xF8 == 0x48: // with a REX prefix
		switch code[1] {
		case 0x8B, 0x89, 0x31, 0x39, 0x01, 0xF7:
			n = 2 + operands(2)
		case 0x81:
			n = 6 + operands(2)
		case 0x99:
			n = 2
		case 0x0F:
			n = 3 + operands(3)
		}
	}
	if n < 0 {
		return 0, fmt.Errorf("% x is not an instruction of AVX2", code[:min(len(code), 16)])
	}
	return n, nil
}

// walk checks the instructions of code, up to the last return.
func walk(code []byte) error {
	for at := 0; code[at] != 0xC3; {
		n, err := next(code[at:])
		if err != nil {
			return fmt.Errorf("at %d: %w", at, err)
		}
		at += n
	}
	return nil
}

// TestNarrowCode: code for vectors of 32 bytes, and of loops on single values, has no instruction of AVX-512.
func TestNarrowCode(t *testing.T) {
	rng := rand.New(rand.NewPCG(47, 4))
	for i := range 400 {
		code, err := encode(expr.Random(rng, []int{4, 8}[i%2], 1+rng.IntN(60)), 32)
		if err != nil {
			continue
		}
		if err := walk(code); err != nil {
			t.Fatalf("program %d: %v", i, err)
		}
	}
	for _, f := range expr.Functions() {
		code, err := encode(f.Program(), 32)
		if err == nil {
			err = walk(code)
		}
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		if f.Width != 8 || f.Format != "f64" || f.Formats[0] != "f64" {
			continue
		}
		l := expr.NewLoop(3, 7)
		var x []*expr.Node
		for range f.Formats {
			x = append(x, l.Convert("f32", "f64", l.Load(6, "f32", l.Register(0, "i32"), 5)))
		}
		l.Unless(l.Below(x[0], 1e3), 1)
		l.Store(6, "f32", l.Register(0, "i32"), 1, l.Convert("f64", "f32", f.Apply(l.On(8), x...)))
		q, r := l.Divide(l.Register(1, "i64"), l.Product(l.Register(2, "i64"), l.Register(1, "i64")), len(f.Name)%2 == 0)
		l.Set(1, "i64", q)
		l.Set(2, "i64", r)
		if code, err = encodeLoop(l); err == nil {
			err = walk(code)
		}
		if err != nil {
			t.Errorf("a loop of %s: %v", f.Name, err)
		}
	}
	wide, err := encode(expr.Random(rng, 4, 20), 64)
	if err != nil {
		t.Fatal(err)
	}
	if walk(wide) == nil {
		t.Error("code of AVX-512 passes the check")
	}
}
