package stablehlo

import (
	"fmt"
	"math"
	"strconv"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// ParseType reads a type of the dialect after its mnemonic.
func ParseType(p ir.AsmParser, name string) ir.Type { return parseType("stablehlo", p, name) }

func parseType(dialect string, p ir.AsmParser, name string) ir.Type {
	switch name {
	case "token":
		return p.Context().DialectType(dialect, "token", "", nil)
	case "future":
		var elems []ir.Type
		body := "<"
		p.ParseList("<", ">", func() {
			t := p.ParseType()
			if tt, ok := t.(*ir.TensorType); !ok || !tt.Ranked() {
				p.Errorf("future element type must be a ranked tensor, but got '%s'", t)
			}
			if len(elems) > 0 {
				body += ", "
			}
			elems = append(elems, t)
			body += t.String()
		})
		return p.Context().DialectType(dialect, "future", body+">", &Future{elems})
	}
	p.Errorf("unknown %s type: %s", dialect, name)
	return nil
}

// Future is !stablehlo.future<...>, what async_start gives.
type Future struct{ Types []ir.Type }

// AttrParser returns the attribute parser of a dialect that shares StableHLO's attributes under its own name.
func AttrParser(dialect string) func(p ir.AsmParser, name string) ir.Attr {
	enums := map[string]*ir.EnumDef{}
	for _, e := range Enums() {
		enums[e.Name] = inDialect(e, dialect)
	}
	return func(p ir.AsmParser, name string) ir.Attr {
		pos := p.Pos()
		make := func(body string, data any) ir.Attr { return ir.NewDialectAttr(dialect, name, body, data) }
		switch name {
		case "result_accuracy_mode":
			p.Expect("<")
			code := parseEnumCase(p, ResultAccuracyModeEnum)
			p.Expect(">")
			return make("<"+ResultAccuracyModeEnum.Cases[code]+">", &AccuracyMode{code})
		case "dot":
			d := &DotDims{}
			parseFields(p, dotFields(p, d), true)
			return NewDotDims(dialect, d)
		case "ragged_dot":
			return make(parseRaggedDot(p, dialect))
		case "gather":
			g := &GatherDims{}
			parseFields(p, []fieldSpec{
				{"offset_dims", intsInto(p, &g.OffsetDims)},
				{"collapsed_slice_dims", intsInto(p, &g.CollapsedSliceDims)},
				{"operand_batching_dims", intsInto(p, &g.OperandBatchingDims)},
				{"start_indices_batching_dims", intsInto(p, &g.StartIndicesBatchingDims)},
				{"start_index_map", intsInto(p, &g.StartIndexMap)},
				{"index_vector_dim", intInto(p, &g.IndexVectorDim)},
			}, true)
			return NewGatherDims(dialect, g)
		case "scatter":
			s := &ScatterDims{}
			parseFields(p, []fieldSpec{
				{"update_window_dims", intsInto(p, &s.UpdateWindowDims)},
				{"inserted_window_dims", intsInto(p, &s.InsertedWindowDims)},
				{"input_batching_dims", intsInto(p, &s.InputBatchingDims)},
				{"scatter_indices_batching_dims", intsInto(p, &s.ScatterIndicesBatchingDim)},
				{"scatter_dims_to_operand_dims", intsInto(p, &s.ScatterDimsToOperandDims)},
				{"index_vector_dim", intInto(p, &s.IndexVectorDim)},
			}, true)
			return NewScatterDims(dialect, s)
		case "conv":
			c := &ConvDims{}
			p.Expect("<")
			if p.AcceptKeyword("raw") {
				parseRawConv(p, c)
			} else {
				parseConv(p, c)
			}
			p.Expect(">")
			return NewConvDims(dialect, c)
		case "channel_handle":
			c := &ChannelHandle{}
			parseFields(p, []fieldSpec{{"handle", intInto(p, &c.Handle)}, {"type", intInto(p, &c.Type)}}, false)
			return make(c.body(), c)
		case "output_operand_alias":
			a := &OutputOperandAlias{}
			parseFields(p, []fieldSpec{
				{"output_tuple_indices", intsInto(p, &a.OutputTupleIndices)},
				{"operand_index", intInto(p, &a.OperandIndex)},
				{"operand_tuple_indices", intsInto(p, &a.OperandTupleIndices)},
			}, true)
			return make(a.body(), a)
		case "dot_algorithm":
			d := &DotAlgorithm{}
			typ := func(v *string) func() { return func() { *v = p.ParseKeyword() } }
			parseFields(p, []fieldSpec{
				{"lhs_precision_type", typ(&d.LHSPrecision)},
				{"rhs_precision_type", typ(&d.RHSPrecision)},
				{"accumulation_type", typ(&d.Accumulation)},
				{"lhs_component_count", intInto(p, &d.LHSComponents)},
				{"rhs_component_count", intInto(p, &d.RHSComponents)},
				{"num_primitive_operations", intInto(p, &d.PrimitiveOperations)},
				{"allow_imprecise_accumulation", func() { d.AllowImpreciseAccumulation = parseBool(p) }},
			}, false)
			checkDotAlgorithm(p, pos, d)
			return make(d.body(), d)
		case "bounds":
			b := &Bounds{}
			p.ParseList("<", ">", func() { b.Bounds = append(b.Bounds, parseBound(p)) })
			return make(b.body(), b)
		case "type_extensions":
			// The long form of bounds; it prints as the short one.
			b := &Bounds{}
			parseFields(p, []fieldSpec{{"bounds", func() {
				p.ParseList("[", "]", func() { b.Bounds = append(b.Bounds, parseBound(p)) })
			}}}, true)
			if dialect == "mhlo" { // which has the long form only
				body := b.body()
				return make("<bounds = ["+body[1:len(body)-1]+"]>", b)
			}
			return ir.NewDialectAttr(dialect, "bounds", b.body(), b)
		case "result_accuracy":
			return make(parseResultAccuracy(p, dialect))
		case "mesh_axis":
			a := parseMeshAxis(p)
			return make(a.body(), &a)
		case "axis_ref":
			a := &AxisRef{}
			parseFields(p, []fieldSpec{
				{"name", func() { a.Name = p.ParseString() }}, {"sub_axis_info", func() { parseSubAxis(p, a) }},
			}, true)
			return make("<name = "+ir.Quote(a.Name)+a.subText()+">", a)
		case "sub_axis_info":
			a := &AxisRef{}
			parseSubAxis(p, a)
			return make(a.sub(), a)
		case "mesh":
			return make(parseMesh(p))
		case "replica_group_mesh_axes":
			return make(parseReplicaGroupMeshAxes(p))
		}
		if e := enums[name]; e != nil && e.Angled {
			p.Expect("<")
			code := parseEnumCase(p, e)
			p.Expect(">")
			return ir.NewEnum(e, code)
		} else if e != nil {
			return ir.NewEnum(e, parseEnumCase(p, e))
		}
		return nil
	}
}

// AccuracyMode is #stablehlo.result_accuracy_mode<...>.
type AccuracyMode struct{ Code int }

// inDialect returns def for another dialect that shares it.
func inDialect(def *ir.EnumDef, dialect string) *ir.EnumDef {
	if def.Dialect == dialect {
		return def
	}
	angled := dialect == "mhlo" && (def == RngDistributionEnum || def == RngAlgorithmEnum)
	return &ir.EnumDef{Dialect: dialect, Name: def.Name, Cases: def.Cases, Angled: angled}
}

var enumCppNames = map[string]string{
	"precision": "Precision", "result_accuracy_mode": "ResultAccuracyMode", "fft_type": "FftType",
	"comparison_direction": "ComparisonDirection", "comparison_type": "ComparisonType", "transpose": "Transpose",
	"rng_distribution": "RngDistribution", "rng_algorithm": "RngAlgorithm",
}

// parseEnumCase reads a bare case; the message names the enumeration as MLIR does.
func parseEnumCase(p ir.AsmParser, def *ir.EnumDef) int {
	pos := p.Pos()
	word := p.ParseOptionalKeyword()
	if word == "" {
		p.Errorf("expected valid keyword")
	}
	code, ok := def.Parse(word)
	if !ok {
		list := ""
		for _, c := range def.Cases {
			if c != "" {
				if list != "" {
					list += ", "
				}
				list += c
			}
		}
		p.ErrorfAt(pos, "expected ::mlir::stablehlo::%s to be one of: %s", enumCppNames[def.Name], list)
	}
	return code
}

func parseBool(p ir.AsmParser) bool {
	if p.AcceptKeyword("true") {
		return true
	}
	if !p.AcceptKeyword("false") {
		p.Errorf("expected boolean value")
	}
	return false
}

func parseBound(p ir.AsmParser) int64 {
	if p.Accept("?") {
		return ir.Dynamic
	}
	return p.ParseInteger()
}

func parseRaggedDot(p ir.AsmParser, dialect string) (string, any) {
	r := &RaggedDotDims{}
	d := &DotDims{}
	fields := append(dotFields(p, d),
		fieldSpec{"dot_dimension_numbers", func() {
			if p.Peek("<") {
				parseFields(p, dotFields(p, d), true)
				return
			}
			if v, ok := dataOf[DotDims](p.ParseAttr(nil)); ok {
				*d = *v
			}
		}},
		fieldSpec{"lhs_ragged_dimensions", intsInto(p, &r.LHSRagged)},
		fieldSpec{"rhs_group_dimensions", intsInto(p, &r.RHSGroup)})
	parseFields(p, fields, true)
	r.Dot = d
	return r.body(dialect), r
}

// NewRaggedDotDims returns the attribute of r in a dialect: chlo or mhlo.
func NewRaggedDotDims(dialect string, r *RaggedDotDims) *ir.DialectAttr {
	return ir.NewDialectAttr(dialect, "ragged_dot", r.body(dialect), r)
}

func (r *RaggedDotDims) body(dialect string) string {
	var w bodyWriter
	if dialect == "mhlo" { // which keeps the dot's own numbers together
		w.text("dot_dimension_numbers", "#mhlo.dot"+r.Dot.body())
	} else {
		w.ints("lhs_batching_dimensions", r.Dot.LHSBatching, false)
		w.ints("rhs_batching_dimensions", r.Dot.RHSBatching, false)
		w.ints("lhs_contracting_dimensions", r.Dot.LHSContracting, false)
		w.ints("rhs_contracting_dimensions", r.Dot.RHSContracting, false)
	}
	w.ints("lhs_ragged_dimensions", r.LHSRagged, false)
	w.ints("rhs_group_dimensions", r.RHSGroup, false)
	return w.String()
}

func parseResultAccuracy(p ir.AsmParser, dialect string) (string, any) {
	r := &ResultAccuracy{}
	parseFields(p, []fieldSpec{
		{"atol", func() { r.Atol = p.ParseFloat() }},
		{"rtol", func() { r.Rtol = p.ParseFloat() }},
		{"ulps", intInto(p, &r.Ulps)},
		{"mode", func() {
			if p.Peek("<") { // the short form: mode = <TOLERANCE>
				p.Expect("<")
				r.Mode = parseEnumCase(p, ResultAccuracyModeEnum)
				p.Expect(">")
				return
			}
			if a, ok := p.ParseAttr(nil).(*ir.DialectAttr); ok {
				if m, ok := a.Data().(*AccuracyMode); ok {
					r.Mode = m.Code
				}
			}
		}},
	}, true)
	return r.body(dialect), r
}

func (r *ResultAccuracy) body(dialect string) string {
	var w bodyWriter
	f := func(v float64) string {
		return string(tensor.AppendFloat(nil, tensor.F64, math.Float64bits(v)))
	}
	if r.Atol != 0 {
		w.text("atol", f(r.Atol))
	}
	if r.Rtol != 0 {
		w.text("rtol", f(r.Rtol))
	}
	if r.Ulps != 0 {
		w.int("ulps", r.Ulps)
	}
	w.text("mode", "#"+dialect+".result_accuracy_mode<"+ResultAccuracyModeEnum.Cases[r.Mode]+">")
	return w.String()
}

func parseSubAxis(p ir.AsmParser, a *AxisRef) {
	p.Expect("(")
	a.Sub, a.PreSize = true, p.ParseInteger()
	p.Expect(")")
	a.Size = p.ParseInteger()
}

func (a *AxisRef) sub() string {
	return "(" + strconv.FormatInt(a.PreSize, 10) + ")" + strconv.FormatInt(a.Size, 10)
}

func (a *AxisRef) subText() string {
	if !a.Sub {
		return ""
	}
	return ", sub_axis_info = " + a.sub()
}

// parseMesh reads the axes in full or as <name = "x", size = 2> alone; that is how they print.
func parseMesh(p ir.AsmParser) (string, any) {
	m := &Mesh{}
	body := "<axes=["
	parseFields(p, []fieldSpec{
		{"axes", func() {
			p.ParseList("[", "]", func() {
				x := MeshAxis{}
				if p.Peek("<") {
					x = parseMeshAxis(p)
				} else if d, ok := p.ParseAttr(nil).(*ir.DialectAttr); ok {
					if v, ok := d.Data().(*MeshAxis); ok {
						x = *v
					}
				}
				if len(m.Axes) > 0 {
					body += ", "
				}
				m.Axes = append(m.Axes, x)
				body += x.body()
			})
		}},
		{"device_ids", func() { m.DeviceIDs = p.ParseAttr(nil) }},
	}, true)
	body += "]"
	if m.DeviceIDs != nil {
		body += ", device_ids=" + m.DeviceIDs.String()
	}
	return body + ">", m
}

func parseMeshAxis(p ir.AsmParser) MeshAxis {
	a := MeshAxis{}
	parseFields(p, []fieldSpec{
		{"name", func() { a.Name = p.ParseString() }}, {"size", intInto(p, &a.Size)},
	}, false)
	return a
}

func (a *MeshAxis) body() string {
	return "<name = " + ir.Quote(a.Name) + ", size = " + strconv.FormatInt(a.Size, 10) + ">"
}

func parseReplicaGroupMeshAxes(p ir.AsmParser) (string, any) {
	r := &ReplicaGroupMeshAxes{}
	var axes []byte
	parseFields(p, []fieldSpec{
		{"mesh", func() { r.Mesh = p.ParseAttr(nil) }},
		{"axes", func() {
			p.ParseList("[", "]", func() {
				a := p.ParseAttr(nil)
				if len(axes) > 0 {
					axes = append(axes, ", "...)
				}
				axes = append(axes, a.String()...)
				if d, ok := a.(*ir.DialectAttr); ok {
					if x, ok := d.Data().(*AxisRef); ok {
						r.Axes = append(r.Axes, *x)
					}
				}
			})
		}},
	}, false)
	var w bodyWriter
	w.text("mesh", r.Mesh.String())
	w.text("axes", "["+string(axes)+"]")
	return w.String(), r
}

var floats8 = map[string]bool{
	"f8E3M4": true, "f8E4M3": true, "f8E4M3FN": true, "f8E4M3FNUZ": true, "f8E4M3B11FNUZ": true, "f8E5M2": true, "f8E5M2FNUZ": true, "f8E8M0FNU": true,
}

// checkDotAlgorithm checks what the specification says of dot algorithms on their own: positive counts (dot_general
// C22, C23, C24), and one of the algorithms that some hardware has.
func checkDotAlgorithm(p ir.AsmParser, pos diag.Pos, d *DotAlgorithm) {
	switch {
	case d.LHSComponents <= 0:
		p.ErrorfAt(pos, "lhs component count must be positive")
	case d.RHSComponents <= 0:
		p.ErrorfAt(pos, "rhs component count must be positive")
	case d.PrimitiveOperations <= 0:
		p.ErrorfAt(pos, "num primitive operations must be positive")
	case !d.known():
		imprecise := 0
		if d.AllowImpreciseAccumulation {
			imprecise = 1
		}
		p.ErrorfAt(pos, "dot algorithm not known to be supported on any hardware: {lhs:'%s', rhs:'%s', accum:'%s', lhs_components:%d, rhs_components:%d, primitive_ops:%d, imprecise:%d}",
			d.LHSPrecision, d.RHSPrecision, d.Accumulation, d.LHSComponents, d.RHSComponents, d.PrimitiveOperations, imprecise)
	}
}

func (d *DotAlgorithm) known() bool {
	if d.LHSComponents != 1 || d.RHSComponents != 1 {
		return false
	}
	l, r, acc, n := d.LHSPrecision, d.RHSPrecision, d.Accumulation, d.PrimitiveOperations
	if floats8[l] && floats8[r] {
		return acc == "f32" && n == 1
	}
	if l != r || d.AllowImpreciseAccumulation {
		return false
	}
	switch l {
	case "f16":
		return (acc == "f16" || acc == "f32") && n == 1
	case "bf16":
		return acc == "bf16" && n == 1 || acc == "f32" && (n == 1 || n == 3 || n == 6 || n == 9)
	case "tf32":
		return acc == "f32" && (n == 1 || n == 3)
	case "f32", "f64":
		return acc == l && n == 1
	}
	return false
}

// checkEncoding checks bounds against the shape that they are for: one for each dimension, and none for one whose
// size is known.
func checkEncoding(a *ir.DialectAttr, shape []int64, elem ir.Type) string {
	b, ok := a.Data().(*Bounds)
	if !ok {
		return ""
	}
	text := "tensor<" + string(ir.AppendShape(nil, shape)) + elem.String() + ">"
	if len(b.Bounds) != len(shape) {
		return fmt.Sprintf("Bounds length is %d, expected to be equal to rank(%d) of the tensor '%s'", len(b.Bounds), len(shape), text)
	}
	for i, d := range shape {
		if d != ir.Dynamic && b.Bounds[i] != ir.Dynamic {
			return fmt.Sprintf("Static dimension %d cannot have a bound, use ShapedType::kDynamic to indicate a missing bound in tensor '%s'", i, text)
		}
	}
	return ""
}
