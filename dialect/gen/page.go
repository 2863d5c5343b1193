package gen

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// Examples returns the text of the first op of each kind in the files, by the name of the op. An example from a file
// whose name starts with the op's dialect replaces others.
func Examples(reg *ir.Registry, files []string) (map[string]string, error) {
	out, fromOwn := map[string]string{}, map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		m, err := parse.Parse(diag.NewSource(filepath.Base(f), text), ir.NewContext(reg), parse.Options{})
		if err != nil {
			return nil, err
		}
		m.Walk(func(op *ir.Op) bool {
			name := op.Name()
			own := strings.HasPrefix(filepath.Base(f), op.Def().Dialect())
			if out[name] == "" || own && !fromOwn[name] {
				out[name], fromOwn[name] = strings.TrimSpace(print.Op(m, op, print.Options{})), own
			}
			return true
		})
	}
	return out, nil
}

// paragraph writes text with lines of at most 120 columns.
func paragraph(w *bytes.Buffer, text string) {
	w.WriteString(command.Wrap(text, 120) + "\n")
}

// item writes an item of a list with lines of at most 120 columns.
func item(w *bytes.Buffer, text string) {
	w.WriteString("- " + strings.ReplaceAll(command.Wrap(text, 118), "\n", "\n  ") + "\n")
}

// Page returns a page of documentation in Markdown: the ops, attributes, enumerations and types of a dialect. examples
// holds the text of an op by its name.
func Page(d *ir.Dialect, o Options, examples map[string]string) []byte {
	var w bytes.Buffer
	fmt.Fprintf(&w, "# The %s dialect\n\n<!-- Generated from the rows of the dialect. DO NOT EDIT. -->\n\n", d.Name)
	intro := o.About
	if n := len(d.Ops); n > 1 {
		intro += fmt.Sprintf(" %d operations.", n)
	}
	paragraph(&w, intro)
	var same []string
	for _, def := range d.Ops {
		if !hasOwnViews(def) && !strings.Contains(def.Name, "async") {
			same = append(same, def.Name)
			continue
		}
		opSection(&w, def, examples[def.Name])
	}
	if len(same) > 0 {
		w.WriteString("\n## As in StableHLO\n\n")
		paragraph(&w, "These operations do the same as StableHLO's operations of the same name. Lists of integers are tensors (`dense<[0, 1]> : tensor<2xi64>`).")
		w.WriteByte('\n')
		for _, name := range same {
			item(&w, "`"+name+"`")
		}
	}
	attrSections(&w, d)
	return w.Bytes()
}

// attrSections describes the dialect's own attributes, enumerations and types. It lists rows that mirror another
// dialect's rows by name.
func attrSections(w *bytes.Buffer, d *ir.Dialect) {
	var same []string
	if len(d.Attrs) > 0 {
		w.WriteString("\n## Attributes\n")
	}
	for _, a := range d.Attrs {
		if a.Base != nil && a.Syntax == a.Base.Syntax {
			same = append(same, "`#"+d.Name+"."+a.Name+"`")
			continue
		}
		open, end := "#"+d.Name+"."+a.Name, ""
		if a.Wrapped {
			open, end = "#"+d.Name+"<"+a.Name, ">"
		}
		fmt.Fprintf(w, "\n### `%s`\n\n", open+end)
		paragraph(w, a.Doc)
		w.WriteByte('\n')
		syntax, note := a.Syntax, ""
		if syntax == "" {
			var fields []string
			for _, f := range a.Fields {
				fields = append(fields, f.Name+" = "+fieldExample(f))
			}
			syntax = "<" + strings.Join(fields, ", ") + ">"
			if a.Partial {
				note = " (any parameter may be missing)"
			}
		}
		paragraph(w, "Syntax: ``"+open+syntax+end+"``"+note)
	}
	if len(d.Enums) > 0 {
		w.WriteString("\n## Enumerations\n\n")
	}
	for _, e := range d.Enums {
		text := "#" + d.Name + "<" + e.Name + " CASE>"
		if e.Angled {
			text = "#" + d.Name + "." + e.Name + "<CASE>"
		}
		item(w, "`"+text+"`: "+strings.TrimSuffix(e.Doc, ".")+": "+caseList(e))
	}
	if len(d.Types) > 0 {
		w.WriteString("\n## Types\n\n")
	}
	for _, t := range d.Types {
		text := fmt.Sprintf("`!%s.%s`: %s", d.Name, t.Name, t.Doc)
		if t.Syntax != "" {
			text += " Parameters: `" + t.Syntax + "`."
		}
		item(w, text)
	}
	if len(same) > 0 {
		w.WriteByte('\n')
		paragraph(w, "These attributes are the same as StableHLO's or CHLO's attributes of the same name: "+strings.Join(same, ", ")+".")
	}
}

// fieldExample returns an example of a parameter's text.
func fieldExample(f ir.Field) string {
	switch f.Type {
	case reflect.TypeFor[int64]():
		return "1"
	case reflect.TypeFor[[]int64]():
		return "[0, 1]"
	case reflect.TypeFor[bool]():
		return "true"
	case reflect.TypeFor[float64]():
		return "0.5"
	case reflect.TypeFor[string]():
		if f.Keyword {
			return "word"
		}
		return `"text"`
	case reflect.TypeFor[ir.Attr]():
		return "attribute"
	}
	return "..." // a Param
}

// caseList returns the cases of an enumeration that have a name.
func caseList(e *ir.EnumDef) string {
	var cases []string
	for _, c := range e.Cases {
		if c != "" {
			cases = append(cases, "`"+c+"`")
		}
	}
	return strings.Join(cases, ", ")
}

// specLink matches the name of a section of the specification in a row's documentation.
var specLink = regexp.MustCompile(`Spec: ([a-z0-9_]+)\.`)

func opSection(w *bytes.Buffer, def *ir.Def, example string) {
	fmt.Fprintf(w, "\n## `%s`\n\n", def.Name)
	paragraph(w, specLink.ReplaceAllString(def.Doc, "[Specification](https://openxla.org/stablehlo/spec#$1)."))
	if example != "" {
		fmt.Fprintf(w, "\n```mlir\n%s\n```\n", example)
	}
	w.WriteByte('\n')
	if syntax := cmp.Or(def.Format, def.Syntax); syntax != "" {
		paragraph(w, "Syntax: ``"+strings.NewReplacer("`` ", "", "` ` ", "", "`", "'").Replace(syntax)+"``")
	} else {
		paragraph(w, "Syntax: the generic form only.")
	}
	args := func(title string, list []ir.Arg) {
		if len(list) == 0 {
			return
		}
		fmt.Fprintf(w, "\n%s:\n\n", title)
		for _, a := range list {
			c := a.Type.Summary
			if c == "" {
				c = "any type"
			}
			switch a.Mult {
			case ir.Optional:
				c = "optional: " + c
			case ir.Variadic:
				c = "any number: " + c
			}
			item(w, "`"+a.Name+"`: "+c)
		}
	}
	args("Operands", def.Operands)
	args("Results", def.Results)
	if len(def.Attrs) > 0 {
		w.WriteString("\nAttributes:\n\n")
		for _, a := range def.Attrs {
			item(w, "`"+a.Name+"`: "+attrText(a))
		}
	}
	if len(def.Regions) > 0 {
		var names []string
		for _, r := range def.Regions {
			n := "`" + r.Name + "`"
			if r.Mult == ir.Variadic {
				n += " (any number)"
			}
			names = append(names, n)
		}
		w.WriteByte('\n')
		paragraph(w, "Regions: "+strings.Join(names, ", ")+".")
	}
	if t := traitText(def); t != "" {
		w.WriteByte('\n')
		paragraph(w, "Traits: "+t+".")
	}
	w.WriteString("\nConstraints:\n\n")
	for _, c := range constraints(def) {
		item(w, c)
	}
}

// constraints lists the rules of an operation besides the types of its operands, results and attributes.
func constraints(def *ir.Def) []string {
	var out []string
	for _, c := range def.Clauses {
		text := c.Text + "."
		if c.No != "" {
			text = "(" + c.No + ") " + text
		} else {
			text = strings.ToUpper(text[:1]) + text[1:]
		}
		if c.Unchecked != "" {
			text += " Not checked, or not in full: " + c.Unchecked + "."
		}
		out = append(out, text)
	}
	for _, t := range traitRules {
		if def.Traits&t.t != 0 && (len(def.Clauses) == 0 || t.always) {
			out = append(out, t.text)
		}
	}
	if def.Infer != nil {
		out = append(out, "The types of the results are compatible with the types inferred from the operands and attributes.")
	}
	if len(out) == 0 {
		out = append(out, "None besides the types above.")
	}
	return out
}

// traitRules are the rules that traits stand for. Numbered constraints of an operation repeat the rules that are not
// marked always.
var traitRules = []struct {
	t      ir.Traits
	always bool
	text   string
}{
	{ir.SameType, false, "All operands and results have the same type."},
	{ir.SameShape, false, "All operands and results have the same shape."},
	{ir.SingleBlock, true, "Each region has one block."},
	{ir.IsolatedFromAbove, true, "The regions use no values from outside."},
	{ir.SymbolTable, true, "Each symbol in it has a name of its own."},
	{ir.Terminator, true, "It is the last operation of its block."},
}

func attrText(a ir.AttrSpec) string {
	s := a.Type.Summary
	if a.Type.Enum != nil {
		s = "one of " + caseList(a.Type.Enum)
	}
	if s == "" {
		s = "any attribute"
	}
	switch {
	case a.Default != nil:
		s += ", `" + a.Default.String() + "` by default"
	case a.Optional:
		s += ", optional"
	}
	return s
}

var traitNames = []struct {
	t    ir.Traits
	name string
}{
	{ir.Pure, "pure"}, {ir.Terminator, "terminator"}, {ir.Commutative, "commutative"}, {ir.Elementwise, "element-wise"},
	{ir.IsolatedFromAbove, "isolated from above"}, {ir.NestedEffects, "side effects of its regions only"}, {ir.ConstantLike, "a constant"}, {ir.SymbolTable, "symbol table"}, {ir.Symbol, "symbol"},
	{ir.SameVariadicOperands, "its lists of operands have the same length"}, {ir.AttrSizedOperands, "`operandSegmentSizes` has the lengths of its lists of operands"},
}

func traitText(def *ir.Def) string {
	var names []string
	for _, t := range traitNames {
		if def.Traits&t.t != 0 {
			names = append(names, t.name)
		}
	}
	return strings.Join(names, ", ")
}
