package support

import (
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/hlocb"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Verdict is the answer to whether a plugin can run something.
type Verdict string

// Verdicts.
const (
	Yes   Verdict = "yes"
	No    Verdict = "no"
	Maybe Verdict = "maybe"
)

// Finding is the verdict on one op kind, element type or custom-call target of a module.
type Finding struct {
	What    string  `json:"what"` // "op", "type" or "target"
	Name    string  `json:"name"`
	Count   int     `json:"count"` // how often the module has it
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why"`
}

// Target describes the plugin as the tables know plugins.
type Target struct {
	Platform string // "cpu", "cuda", ...
	FFI      bool   // it has the FFI extension, so it can call handlers
}

// cpuOps are the ops that XLA's CPU plugin cannot run through the PJRT C API, and why.
var cpuOps = map[string]string{
	"outfeed": "compiles, then waits for ever: nothing drains the outfeed through the PJRT C API",
	"infeed":  "compiles, then waits for ever: nothing fills the infeed through the PJRT C API",
	"send":    "does not compile: HLO opcode send is not supported",
	"recv":    "does not compile: HLO opcode recv is not supported",
}

// noTypes are element types that XLA does not compile.
var noTypes = map[tensor.DType]bool{tensor.F6E2M3FN: true, tensor.F6E3M2FN: true, tensor.Index: true}

// builtinTargets are custom-call targets that XLA's own passes replace.
var builtinTargets = []string{"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement", "LayoutConstraint",
	"xla.sdy.FuncResultSharding", "xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape"}

// Static looks everything in m up in tables. Findings are in the order: ops, types, targets, each by name.
func Static(m *ir.Module, t Target) []Finding {
	found := map[[2]string]*Finding{}
	note := func(what, name string, v Verdict, why string) {
		f := found[[2]string{what, name}]
		if f == nil {
			f = &Finding{What: what, Name: name, Verdict: v, Why: why}
			found[[2]string{what, name}] = f
		}
		f.Count++
	}
	types := map[tensor.DType]bool{}
	m.Walk(func(o *ir.Op) bool {
		v, why := t.op(o)
		note("op", o.Name(), v, why)
		if strings.HasSuffix(o.Name(), ".custom_call") {
			name := targetName(o)
			v, why := t.target(name)
			note("target", name, v, why)
		}
		for _, value := range o.Results() {
			d := dtypeOf(value.Type())
			if d == tensor.Invalid {
				continue
			}
			types[d] = true
			switch {
			case noTypes[d]:
				note("type", d.String(), No, "XLA does not compile it")
			case d.Bits() < 8 && d != tensor.I1:
				note("type", d.String(), Maybe, "storage of less than a byte; kernels for it are few")
			case d.IsFloat() && d.Bits() < 16:
				note("type", d.String(), Maybe, "some operations on it are missing in XLA")
			default:
				note("type", d.String(), Yes, "supported by XLA")
			}
		}
		return true
	})
	var out []Finding
	for _, f := range found {
		out = append(out, *f)
	}
	rank := map[string]int{"op": 0, "type": 1, "target": 2}
	slices.SortFunc(out, func(a, b Finding) int {
		if a.What != b.What {
			return rank[a.What] - rank[b.What]
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

func (t Target) op(o *ir.Op) (Verdict, string) {
	dialect, name, _ := strings.Cut(o.Name(), ".")
	switch {
	case !o.Def().Known():
		return No, "unknown dialect: the plugin reads only StableHLO and func"
	case dialect == "hlocb":
		return No, "an op of hlocb's own: 'hlocb rewrite' lowers it to a custom call"
	case dialect == "stablehlo" || dialect == "mhlo":
		if why := cpuOps[name]; why != "" {
			if t.Platform == "cpu" {
				return No, why
			}
			return Maybe, "host transfers need the plugin's own support"
		}
		if name == "custom_call" {
			return Maybe, "depends on the target, see below"
		}
		if dialect == "mhlo" {
			return Maybe, "an older name; plugins read StableHLO"
		}
		return Yes, "an op of StableHLO"
	case dialect == "func" || dialect == "builtin" || dialect == "sdy" || dialect == "chlo":
		return Yes, "every StableHLO plugin reads it"
	}
	return Maybe, "not known to be read by plugins"
}

func (t Target) target(name string) (Verdict, string) {
	switch {
	case name == hlocb.Target && t.FFI:
		return Yes, "hlocb registers it through the FFI extension"
	case name == hlocb.Target:
		return No, "the plugin has no FFI extension, so it cannot call handlers"
	case slices.Contains(builtinTargets, name):
		return Yes, "replaced by XLA's own passes"
	case strings.Contains(name, "python") && strings.Contains(name, "callback"), strings.HasPrefix(name, "exla_"):
		return No, "lives in the process that made the module; 'hlocb rewrite' converts it"
	}
	return Maybe, "runs only where somebody registered a handler of this name"
}

func targetName(o *ir.Op) string {
	s, _ := o.Attr("call_target_name").(*ir.StringAttr)
	if s == nil {
		return ""
	}
	return s.Value()
}

func dtypeOf(t ir.Type) tensor.DType {
	tt, ok := t.(*ir.TensorType)
	if !ok {
		return tensor.Invalid
	}
	return tt.DType()
}
