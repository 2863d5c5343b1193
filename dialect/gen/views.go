package gen

import (
	"bytes"
	"cmp"
	"fmt"
	"go/format"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// Views returns the Go code of a dialect's views, setters, builders, enumerations and names of attributes.
func Views(d *ir.Dialect, o Options) ([]byte, error) {
	w := &viewWriter{dialect: d, options: o, imports: map[string]string{}}
	for _, e := range d.Enums {
		if e.Base == nil {
			w.enum(e)
		}
	}
	w.attrNames()
	for _, def := range d.Ops {
		if hasOwnViews(def) {
			w.view(def)
		}
	}
	head := "// Code generated from the rows of the dialect. DO NOT EDIT.\n\npackage " + d.Name + "\n\nimport (\n"
	for _, name := range slices.Sorted(maps.Keys(w.imports)) {
		head += fmt.Sprintf("%q\n", w.imports[name])
	}
	return format.Source([]byte(head + ")\n" + w.b.String()))
}

// Rebuild returns a Go file of a test package. It holds the map rebuild: for each row with a builder, a function that
// builds an op again, from its view.
func Rebuild(pkg string, o Options, dialects ...*ir.Dialect) ([]byte, error) {
	imports := map[string]string{"view": o.path("view"), "ir": irPath}
	var entries bytes.Buffer
	for _, d := range dialects {
		imports[d.Name] = o.path(d.Name)
		w := &viewWriter{dialect: d, options: o, imports: map[string]string{}}
		for _, def := range d.Ops {
			if hasOwnViews(def) {
				w.view(def)
			}
		}
		entries.Write(w.rebuild.Bytes())
	}
	head := "// Code generated from the rows of the dialects. DO NOT EDIT.\n\npackage " + pkg + "\n\nimport (\n"
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		head += fmt.Sprintf("%q\n", imports[name])
	}
	return format.Source(fmt.Appendf(nil, head+rebuildFile, entries.String()))
}

// rebuildFile is the file of Rebuild after its imports.
const rebuildFile = `)

// rebuild holds, for each row with a builder, a function that builds an op from the view of op and the regions r.
var rebuild = map[*ir.Def]func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error){
%s}

// pointer returns a pointer to v, or nil if v is absent.
func pointer[T any](v T, ok bool) *T {
	if !ok {
		return nil
	}
	return &v
}

var _ = view.Int
`

const irPath = "github.com/hlocb/hlocb/ir"

// path returns the path of the package of a dialect.
func (o *Options) path(dialect string) string {
	return cmp.Or(o.Imports[dialect], "github.com/hlocb/hlocb/dialect/"+dialect)
}

// viewWriter writes the views of one dialect.
type viewWriter struct {
	dialect *ir.Dialect
	options Options
	imports map[string]string // the packages that the code uses: path by name
	b       bytes.Buffer
	rebuild bytes.Buffer // the entries of rebuildFile
}

func (w *viewWriter) printf(format string, args ...any) { fmt.Fprintf(&w.b, format, args...) }

// use returns name, a name of package view or ir with the package, and imports the package.
func (w *viewWriter) use(name string) string {
	if pkg, _, _ := strings.Cut(name, "."); pkg == "ir" {
		w.imports["ir"] = irPath
	} else {
		w.imports[pkg] = w.options.path(pkg)
	}
	return name
}

// hasOwnViews reports whether the dialect itself defines the op: views of StableHLO's ops serve for the ops that mirror
// them.
func hasOwnViews(d *ir.Def) bool { return d.Base == nil || d.Base.Dialect() != "stablehlo" }

// attrNames writes constants for the names of the attributes of ops.
func (w *viewWriter) attrNames() {
	names := map[string]bool{}
	for _, d := range w.dialect.Ops {
		for _, a := range d.Attrs {
			names[a.Name] = names[a.Name] || hasOwnViews(d)
		}
	}
	maps.DeleteFunc(names, func(_ string, own bool) bool { return !own })
	w.printf("\n// Names of the attributes of ops.\nconst (\n")
	for _, n := range slices.Sorted(maps.Keys(names)) {
		w.printf("Attr%s = %q\n", goName(n), n)
	}
	w.printf(")\n")
}

// enum writes the Go type of an enumeration.
func (w *viewWriter) enum(e *ir.EnumDef) {
	name := w.enumName(e)
	w.printf("\n// %s is a case of %sEnum: %s%s\ntype %s int\n\n// Cases of %s.\nconst (\n", name, w.enumRow(e), strings.ToLower(e.Doc[:1]), e.Doc[1:], name, name)
	for code, c := range e.Cases {
		if c != "" {
			w.printf("%s%s %s = %d\n", name, caseName(c), name, code)
		}
	}
	w.printf(")\n\n// String returns the case as assembly spells it.\nfunc (v %s) String() string { return %sEnum.Cases[v] }\n", name, w.enumRow(e))
}

// enumName returns the Go type of an enumeration's cases. If an op has the name too, the type ends in Case.
func (w *viewWriter) enumName(e *ir.EnumDef) string {
	name := w.enumRow(e)
	if slices.ContainsFunc(w.dialect.Ops, func(d *ir.Def) bool { return w.rowName(d) == name }) {
		name += "Case"
	}
	return name
}

// enumRow returns the Go name of an enumeration's row without the suffix Enum.
func (w *viewWriter) enumRow(e *ir.EnumDef) string {
	return cmp.Or(w.options.Names["#"+e.Dialect+"."+e.Name], goName(e.Name))
}

func caseName(c string) string {
	if c == strings.ToUpper(c) {
		return c
	}
	return strings.TrimPrefix(goName(c), "K")
}

// view writes the view, the setters and the builder of one row.
func (w *viewWriter) view(d *ir.Def) {
	row := w.rowName(d)
	op := row + "Op"
	w.use("ir.Op")
	w.printf("\n// %s is the view of %s, and of ops that mirror it. The op must have been verified.\ntype %s struct{ *ir.Op }\n", op, d.Name, op)
	w.printf("\n// As%s returns the view of op; ok is false if op is of another kind.\nfunc As%s(op *ir.Op) (v %s, ok bool) { return %s{op}, op != nil && op.IsOrMirrors(%s) }\n", row, row, op, op, row)
	if len(d.Operands)+len(d.Attrs)+len(d.Regions) > 0 {
		w.printf("\n// Operands, attributes and regions of %s, and setters of operands and attributes.\n", d.Name)
	}
	methods := map[string]string{} // by the name in the row
	names := map[string]bool{}
	taken := func(name string) bool {
		_, method := reflect.TypeFor[*ir.Op]().MethodByName(name)
		return method || names[name]
	}
	method := func(of, name, typ, body string) string {
		if taken(name) || taken("Set"+name) {
			name = row + name
		}
		names[name], methods[of] = true, name
		w.printf("func (v %s) %s() %s { return %s }\n", op, name, typ, body)
		return name
	}
	setter := func(name, param, body string) {
		names["Set"+name] = true
		w.printf("func (v %s) Set%s(%s) { %s }\n", op, name, param, body)
	}
	for i, a := range d.Operands {
		group := len(d.Operands) > 1 && (a.Mult != ir.One || hasGroup(d.Operands[:i]))
		switch {
		case a.Mult == ir.Variadic && !group:
			setter(method(a.Name, operandName(a.Name), "[]*ir.Value", "v.OperandList()"), "values []*ir.Value", "v.SetOperands(values)")
		case a.Mult == ir.Variadic:
			setter(method(a.Name, operandName(a.Name), "[]*ir.Value", fmt.Sprintf("%s(v.Op, %d)", w.use("view.Group"), i)), "values []*ir.Value", fmt.Sprintf("view.SetGroup(v.Op, %d, values...)", i))
		case group || a.Mult == ir.Optional:
			setter(method(a.Name, operandName(a.Name), "*ir.Value", fmt.Sprintf("%s(v.Op, %d)", w.use("view.Single"), i)), "value *ir.Value", fmt.Sprintf("view.SetGroup(v.Op, %d, value)", i))
		default:
			setter(method(a.Name, operandName(a.Name), "*ir.Value", fmt.Sprintf("v.Operand(%d)", i)), "value *ir.Value", fmt.Sprintf("v.SetOperand(%d, value)", i))
		}
	}
	for i := range d.Attrs {
		a := &d.Attrs[i]
		if isSizes(a) {
			continue
		}
		typ, body := w.accessor(a)
		field, _ := w.field(a)
		setter(method("$"+a.Name, attrName(a.Name), typ, body), "value "+field, fmt.Sprintf("%s(v.Op, %q, value)", w.use("view.Set"), a.Name))
	}
	for i, r := range d.Regions {
		typ, body := "*ir.Region", fmt.Sprintf("v.Region(%d)", i)
		if r.Mult != ir.One {
			typ, body = "[]*ir.Region", "v.Regions()"
		}
		method(r.Name, goName(r.Name), typ, body)
	}
	w.builder(d, row, op, methods)
}

// isSizes reports whether the attribute holds the lengths of groups of operands or results.
func isSizes(a *ir.AttrSpec) bool {
	return a.Name == "operandSegmentSizes" || a.Name == "resultSegmentSizes"
}

// goValue returns the Go type of an attribute and the function of package view that returns it.
func (w *viewWriter) goValue(c *ir.AttrConstraint) (typ, f string) {
	switch {
	case c.Enum != nil:
		typ = w.enumType(c.Enum)
		return typ, "view.Case[" + typ + "]"
	case c.Attr != nil:
		typ = w.dataType(c.Attr)
		return "*" + typ, "view.Data[" + typ + "]"
	case c.Elem != nil && (c.Elem.Kind != ir.KindAny || c.Elem.Enum != nil || c.Elem.Attr != nil):
		elem, f := w.goValue(c.Elem)
		return "[]" + elem, f
	case c.Elem != nil, c.Kind == ir.KindArray:
		return "[]ir.Attr", "view.Attr"
	}
	switch c.Kind {
	case ir.KindBools:
		return "[]bool", "view.Bools"
	case ir.KindInts:
		return "[]int64", "view.Ints"
	case ir.KindUnit, ir.KindBool:
		return "bool", "view.Bool"
	case ir.KindInt:
		return "int64", "view.Int"
	case ir.KindFloat:
		return "float64", "view.Float"
	case ir.KindSymbol:
		return "string", "view.Symbol"
	case ir.KindString:
		return "string", "view.String"
	}
	return "ir.Attr", "view.Attr"
}

// accessor returns the result and the body of the view's method for an attribute.
func (w *viewWriter) accessor(a *ir.AttrSpec) (typ, body string) {
	typ, f := w.goValue(&a.Type)
	get := fmt.Sprintf("v.Attr(%q)", a.Name)
	if f == "view.Attr" && typ == "ir.Attr" {
		return typ, get
	}
	w.use("view.Int")
	switch {
	case a.Type.Elem != nil || typ == "[]ir.Attr":
		return typ, "view.List(" + get + ", " + f + ")"
	case f == "view.Int" && a.Optional && a.Default == nil:
		return "(n int64, ok bool)", "view.OptionalInt(" + get + ")"
	case f == "view.Bool" && isPointer(a, f) && a.Default == nil:
		return "(value, ok bool)", "view.OptionalBool(" + get + ")"
	case f == "view.Int" && a.Default != nil && view.Int(a.Default) != 0:
		return typ, fmt.Sprintf("view.IntOr(%s, %d)", get, view.Int(a.Default))
	case f == "view.Bool" && a.Default != nil && view.Int(a.Default) != 0:
		return typ, fmt.Sprintf("view.IntOr(%s, 1) != 0", get)
	}
	return typ, f + "(" + get + ")"
}

// field returns the type of an attribute in the struct of a builder's attributes, and the function of package view that
// returns the attribute's value.
func (w *viewWriter) field(a *ir.AttrSpec) (typ, f string) {
	switch typ, f = w.goValue(&a.Type); {
	case isPointer(a, f):
		return "*" + typ, f
	case typ == "[]ir.Attr":
		return "ir.Attr", f
	}
	return typ, f
}

// enumType returns the Go type of an enumeration's cases; enumerations that mirror StableHLO's share its type.
func (w *viewWriter) enumType(e *ir.EnumDef) string {
	if e.Base != nil {
		e = e.Base
	}
	if e.Dialect == w.dialect.Name {
		return w.enumName(e)
	}
	return w.use(e.Dialect + "." + w.enumRow(e))
}

func (w *viewWriter) dataType(d *ir.AttrDef) string {
	t := d.DataType()
	if pkg, name, _ := strings.Cut(t.String(), "."); pkg == w.dialect.Name {
		return name
	} else {
		w.imports[pkg] = t.PkgPath()
	}
	return t.String()
}

// builder writes the function that builds an op, the struct of its attributes, and an entry of rebuildFile. methods are
// the methods of the view by the names in the row; attributes have $ before the name.
func (w *viewWriter) builder(d *ir.Def, row, op string, methods map[string]string) {
	pkg := w.dialect.Name + "."
	rebuild := []string{"b"}
	var params, groups, single []string
	for _, a := range d.Operands {
		p := paramName(a.Name)
		rebuild = append(rebuild, "v."+methods[a.Name]+"()")
		if a.Mult == ir.Variadic {
			params, groups = append(params, p+" []*ir.Value"), append(groups, p)
		} else {
			params, groups, single = append(params, p+" *ir.Value"), append(groups, "[]*ir.Value{"+p+"}"), append(single, p)
		}
	}
	operands := "nil"
	switch {
	case len(groups) == 1 && len(single) == 0:
		operands = groups[0]
	case len(groups) > 0 && len(single) == len(groups) && !slices.ContainsFunc(d.Operands, func(a ir.Arg) bool { return a.Mult == ir.Optional }):
		operands = "[]*ir.Value{" + strings.Join(single, ", ") + "}"
	case len(groups) > 0:
		operands = w.use("view.Join") + "(" + strings.Join(groups, ", ") + ")"
	}
	regions, nth := "nil", 0
	var names []string
	for _, r := range d.Regions {
		p := paramName(r.Name)
		if r.Mult != ir.One {
			params, regions, rebuild = append(params, p+" []*ir.Region"), p, append(rebuild, "r")
			continue
		}
		names, params, rebuild = append(names, p), append(params, p+" *ir.Region"), append(rebuild, fmt.Sprintf("r[%d]", nth))
		nth++
	}
	if len(names) > 0 {
		regions = "[]*ir.Region{" + strings.Join(names, ", ") + "}"
	}
	types, resultSizes := "nil", "nil"
	given := d.Infer == nil || d.Traits&ir.ChosenTypes != 0
	switch sized := d.Traits&ir.AttrSizedResults != 0; {
	case !given || len(d.Results) == 0:
	case len(d.Results) == 1 && d.Results[0].Mult == ir.One:
		params, types, rebuild = append(params, "result ir.Type"), "[]ir.Type{result}", append(rebuild, "op.Result(0).Type()")
	case sized:
		var lists []string
		for i, r := range d.Results {
			p := paramName(r.Name)
			params, lists = append(params, p+" []ir.Type"), append(lists, p)
			rebuild = append(rebuild, fmt.Sprintf("view.ResultTypes(op, %d)", i))
		}
		w.imports["slices"] = "slices"
		types, resultSizes = "slices.Concat("+strings.Join(lists, ", ")+")", "view.Sizes("+strings.Join(lists, ", ")+")"
	default:
		params, types, rebuild = append(params, "results []ir.Type"), "results", append(rebuild, "op.ResultTypes()")
	}
	values := ""
	var fields, entries []string
	for i := range d.Attrs {
		a := &d.Attrs[i]
		switch {
		case a.Name == "operandSegmentSizes":
			values += ", view.Sizes(" + strings.Join(groups, ", ") + ")"
			continue
		case a.Name == "resultSegmentSizes":
			values += ", " + resultSizes
			continue
		}
		typ, f := w.field(a)
		get := "v." + methods["$"+a.Name] + "()"
		switch {
		case isPointer(a, f):
			get = "pointer(" + get + ")"
			if a.Default != nil {
				get = strings.Replace(get, ")", "), true", 1) // the view returns the default
			}
		case typ == "ir.Attr":
			get = fmt.Sprintf("op.Attr(%q)", a.Name)
		}
		fields = append(fields, attrName(a.Name)+" "+typ)
		values += ", a." + attrName(a.Name)
		entries = append(entries, attrName(a.Name)+": "+get)
	}
	if len(fields) > 0 {
		params = append(params, "a "+row+"Attrs")
		w.printf("\n// %sAttrs are the attributes of %s. An optional attribute that is zero is left out.\ntype %sAttrs struct {\n%s\n}\n", row, d.Name, row, strings.Join(fields, "\n"))
		rebuild = append(rebuild, pkg+row+"Attrs{"+strings.Join(entries, ", ")+"}")
	}
	doc := "infers its types"
	if given {
		doc = "checks its types"
	}
	w.printf("\n// Build%s builds %s and %s.\nfunc Build%s(b *ir.Builder%s) (%s, error) {\n", row, d.Name, doc, row, strings.Join(append([]string{""}, params...), ", "), op)
	w.printf("op, err := %s(b, %s, %s, %s, %s%s)\nreturn %s{op}, err\n}\n", w.use("view.Build"), row, types, operands, regions, values, op)
	fmt.Fprintf(&w.rebuild, "%s: func(b *ir.Builder, op *ir.Op, r []*ir.Region) (*ir.Op, error) {\n", pkg+row)
	if strings.Contains(strings.Join(rebuild, " "), "v.") {
		fmt.Fprintf(&w.rebuild, "v, _ := %sAs%s(op)\n", pkg, row)
	}
	fmt.Fprintf(&w.rebuild, "n, err := %sBuild%s(%s)\nreturn n.Op, err\n},\n", pkg, row, strings.Join(rebuild, ", "))
}

// isPointer reports whether the builder takes an attribute as a pointer, nil for an op without it: its default is not
// zero, or it has none. f is the attribute's function of package view.
func isPointer(a *ir.AttrSpec, f string) bool {
	return a.Optional && (f == "view.Int" || a.Type.Kind == ir.KindBool) && (a.Default == nil || view.Int(a.Default) != 0)
}

// hasGroup reports whether any of the args may stand for several values or none.
func hasGroup(args []ir.Arg) bool {
	return slices.ContainsFunc(args, func(a ir.Arg) bool { return a.Mult != ir.One })
}

// rowName returns the Go name of a row: DotGeneral of stablehlo.dot_general.
func (w *viewWriter) rowName(d *ir.Def) string {
	return cmp.Or(w.options.Names[d.Name], goName(d.Name[strings.LastIndexByte(d.Name, '.')+1:]))
}

// initialisms are the words that Go names spell in capitals.
var initialisms = map[string]string{"lhs": "LHS", "rhs": "RHS", "id": "ID", "ids": "IDs", "afz": "AFZ", "ulp": "ULP", "api": "API"}

// goName turns batching_dims into BatchingDims.
func goName(s string) string {
	out := ""
	for _, p := range strings.FieldsFunc(s, func(r rune) bool { return r == '_' || r == '-' }) {
		if up, ok := initialisms[p]; ok {
			out += up
		} else {
			out += strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return out
}

// operandName returns goName, except for the names of an op's own methods.
func operandName(s string) string {
	switch s {
	case "operand":
		return "Input"
	case "operands":
		return "Inputs"
	}
	return goName(s)
}

// attrName returns goName, except that dimension numbers of any kind are named Dims.
func attrName(s string) string {
	if strings.HasSuffix(s, "dimension_numbers") {
		return "Dims"
	}
	return goName(s)
}

// paramName turns start_indices into startIndices.
func paramName(s string) string {
	name := goName(s)
	i := 1
	for i < len(name) && name[i] >= 'A' && name[i] <= 'Z' {
		i++
	}
	name = strings.ToLower(name[:i]) + name[i:]
	if token.IsKeyword(name) || name == "a" || name == "b" || name == "op" || name == "err" || name == "view" || name == "ir" {
		name += "_"
	}
	return name
}
