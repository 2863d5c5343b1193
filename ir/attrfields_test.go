package ir_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// manyFields has more fields than a machine word has bits.
type manyFields struct {
	F0  int64 `attr:"f0"`
	F1  int64 `attr:"f1"`
	F2  int64 `attr:"f2"`
	F3  int64 `attr:"f3"`
	F4  int64 `attr:"f4"`
	F5  int64 `attr:"f5"`
	F6  int64 `attr:"f6"`
	F7  int64 `attr:"f7"`
	F8  int64 `attr:"f8"`
	F9  int64 `attr:"f9"`
	F10 int64 `attr:"f10"`
	F11 int64 `attr:"f11"`
	F12 int64 `attr:"f12"`
	F13 int64 `attr:"f13"`
	F14 int64 `attr:"f14"`
	F15 int64 `attr:"f15"`
	F16 int64 `attr:"f16"`
	F17 int64 `attr:"f17"`
	F18 int64 `attr:"f18"`
	F19 int64 `attr:"f19"`
	F20 int64 `attr:"f20"`
	F21 int64 `attr:"f21"`
	F22 int64 `attr:"f22"`
	F23 int64 `attr:"f23"`
	F24 int64 `attr:"f24"`
	F25 int64 `attr:"f25"`
	F26 int64 `attr:"f26"`
	F27 int64 `attr:"f27"`
	F28 int64 `attr:"f28"`
	F29 int64 `attr:"f29"`
	F30 int64 `attr:"f30"`
	F31 int64 `attr:"f31"`
	F32 int64 `attr:"f32"`
	F33 int64 `attr:"f33"`
	F34 int64 `attr:"f34"`
	F35 int64 `attr:"f35"`
	F36 int64 `attr:"f36"`
	F37 int64 `attr:"f37"`
	F38 int64 `attr:"f38"`
	F39 int64 `attr:"f39"`
	F40 int64 `attr:"f40"`
	F41 int64 `attr:"f41"`
	F42 int64 `attr:"f42"`
	F43 int64 `attr:"f43"`
	F44 int64 `attr:"f44"`
	F45 int64 `attr:"f45"`
	F46 int64 `attr:"f46"`
	F47 int64 `attr:"f47"`
	F48 int64 `attr:"f48"`
	F49 int64 `attr:"f49"`
	F50 int64 `attr:"f50"`
	F51 int64 `attr:"f51"`
	F52 int64 `attr:"f52"`
	F53 int64 `attr:"f53"`
	F54 int64 `attr:"f54"`
	F55 int64 `attr:"f55"`
	F56 int64 `attr:"f56"`
	F57 int64 `attr:"f57"`
	F58 int64 `attr:"f58"`
	F59 int64 `attr:"f59"`
	F60 int64 `attr:"f60"`
	F61 int64 `attr:"f61"`
	F62 int64 `attr:"f62"`
	F63 int64 `attr:"f63"`
	F64 int64 `attr:"f64"`
	F65 int64 `attr:"f65"`
}

// TestManyFields: an attribute of many parameters is read and printed, and a repeated or missing one is an error.
func TestManyFields(t *testing.T) {
	def := ir.NewAttrDef[manyFields](ir.AttrDef{Dialect: "many", Name: "attr"})
	registry, err := ir.NewRegistry(&ir.Dialect{Name: "many", Attrs: []*ir.AttrDef{def}})
	if err != nil {
		t.Fatal(err)
	}
	params := make([]string, len(def.Fields))
	for i := range params {
		params[i] = fmt.Sprintf("f%d = %d", i, i)
	}
	text := "#many.attr<" + strings.Join(params, ", ") + ">"
	read := func(text string) (ir.Attr, error) {
		return parse.Attr(diag.NewSource("a", []byte(text)), ir.NewContext(registry))
	}
	if a, err := read(text); err != nil || a.String() != text {
		t.Errorf("got %v, %v", a, err)
	}
	for _, c := range [][2]string{
		{strings.Replace(text, "f65 = 65", "f64 = 65", 1), "duplicate"}, {strings.Replace(text, ", f65 = 65", "", 1), "missing"},
		{strings.Replace(text, ", f1 = 1", "", 1), "missing"},
	} {
		if _, err := read(c[0]); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: got error %v", c[0], err)
		}
	}
}
