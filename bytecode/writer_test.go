package bytecode_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// shiftedView presents ops of the dialect foo as ops of the dialect bar and values of type i8 as values of type i16. It
// refuses values of type i7 and ops foo.bad.
type shiftedView struct{ m *ir.Module }

func (v shiftedView) Op(op *ir.Op) (*ir.Def, ir.AttrList, error) {
	name, ok := strings.CutPrefix(op.Name(), "foo.")
	switch {
	case name == "bad":
		return nil, nil, bytecode.ErrRefused
	case ok:
		return v.m.Def("bar." + name), op.Attrs(), nil
	}
	return op.Def(), op.Attrs(), nil
}

func (v shiftedView) Type(op *ir.Op, t ir.Type) (ir.Type, error) {
	switch t.String() {
	case "i7":
		return nil, v.m.Errorf(op, "no value has the type i7")
	case "i8":
		return ir.Int(16), nil
	}
	return t, nil
}

// TestView writes a module as a view presents it: other ops and types of values, the same attributes.
func TestView(t *testing.T) {
	for v := range 7 {
		write := func(text string) ([]byte, error) {
			m := parsed(t, text)
			return bytecode.Append(nil, m, bytecode.Options{Version: v, Versioned: true, View: shiftedView{m}})
		}
		data, err := write(`%0, %1 = "foo.a"() ({ ^bb0(%x: i8, %y: i8, %z: i32): "foo.b"() : () -> () }) {t = i8} : () -> (i8, i32) "baz.c"(%0) : (i8) -> ()`)
		if err != nil {
			t.Fatal(err)
		}
		m, err := bytecode.Read(diag.NewSource("m.bc", data), ir.NewContext(registry))
		if err != nil {
			t.Fatal(err)
		}
		want := print.String(parsed(t, `%0, %1 = "bar.a"() ({ ^bb0(%x: i16, %y: i16, %z: i32): "bar.b"() : () -> () }) {t = i8} : () -> (i16, i32) "baz.c"(%0) : (i16) -> ()`), print.Options{})
		if got := print.String(m, print.Options{}); got != want {
			t.Errorf("version %d: got\n%s\nwant\n%s", v, got, want)
		}
		if _, err := write(`"foo.a"() ({ ^bb0(%x: i7): }) : () -> ()`); err == nil || !strings.HasPrefix(err.Error(), "m.mlir:1:1: error: no value has the type i7") {
			t.Errorf("version %d: a refused type: %v", v, err)
		}
		if _, err := write(`"foo.a"() ({ "foo.bad"() : () -> () }) : () -> ()`); err != bytecode.ErrRefused {
			t.Errorf("version %d: a refused op: %v", v, err)
		}
	}
}

// TestHashOfPlaces: places that differ in one number or in the length of the file's name have different hashes, and
// places in consecutive lines are neighbors in a table.
func TestHashOfPlaces(t *testing.T) {
	var table ir.LocTable
	var places []*ir.Loc
	for _, file := range []string{"f", "ff", "a/file"} {
		for line := range uint32(12) {
			for col := range uint32(12) {
				places = append(places, table.File(file, line, col, 0, 0))
				for end := range uint32(3) {
					for endCol := range uint32(12) {
						if end > 0 || endCol > col {
							places = append(places, table.File(file, line, col, line+end, endCol))
						}
					}
				}
			}
		}
	}
	seen := map[uint64]*ir.Loc{}
	for _, l := range places {
		h, at := bytecode.HashLoc(l)
		if old := seen[h>>32]; old != nil {
			t.Fatalf("%v and %v have the same hash", old, l)
		}
		seen[h>>32] = l
		if !bytecode.SamePlace(l, l) {
			t.Errorf("%v is another place than itself", l)
		}
		line, col := l.Start()
		endLine, endCol := l.End()
		if endLine > 0 {
			endLine++
		}
		if _, next := bytecode.HashLoc(table.File(l.Name(), line+1, col, endLine, endCol)); next != at+1 && line > 0 {
			t.Fatalf("%v is at %d, and the same place in the next line at %d", l, at, next)
		}
	}
	for i, l := range places[:200] {
		for _, o := range append(places[:i:i], places[i+1:]...) {
			if bytecode.SamePlace(l, o) {
				t.Fatalf("%v and %v are the same place", l, o)
			}
		}
	}
}

// TestResourceForms writes resources. A wrong alignment counts as 1. A text that is too short for an alignment is data.
func TestResourceForms(t *testing.T) {
	text := func(x string) string {
		return `"foo.op"() {a = dense_resource<x> : tensor<1xi8>} : () -> ()` + "\n{-# dialect_resources: { builtin: { x: " + x + " } } #-}"
	}
	aligned := written(t, parsed(t, text(`"0x01000000AB"`)), 6)
	for _, x := range []string{`"0x00000000AB"`, `"0x03000000AB"`, `"0xFFFFFFFFAB"`, `"0xAB"`} {
		data := written(t, parsed(t, text(x)), 6)
		if string(data) != string(aligned) {
			t.Errorf("%s gives %q, want %q", x, data, aligned)
		}
	}
	for _, align := range []int{1, 2, 8, 64} {
		x := fmt.Sprintf("\"0x%02X000000AB\"", align)
		sameAgain(t, text(x))
	}
}
