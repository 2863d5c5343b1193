package plugincheck

import (
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/lapack"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Verdict says whether a plugin can run something.
type Verdict string

// Verdicts.
const (
	Yes   Verdict = "yes"
	No    Verdict = "no"
	Maybe Verdict = "maybe"
)

// Finding is the verdict on one op kind, element type or custom-call target of a module.
type Finding struct {
	Kind    string  `json:"what"` // "op", "type" or "target"
	Name    string  `json:"name"`
	Count   int     `json:"count"` // how often the module has it
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why"`
}

// Target describes a plugin to the tables.
type Target struct {
	Platform string // "cpu", "cuda", ...
	FFI      bool   // it has the FFI extension, so it can call handlers
	UserData bool   // the FFI extension passes data of an execution to handlers
	Copies   bool   // it copies values between its devices and the host
	// Artifact is the newest version of StableHLO that the plugin reads, such as 1.13.3; empty if it does not say.
	Artifact string
}

// cpuOps are the ops that XLA's CPU plugin cannot run through the PJRT C API, with the reason: its error for each
// sample in testdata/ops. A test repeats the samples.
var cpuOps = map[*ir.Def]string{
	stablehlo.Outfeed:             "compiles, then waits forever: nothing drains the outfeed through the PJRT C API",
	stablehlo.Infeed:              "compiles, then waits forever: nothing fills the infeed through the PJRT C API",
	stablehlo.Send:                "does not compile: HLO opcode send is not supported",
	stablehlo.Recv:                "does not compile: HLO opcode recv is not supported",
	stablehlo.CollectiveBroadcast: "does not compile: HLO opcode collective-broadcast is not supported",
	stablehlo.CollectiveReduce:    "newer than the plugin's StableHLO",
	stablehlo.UnaryEinsum:         "cannot be translated to HLO",
	stablehlo.UniformQuantize:     "cannot be translated to HLO",
	stablehlo.UniformDequantize:   "cannot be translated to HLO",
	chlo.Scan:                     "newer than the plugin's CHLO",
	chlo.RaggedDot:                "does not compile: HLO opcode ragged-dot is not supported",
	mhlo.Acos:                     "not implemented",
	mhlo.Acosh:                    "not implemented",
	mhlo.Asin:                     "not implemented",
	mhlo.Asinh:                    "not implemented",
	mhlo.Atanh:                    "not implemented",
	mhlo.Cosh:                     "not implemented",
	mhlo.Sinh:                     "not implemented",
	mhlo.Exp2:                     "newer than the plugin's MHLO",
	mhlo.Log2:                     "newer than the plugin's MHLO",
	mhlo.Mulhi:                    "newer than the plugin's MHLO",
	mhlo.Scan:                     "newer than the plugin's MHLO",
	mhlo.MinimumBroadcastShapes:   "cannot be translated to HLO",
	mhlo.RaggedDot:                "does not compile: HLO opcode ragged-dot is not supported",
	sdy.FuncDataFlowEdge:          "newer than the plugin's Shardy",
	sdy.NamedComputation:          "cannot be translated to HLO",
	sdy.ReplicatedToUnreduced:     "newer than the plugin's Shardy",
	sdy.ShardedToUnreduced:        "newer than the plugin's Shardy",
}

// hostTransfers are ops that a plugin runs only with support of its own.
var hostTransfers = map[string]bool{"outfeed": true, "infeed": true, "send": true, "recv": true}

// foreign are dialects that hlocb supports and XLA's plugin does not.
var foreign = map[string]bool{"check": true, "interpreter": true}

// noTypes are element types that XLA cannot compile.
var noTypes = map[tensor.DType]bool{tensor.F6E2M3FN: true, tensor.F6E3M2FN: true, tensor.Index: true}

// builtinTargets are custom-call targets that XLA's own passes replace.
var builtinTargets = []string{"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "LayoutConstraint",
	"Qr", "Eigh", "ProductOfElementaryHouseholderReflectors",
	"xla.sdy.FuncResultSharding", "xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape"}

// absentPrefixes are prefixes of custom-call targets of libraries that CPU plugins do not have: CUDA's, ROCm's, TPU's,
// and those that jaxlib itself registers.
var absentPrefixes = []string{"cu_", "cublas", "cudnn", "cufft", "cusolver", "cusparse", "__cublas", "__cudnn", "__gpu$", "hip", "mosaic_gpu", "triton", "tpu_",
	"LuDecomposition", "blas_", "lapack_", "PartialReduce"}

// Static looks up everything in m in tables. Findings are in the order ops, types, targets, each by name.
func Static(m *ir.Module, t Target) []Finding {
	found := map[[2]string]*Finding{}
	note := func(kind, name string, v Verdict, why string) {
		f := found[[2]string{kind, name}]
		if f == nil {
			f = &Finding{Kind: kind, Name: name, Verdict: v, Why: why}
			found[[2]string{kind, name}] = f
		}
		f.Count++
	}
	value := func(v *ir.Value) {
		if name, verdict, why := typeOf(v.Type()); name != "" {
			note("type", name, verdict, why)
		}
	}
	m.Walk(func(o *ir.Op) bool {
		v, why := t.op(o)
		note("op", o.Name(), v, why)
		if strings.HasSuffix(o.Name(), ".custom_call") {
			name := targetName(o)
			v, why := t.target(name)
			if legalize.KnowsCall(name) || legalize.CalledDef(o) != nil {
				v, why = Yes, "stands for ops; hlocb or XLA's own passes replace it"
			}
			note("target", name, v, why)
		}
		for _, r := range o.Results() {
			value(r)
		}
		for i := range o.Regions() {
			for _, b := range o.Region(i).Blocks() {
				for _, a := range b.Args() {
					value(a)
				}
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
		if a.Kind != b.Kind {
			return rank[a.Kind] - rank[b.Kind]
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// typeOf returns the name of a type in findings: the element type, or the whole type if XLA does not accept it.
func typeOf(t ir.Type) (name string, v Verdict, why string) {
	tt, ok := t.(*ir.TensorType)
	if !ok {
		return "", "", ""
	}
	d := tt.DType()
	switch {
	case d == tensor.Invalid:
		return tt.Elem().String(), No, "XLA does not compile it"
	case !tt.Static() && !stablehlo.IsBounded(tt):
		return tt.String(), Maybe, "'hlocb run' compiles the program for the shapes of its arguments, so the plugin gets static shapes"
	case noTypes[d]:
		return d.String(), No, "XLA does not compile it"
	case d.Bits() < 8 && d != tensor.I1:
		return d.String(), Maybe, "storage of less than a byte; kernels for it are few"
	case d.IsFloat() && d.Bits() < 16:
		return d.String(), Maybe, "some operations on it are missing in XLA"
	}
	return d.String(), Yes, "supported by XLA"
}

func (t Target) op(o *ir.Op) (Verdict, string) {
	dialect, name, _ := strings.Cut(o.Name(), ".")
	switch {
	case legalize.IsModuleNote(o):
		return Yes, "hlocb leaves it out: the module's functions do not depend on it"
	case !o.Def().Known():
		return No, "unknown dialect: the plugin reads only StableHLO and func"
	case dialect == "hlocb":
		return No, "an op of hlocb's own: 'hlocb rewrite' lowers it to a custom call"
	case foreign[dialect]:
		return No, "a dialect that XLA does not know"
	case t.Platform == "cpu" && cpuOps[o.Def()] != "":
		return No, cpuOps[o.Def()]
	case hostTransfers[name] && (dialect == "stablehlo" || dialect == "mhlo"):
		return Maybe, "host transfers need the plugin's own support"
	case cpuOps[o.Def()] != "":
		return Maybe, "XLA's CPU plugin does not run it: " + cpuOps[o.Def()]
	case name == "custom_call":
		return Yes, "its target decides, see below"
	case dialect == "mhlo":
		return Maybe, "an older name; plugins read StableHLO"
	case dialect == "stablehlo":
		return Yes, "an op of StableHLO"
	case dialect == "func" || dialect == "builtin" || dialect == "sdy" || dialect == "chlo":
		return Yes, "every StableHLO plugin reads it"
	}
	return Maybe, "it is unknown whether plugins read it"
}

func (t Target) target(name string) (Verdict, string) {
	switch {
	case name == hook.Target && t.FFI:
		return Yes, "hlocb registers it through the FFI extension"
	case name == hook.Target:
		return No, "the plugin has no FFI extension, so it cannot call handlers"
	case slices.Contains(builtinTargets, name):
		return Yes, "replaced by XLA's own passes"
	case slices.Contains([]string{stablehlo.TargetPlacement, stablehlo.TargetMoveToHost, stablehlo.TargetMoveToDevice}, name):
		return Yes, "returns its operand, or XLA's own passes replace it"
	case lapack.Supports(name) && t.Platform == "cpu" && t.FFI:
		return Yes, "hlocb computes it with LAPACK, which 'hlocb plugin install lapack' installs"
	case t.Platform == "cpu" && slices.ContainsFunc(absentPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) }):
		return No, "no CPU plugin has it"
	case strings.Contains(name, "python") && strings.Contains(name, "callback"), strings.HasPrefix(name, "exla_"):
		return No, "lives in the process that made the module; 'hlocb rewrite' converts it"
	}
	return Maybe, "runs only where somebody registered a handler of this name"
}

func targetName(o *ir.Op) string { return view.String(o.Attr(stablehlo.AttrCallTargetName)) }
