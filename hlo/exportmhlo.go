package hlo

import (
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// mhloOp translates an op that only MHLO has. XLA's importer writes these ops for instructions that StableHLO lacks. It
// reports whether there is an instruction.
func (s *exportScope) mhloOp(op *ir.Op) bool {
	switch {
	case op.Is(mhlo.Copy):
		s.make(op, "copy")
	case op.Is(mhlo.AddDependency):
		s.make(op, "add-dependency")
	case op.Is(mhlo.Bitcast):
		// The bytes are those of the operand in source_layout.
		in := s.inLayout(s.value(op.Operand(0)), op.Attr(mhlo.AttrSourceLayout))
		s.bind(op, s.add(opcodes["bitcast"], withLayout(s.results(op), op.Attr(mhlo.AttrResultLayout)), []*instr{in}, s.common(op)...))
	case op.Is(mhlo.Fusion):
		s.fusion(op)
	case op.Is(mhlo.Domain):
		s.domain(op)
	case op.Is(mhlo.AsyncStart), op.Is(mhlo.AsyncUpdate), op.Is(mhlo.AsyncDone):
		s.async(op)
	default:
		return false
	}
	return true
}

// inLayout returns in, or a copy of it in the layout that an attribute lists.
func (s *exportScope) inLayout(in *instr, layout ir.Attr) *instr {
	if sh := withLayout(in.shape, layout); !sameShape(sh, in.shape) {
		return s.add(opcodes["copy"], sh, []*instr{in})
	}
	return in
}

// asParam returns in, or a copy of it in the layout of sh.
func (s *exportScope) asParam(in *instr, sh *shape) *instr {
	if sameShape(in.shape, sh) || !sameTypes(in.shape, sh) {
		return in
	}
	return s.add(opcodes["copy"], sh, []*instr{in})
}

func (s *exportScope) fusion(op *ir.Op) {
	c := s.region(op.Region(0))
	s.op = op
	operands := s.operandsOf(op)
	for i, p := range c.params {
		operands[i] = s.asParam(operands[i], p.shape)
	}
	kind, _ := s.enum("fusion_kind", fusionKinds, "")
	attrs := append(s.common(op), named(opFusion, "kind", kind), named(opFusion, "calls", c))
	for _, name := range []string{mhlo.AttrOutputOperandAliases, mhlo.AttrOutputOperandAliasing} {
		list, _ := op.Attr(name).(*ir.ArrayAttr)
		if list == nil {
			continue
		}
		var aliases []valueAlias
		for _, e := range list.Elems() {
			if a, ok := ir.DataOf[stablehlo.OutputOperandAlias](e); ok {
				aliases = append(aliases, valueAlias{a.OutputTupleIndices, a.OperandIndex, a.OperandTupleIndices})
			}
		}
		attrs = append(attrs, attr{aAliasing, aliases})
	}
	s.bind(op, s.add(opFusion, c.root.shape, operands, attrs...))
}

// domain translates a domain. XLA reads the sharding at each side from the bytes of its proto, and its importer writes
// the text of the sharding. hlocb reads both.
func (s *exportScope) domain(op *ir.Op) {
	side := func(name string) *sharding {
		text := s.str(name)
		read := decodeSharding
		if strings.HasPrefix(text, "{") {
			read = parseSharding
		}
		sh, err := read(text)
		if err != nil {
			s.ex.fail(op, "%s is not a sharding: %s", name, mistakeOf(err))
		}
		return sh
	}
	s.op = op
	s.make(op, "domain", "domain", &domain{kind: "sharding", entry: side("entry_metadata"), exit: side("exit_metadata")})
}

// async translates an op of an asynchronous call. The value of a start or an update is its instruction.
func (s *exportScope) async(op *ir.Op) {
	if !op.Is(mhlo.AsyncStart) {
		start := s.value(op.Operand(0))
		if op.Is(mhlo.AsyncUpdate) {
			s.setValue(op.Result(0), s.add(opAsyncUpdate, start.shape, []*instr{start}))
			return
		}
		if !start.shape.isTuple() || len(start.shape.elems) < 2 {
			s.ex.fail(op, "'%s' needs the value of an async_start", op.Name())
		}
		s.bind(op, s.add(opAsyncDone, start.shape.elems[1], []*instr{start}))
		return
	}
	comps := s.callees(op)
	s.op = op
	if len(comps) != 1 || len(comps[0].params) != op.NumOperands() {
		s.ex.fail(op, "'%s' must call one function with its operands", op.Name())
	}
	c := comps[0]
	operands := s.operandsOf(op)
	for i, p := range c.params {
		operands[i] = s.asParam(operands[i], p.shape)
	}
	attrs := append(s.common(op), named(opAsyncStart, "calls", c))
	if thread := s.str(mhlo.AttrExecutionThread); thread != "" && thread != "main" {
		attrs = append(attrs, named(opAsyncStart, "async_execution_thread", thread))
		c.thread = thread
	}
	s.setValue(op.Result(0), s.add(opAsyncStart, tuple(tuple(shapesOf(operands)...), c.root.shape), operands, attrs...))
}

// started returns the computation that in starts, which no other instruction may start; nil for other instructions.
func (in *instr) started() *computation {
	if in.op != opAsyncStart || in.wrapped != nil {
		return nil
	}
	return attrOf[*computation](in, "calls")
}

// separateStarts gives each async-start a computation of its own. Passes copy starts, for example of unrolled loops.
// The old computations, which do not change, have their own ones already.
func (ex *exporter) separateStarts(old map[*computation]bool) {
	started := map[*computation]bool{}
	for _, c := range ex.out.comps {
		for _, in := range c.instrs {
			if old[c] && in.started() != nil {
				started[in.started()] = true
			}
		}
	}
	var comps []*computation
	var visit func(c *computation)
	visit = func(c *computation) {
		for _, in := range c.instrs {
			callee := in.started()
			if callee == nil {
				continue
			}
			if started[callee] {
				callee = ex.copied(callee)
				in.attrs = slices.Clone(in.attrs)
				for i, a := range in.attrs {
					if a.value == any(in.started()) {
						in.attrs[i].value = callee
						break
					}
				}
				visit(callee)
			}
			started[callee] = true
		}
		comps = append(comps, c)
	}
	for _, c := range ex.out.comps {
		if old[c] {
			comps = append(comps, c)
		} else {
			visit(c)
		}
	}
	ex.out.comps = comps
}

// copied returns a copy of c with names of its own.
func (ex *exporter) copied(c *computation) *computation {
	n := *c
	n.name, n.id, n.instrs, n.params = ex.unique(c.name), 0, make([]*instr, len(c.instrs)), make([]*instr, len(c.params))
	copies := make(map[*instr]*instr, len(c.instrs))
	for i, in := range c.instrs {
		k := *in
		k.name = ex.unique(in.op.name)
		n.instrs[i], copies[in] = &k, &k
	}
	of := func(list []*instr) []*instr {
		out := make([]*instr, len(list))
		for i, in := range list {
			out[i] = copies[in]
		}
		return out
	}
	for _, in := range n.instrs {
		in.operands = of(in.operands)
		if before := in.predecessors(); before != nil {
			in.attrs = slices.Clone(in.attrs)
			for i := range in.attrs {
				if in.attrs[i].spec == cControl {
					in.attrs[i].value = of(before)
				}
			}
		}
	}
	copy(n.params, of(c.params))
	n.root = copies[c.root]
	n.number()
	return &n
}
