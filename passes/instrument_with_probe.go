package passes

import (
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/dialect/interpreter"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// InstrumentWithProbe inserts probes of StableHLO's interpreter.
type InstrumentWithProbe struct {
	UseDebugInfo bool `pass:"useDebugInfo" doc:"name probes by the locations of values"`
}

func (InstrumentWithProbe) Info() *pass.Info {
	return &pass.Info{
		Name: "interpreter-instrument-with-probe",
		Doc: "Inserts interpreter.probe after every op, for each result that is a static tensor of numbers, and replaces the uses of the result. " +
			"Constants and the op that async_start starts have no probe. Probes are named by their numbers: probe1, probe2. See hlocb tap for probes that every backend executes.",
	}
}

func (p InstrumentWithProbe) Run(ctx *pass.Context, m *ir.Module) error {
	var list []*ir.Op
	m.Op().WalkPost(func(op *ir.Op) bool {
		if p := op.Parent(); !op.Is(stablehlo.Constant) && (p == nil || !p.Is(stablehlo.AsyncStart)) { // its region holds one op
			list = append(list, op)
		}
		return true
	})
	n, stop := 0, stopper{ctx: ctx}
	for _, op := range list {
		if stop.now() {
			break
		}
		for _, v := range op.Results() {
			t, ok := v.Type().(*ir.TensorType)
			if !ok || !t.Static() || !isNumber(t.Elem()) {
				continue
			}
			n++
			probe := m.After(op).At(op.Loc(), op.Pos()).Create(interpreter.Probe, []*ir.Value{v}, []ir.Type{t},
				ir.NamedAttr{Name: interpreter.AttrProbeID, Attr: ir.NewString(p.name(op.Loc()) + strconv.Itoa(n)), Inherent: true})
			v.ReplaceAllUsesWith(probe.Result(0))
			probe.SetOperand(0, v)
		}
	}
	ctx.Count("probes", n)
	return ctx.Err()
}

// name returns the name of a probe before its number: "probe", or the name of a location and a dot.
func (p InstrumentWithProbe) name(l *ir.Loc) string {
	if !p.UseDebugInfo || l == nil || l.Kind() != ir.LocName {
		return "probe"
	}
	name, _, _ := strings.Cut(l.Name(), "@")
	return name + "."
}

func isNumber(t ir.Type) bool {
	switch t.(type) {
	case *ir.IntegerType, *ir.FloatType, *ir.ComplexType:
		return true
	}
	return false
}
