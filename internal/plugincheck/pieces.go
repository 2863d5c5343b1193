package plugincheck

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// Piece is one op of a module as a separate program. The arguments of its main are the op's operands and captured
// values.
type Piece struct {
	Name string `json:"name"` // of the op, with a custom call's target: stablehlo.custom_call @hook
	Loc  string `json:"loc"`  // of the first such op in the text that was read
	Text string `json:"text"` // the program
	Why  string `json:"why"`  // why there is no program, if Text is empty
}

// Pieces returns a piece for every op of m, except ops that differ from an earlier op only in the names of their
// operands.
func Pieces(m *ir.Module) []Piece {
	var out []Piece
	seen := map[string]bool{}
	m.Walk(func(o *ir.Op) bool {
		if !worthTrying(o) {
			return true
		}
		p := Piece{Name: o.Name(), Loc: place(m, o)}
		if t := targetName(o); t != "" {
			p.Name += " @" + t
		}
		text, err := pieceOf(m, o)
		if err != nil {
			p.Why = err.Error()
			text = p.Name + p.Why
		} else {
			p.Text = text
		}
		if !seen[text] {
			seen[text] = true
			out = append(out, p)
		}
		return true
	})
	return out
}

func place(m *ir.Module, o *ir.Op) string {
	if m.Source() == nil || !o.Pos().IsValid() {
		return ""
	}
	line, col := m.Source().LineColumn(o.Pos())
	return fmt.Sprintf("%s:%d:%d", m.Source().Name(), line, col)
}

// worthTrying excludes ops that cannot stand alone: functions, calls, terminators and declarations.
func worthTrying(o *ir.Op) bool {
	if o.Block() != nil && o == o.Block().Last() && o.NumResults() == 0 && len(o.Regions()) == 0 {
		return false
	}
	dialect := o.Def().Dialect()
	return dialect != "func" && dialect != "builtin" && !o.Is(sdy.Mesh)
}

// Whole returns the whole module as a piece, without a program if 'hlocb run' compiles it only for known shapes.
func Whole(m *ir.Module) Piece {
	if main, ok := fn.Lookup(m, "main"); ok {
		for i, t := range main.Type().Inputs() {
			if tt, ok := t.(*ir.TensorType); ok && !tt.Static() {
				return Piece{Name: "module", Why: fmt.Sprintf("argument %d has a dynamic size; 'hlocb run' compiles the program for the shapes of its arguments", i)}
			}
		}
	}
	return Piece{Name: "module", Text: print.String(m, print.Options{})}
}

// deviceAttrs returns the attributes of a module about devices; its pieces repeat them. A piece for a hook inside a
// per-device (manual) computation has none: the hook has no sharding there, and the partitioner would require one.
func deviceAttrs(m *ir.Module, o *ir.Op) string {
	if targetName(o) == hook.Target {
		for p := o.Parent(); p != nil; p = p.Parent() {
			if p.Is(sdy.ManualComputation) {
				return ""
			}
		}
	}
	var list []string
	for _, name := range [...]string{mhlo.AttrNumPartitions, mhlo.AttrNumReplicas} {
		if a := m.Op().Attr(name); a != nil {
			list = append(list, name+" = "+a.String())
		}
	}
	if len(list) == 0 {
		return ""
	}
	return " attributes {" + strings.Join(list, ", ") + "}"
}

// paired are custom calls that XLA's partitioner understands only together with other ops.
var paired = map[string]bool{"SPMDFullToShardShape": true, "SPMDShardToFullShape": true}

// pieceOf prints a module whose main is o alone.
func pieceOf(m *ir.Module, o *ir.Op) (string, error) {
	var captured []*ir.Value
	index := map[*ir.Value]int{}
	take := func(v *ir.Value) {
		owner := v.DefiningOp()
		if owner == nil && v.Block() != nil {
			owner = v.Block().Parent()
		}
		if inside := owner != nil && o.IsAncestorOf(owner) && (owner != o || v.DefiningOp() == nil); inside {
			return
		}
		if _, ok := index[v]; !ok {
			index[v] = len(captured)
			captured = append(captured, v)
		}
	}
	if paired[targetName(o)] {
		return "", errors.New("has a meaning only together with the other op of its pair")
	}
	if strings.HasPrefix(o.Name(), "sdy.") && deviceAttrs(m, o) == "" {
		return "", errors.New("has a meaning only in a module that states its number of partitions")
	}
	o.Walk(func(p *ir.Op) bool {
		for _, v := range p.OperandList() {
			take(v)
		}
		return true
	})
	var args, names, argTypes []string
	for i, v := range captured {
		if t, ok := v.Type().(*ir.TensorType); !ok || !t.Static() {
			return "", fmt.Errorf("has an operand of type %s, which cannot be an argument", v.Type())
		}
		name := fmt.Sprintf("%%a%d", i)
		names, argTypes = append(names, name), append(argTypes, v.Type().String())
		args = append(args, name+": "+v.Type().String())
	}
	var results, returned []string
	for i, v := range o.Results() {
		if t, ok := v.Type().(*ir.TensorType); !ok || !t.Static() {
			return "", fmt.Errorf("has a result of type %s, which main cannot return", v.Type())
		}
		results = append(results, v.Type().String())
		returned = append(returned, fmt.Sprintf("%%r#%d", i))
	}
	left, ret := "", "return"
	if len(results) > 0 {
		left = fmt.Sprintf("%%r:%d = ", len(results))
		ret = "return " + strings.Join(returned, ", ") + " : " + strings.Join(results, ", ")
	}
	frame := fmt.Sprintf("module%s {\nfunc.func @main(%s) -> (%s) {\n  %s\"probe.op\"(%s) : (%s) -> (%s)\n  %s\n}\n}\n", deviceAttrs(m, o), strings.Join(args, ", "), strings.Join(results, ", "),
		left, strings.Join(names, ", "), strings.Join(argTypes, ", "), strings.Join(results, ", "), ret)
	out, err := parse.Parse(diag.NewSource("piece", []byte(frame)), m.Context(), parse.Options{})
	if err != nil {
		return "", err
	}
	main, ok := fn.Lookup(out, "main")
	if !ok {
		return "", errors.New("the piece has no main")
	}
	stand := main.Body().First()
	mapping := map[*ir.Value]*ir.Value{}
	for i, v := range captured {
		mapping[v] = main.Body().Arg(i)
	}
	clone := out.Before(stand).Clone(o, mapping)
	for i, v := range stand.Results() {
		v.ReplaceAllUsesWith(clone.Result(i))
	}
	stand.Erase()
	// Functions and meshes that the op refers to, directly or through others.
	named := map[string]bool{}
	symbols(o, named)
	for grown := true; grown; {
		grown = false
		for p := range m.Body().Ops() {
			if name := symbolName(p); named[name] && name != "main" {
				n := len(named)
				symbols(p, named)
				grown = grown || len(named) > n
			}
		}
	}
	for p := range m.Body().Ops() {
		if name := symbolName(p); named[name] && name != "main" {
			out.Before(main.Op).Clone(p, map[*ir.Value]*ir.Value{})
		}
	}
	return print.String(out, print.Options{}), nil
}

func symbolName(o *ir.Op) string { return view.String(o.Attr(ir.SymbolName)) }

var symbolRef = regexp.MustCompile(`@(?:"([^"]*)"|([\w$.-]+))`)

// symbols adds the symbols that o and the ops inside it refer to.
func symbols(o *ir.Op, names map[string]bool) {
	o.Walk(func(p *ir.Op) bool {
		for _, a := range p.Attrs() {
			for _, m := range symbolRef.FindAllStringSubmatch(a.Attr.String(), -1) {
				names[m[1]+m[2]] = true
			}
		}
		return true
	})
}

// Try compiles a piece and, if run is set, runs it once on zeros. Hooks are answered with zeros.
func Try(ctx context.Context, b runtime.Backend, p Piece, run bool) error {
	m, err := parse.Parse(diag.NewSource("piece", []byte(p.Text)), ir.NewContext(reader.Registry()), parse.Options{})
	if err != nil {
		return err
	}
	manifest, err := format.ManifestOf(m)
	if err != nil {
		return err
	}
	bind := new(runtime.Bindings)
	bind.Answer("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		if c.Site.Kind != hook.Tap {
			for _, r := range c.Results {
				clear(r.Bytes())
			}
		}
		return nil
	}))
	exe, err := b.Compile(ctx, &runtime.Program{Module: m, Manifest: manifest}, runtime.CompileOptions{Handlers: bind})
	if err != nil {
		return err
	}
	if run {
		main, _ := fn.Lookup(m, "main")
		var args []*tensor.Tensor
		for _, t := range main.Type().Inputs() {
			tt := t.(*ir.TensorType)
			args = append(args, tensor.New(tt.DType(), tt.Shape()))
		}
		_, err = exe.Run(ctx, args)
	}
	return errors.Join(err, exe.Close())
}
