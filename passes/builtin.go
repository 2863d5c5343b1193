package passes

import (
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// Host holds the functions and formats that the program provides to the passes.
type Host struct {
	Formats   []*format.Format  // of hooks, in addition to hlocb's own
	Evaluator rewrite.Evaluator // computes ops with known operands; nil: passes that need it fold nothing
	// ParseType reads a type in an option; nil: no option has types.
	ParseType func(m *ir.Module, text string) (ir.Type, error)
}

// Builtin returns the passes of this package.
func Builtin(h Host) *pass.Table {
	list := append(format.Builtin(), h.Formats...)
	t, err := pass.NewTable(
		RewriteHooks{Formats: list},
		RaiseHooks{Formats: list},
		OrderHooks{},
		PlaceHooks{},
		AliasHooks{},
		ListHooks{},
		LowerHooks{Formats: list},
		CheckOrder{},
		CHLOLegalizeToStableHLO{},
		ShapeLegalizeToStableHLO{},
		ComplexMathExpander{},
		CompatibilityExpander{},
		CanonicalizeDynamism{},
		LegalizeDeprecatedOps{},
		CheckShapeAssertions{},
		ConvertToSignless{},
		InstrumentWithProbe{},
		LegalizeQuantToMath{},
		LegalizeQuantizedOpToQDQ{},
		LegalizeQDQToQuantizedOp{},
		CompositeToCall{},
		WrapInComposite{},
		RefineArguments{ParseType: h.ParseType},
		RefineShapes{Evaluator: h.Evaluator},
		MHLOToStableHLO{},
		StableHLOLegalizeToVHLO{},
		VHLOToVersion{},
		VHLOLegalizeToStableHLO{},
		PrepareForHLO{Evaluator: h.Evaluator},
		Canonicalize{},
		CSE{},
		Simplify{},
		Fold{Evaluator: h.Evaluator},
		Optimize{Evaluator: h.Evaluator},
		DCE{},
		RemoveDeadValues{},
		LICM{},
		Unroll{Formats: list},
		BindArguments{ParseType: h.ParseType, Evaluator: h.Evaluator},
		Specialize{ParseType: h.ParseType, Evaluator: h.Evaluator},
		Isolate{},
		Outline{Formats: list},
		FlattenTuples{},
		TokenCleanup{},
		SymbolDCE{},
		StripDebugInfo{},
		SCCP{},
		Inline{Formats: list},
	)
	if err != nil {
		panic(err) // two of the passes above have the same name
	}
	return t
}
