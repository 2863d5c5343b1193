package sharding

import (
	"fmt"
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

// TestReductions: the shards of an unreduced value are reduced element by element, whatever their type.
func TestReductions(t *testing.T) {
	for _, c := range []struct {
		reduction, dtype string
		a, b, want       string
	}{
		{"", "f32", "[1.5, -2.0]", "[1.0, 0x7FC00000]", "[2.5, 0x7FC00000]"},
		{"max", "f32", "[1.5, -2.0]", "[1.0, 0x7FC00000]", "[1.5, 0x7FC00000]"},
		{"min", "bf16", "[1.5, -2.0]", "[1.0, 0.0]", "[1.0, -2.0]"},
		{"", "i8", "[100, -1]", "[100, 2]", "[-56, 1]"},
		{"max", "i8", "[100, -1]", "[-100, 2]", "[100, 2]"},
		{"min", "i8", "[100, -1]", "[-100, 2]", "[-100, -1]"},
		{"max", "ui64", "[18446744073709551615, 0]", "[1, 2]", "[18446744073709551615, 2]"},
		{"", "i1", "[true, true]", "[true, false]", "[true, true]"},
		{"min", "i1", "[true, true]", "[true, false]", "[true, false]"},
	} {
		s, err := ParseShardy(`#sdy.sharding<mesh<["x"=2]>, [{}], unreduced=`+c.reduction+`{"x"}>`, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		read := func(text string) *tensor.Tensor {
			d, _ := tensor.ParseDType(c.dtype)
			v, err := tensor.ParseValue(text, d, tensor.Shape{2})
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		got, err := s.Join([]*tensor.Tensor{read(c.a), read(c.b)}, tensor.Shape{2})
		if err != nil || fmt.Sprint(got) != fmt.Sprint(read(c.want)) {
			t.Errorf("%s of %s %s and %s is %v (%v), expected %s", c.reduction, c.dtype, c.a, c.b, got, err, c.want)
		}
	}
	s, err := ParseShardy(`#sdy.sharding<mesh<["x"=2]>, [{}], unreduced={"x"}>`, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	one := tensor.New(tensor.Complex64, tensor.Shape{1})
	one.SetComplex(0, 1+2i)
	if sum, err := s.Join([]*tensor.Tensor{one, one}, tensor.Shape{1}); err != nil || sum.ComplexAt(0) != 2+4i {
		t.Errorf("1+2i twice is %v (%v)", sum, err)
	}
}
