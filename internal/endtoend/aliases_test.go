package endtoend

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/randprog"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// aliasModules have hooks whose operands die at the hook, are used later in several ways, or come from an outer
// region or a caller. The taps are JAX's; the other hooks are hlocb's targets.
var aliasModules = map[string]string{
	"tap used later": `func.func public @main(%x: tensor<9xf32>) -> tensor<9xf32> {
  %v = stablehlo.sine %x : tensor<9xf32>
  stablehlo.custom_call @my_hook(%v) {has_side_effect = true, backend_config = ""} : (tensor<9xf32>) -> ()
  %r = stablehlo.add %v, %v : tensor<9xf32>
  return %r : tensor<9xf32>
}`,
	"tap behind another use": `func.func public @main(%x: tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>) {
  %v = stablehlo.sine %x : tensor<9xf32>
  %q = stablehlo.multiply %v, %v : tensor<9xf32>
  stablehlo.custom_call @my_hook(%v) {has_side_effect = true, backend_config = ""} : (tensor<9xf32>) -> ()
  %r = stablehlo.add %v, %v : tensor<9xf32>
  return %q, %r : tensor<9xf32>, tensor<9xf32>
}`,
	"inout of a computed value": `func.func public @main(%x: tensor<9xf32>) -> tensor<9xf32> {
  %v = stablehlo.sine %x : tensor<9xf32>
  %y = stablehlo.custom_call @my_hook(%v) {has_side_effect = true, api_version = 4 : i32, backend_config = {}, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<9xf32>) -> tensor<9xf32>
  %r = stablehlo.add %y, %y : tensor<9xf32>
  return %r : tensor<9xf32>
}`,
	"inout of a value that lives on": `func.func public @main(%x: tensor<9xf32>) -> tensor<9xf32> {
  %v = stablehlo.sine %x : tensor<9xf32>
  %y = stablehlo.custom_call @my_hook(%v) {has_side_effect = true, api_version = 4 : i32, backend_config = {}, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<9xf32>) -> tensor<9xf32>
  %r = stablehlo.add %v, %y : tensor<9xf32>
  return %r : tensor<9xf32>
}`,
	"call of an argument, a constant and a value given twice": `func.func public @main(%x: tensor<9xf32>) -> tensor<9xf32> {
  %k = stablehlo.constant dense<2.0> : tensor<9xf32>
  %v = stablehlo.sine %x : tensor<9xf32>
  %y0 = stablehlo.custom_call @my_hook(%x) {has_side_effect = true, backend_config = ""} : (tensor<9xf32>) -> tensor<9xf32>
  %y1 = stablehlo.custom_call @my_hook(%k) {has_side_effect = true, backend_config = ""} : (tensor<9xf32>) -> tensor<9xf32>
  %y2:2 = stablehlo.custom_call @my_hook(%v, %v) {has_side_effect = true, backend_config = ""} : (tensor<9xf32>, tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>)
  %s0 = stablehlo.add %y0, %y1 : tensor<9xf32>
  %s1 = stablehlo.add %s0, %y2#0 : tensor<9xf32>
  %s2 = stablehlo.add %s1, %y2#1 : tensor<9xf32>
  return %s2 : tensor<9xf32>
}`,
	"call of a constant whose elements differ": `func.func public @main() -> tensor<3xf32> {
  %k = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %y = stablehlo.custom_call @my_hook(%k) {has_side_effect = true, backend_config = ""} : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}`,
	"donated argument": `func.func public @main(%x: tensor<9xf32> {tf.aliasing_output = 0 : i32}) -> tensor<9xf32> {
  %y = stablehlo.custom_call @my_hook(%x) {has_side_effect = true, backend_config = ""} : (tensor<9xf32>) -> tensor<9xf32>
  return %y : tensor<9xf32>
}`,
	"loop": `func.func public @main(%x: tensor<9xf32>) -> tensor<9xf32> {
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %w:2 = stablehlo.while(%i = %i0, %v = %x) : tensor<i32>, tensor<9xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %y = stablehlo.custom_call @my_hook(%v) {has_side_effect = true, backend_config = ""} : (tensor<9xf32>) -> tensor<9xf32>
    stablehlo.custom_call @my_hook(%y, %i) {has_side_effect = true, backend_config = ""} : (tensor<9xf32>, tensor<i32>) -> ()
    %s = stablehlo.sine %y : tensor<9xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %s : tensor<i32>, tensor<9xf32>
  }
  return %w#1 : tensor<9xf32>
}`,
	"function called twice": `func.func public @main(%x: tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>) {
  %v = stablehlo.sine %x : tensor<9xf32>
  %a = func.call @f(%v) : (tensor<9xf32>) -> tensor<9xf32>
  %b = func.call @f(%a) : (tensor<9xf32>) -> tensor<9xf32>
  return %a, %b : tensor<9xf32>, tensor<9xf32>
}
func.func private @f(%x: tensor<9xf32>) -> tensor<9xf32> {
  %y = stablehlo.custom_call @my_hook(%x) {has_side_effect = true, backend_config = ""} : (tensor<9xf32>) -> tensor<9xf32>
  return %y : tensor<9xf32>
}`,
	"branches": `func.func public @main(%x: tensor<9xf32>, %p: tensor<i1>) -> tensor<9xf32> {
  %v = stablehlo.sine %x : tensor<9xf32>
  %r = "stablehlo.if"(%p) ({
    stablehlo.custom_call @my_hook(%v) {has_side_effect = true, backend_config = ""} : (tensor<9xf32>) -> ()
    %a = stablehlo.add %v, %v : tensor<9xf32>
    stablehlo.custom_call @my_hook(%a) {has_side_effect = true, backend_config = ""} : (tensor<9xf32>) -> ()
    stablehlo.return %a : tensor<9xf32>
  }, {
    stablehlo.return %v : tensor<9xf32>
  }) : (tensor<i1>) -> tensor<9xf32>
  return %r : tensor<9xf32>
}`,
}

// compareAliases compiles a rewritten module on the CPU plugin and compares the predicted aliases with the compiled
// aliases.
func compareAliases(b runtime.Backend, m *ir.Module) (compared int, differ []string, err error) {
	r, err := passes.Rewrite(context.Background(), m, passes.RewriteHooks{Targets: []string{"my_hook", "probe_cb", "hook", "report", randprog.TargetName}})
	if err != nil || len(r.Aliases) == 0 {
		return 0, nil, err
	}
	h := new(runtime.Bindings)
	h.Answer("*", pointerHandler{}) // with host views, calls would not share memory
	exe, err := b.Compile(context.Background(), &runtime.Program{Module: m, Manifest: r.Manifest}, runtime.CompileOptions{Handlers: h})
	if err != nil {
		return 0, nil, err
	}
	defer exe.Close()
	uses, err := exe.(runtime.AliasViewer).AliasUses()
	if err != nil {
		return 0, nil, err
	}
	made := map[string]runtime.AliasUse{}
	for _, u := range uses {
		made[fmt.Sprint(u.Hook, u.Result)] = u
	}
	site := map[hook.ID]*hook.Site{}
	for i := range r.Manifest.Sites {
		site[r.Manifest.Sites[i].ID] = &r.Manifest.Sites[i]
	}
	for _, a := range r.Aliases {
		u, ok := made[fmt.Sprint(a.Hook, a.Result)]
		switch {
		case a.Operand < 0:
			continue
		case !ok:
			return 0, nil, fmt.Errorf("nothing is told of result %d of %s", a.Result, a.Name)
		case u.Calls == 0 && site[a.Hook].SideEffect && u.Lost == 0:
			continue // XLA found that the branch or function is unreachable
		}
		compared++
		if !a.Holds(u.Calls, u.Copies, u.Lost) {
			differ = append(differ, fmt.Sprintf("result %d of %s: predicted %s (%s), but XLA copies in %d of %d calls and lost it in %d", a.Result, a.Name, a.Verdict, a.Reason, u.Copies, u.Calls, u.Lost))
		}
	}
	return compared, differ, nil
}

// TestAliasPredictions checks that XLA treats aliases as predicted, in modules of our own.
func TestAliasPredictions(t *testing.T) {
	b := open(t, "cpu")
	for name, text := range aliasModules {
		m, err := testkit.TryParse(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		n, differ, err := compareAliases(b, m)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, d := range differ {
			t.Errorf("%s: %s", name, d)
		}
		t.Logf("%s: %d aliases", name, n)
	}
}

// TestAliasesOfCorpus is TestAliasPredictions for all compilable modules that real systems wrote.
func TestAliasesOfCorpus(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	b := open(t, "cpu")
	total, modules := 0, 0
	for _, folder := range []string{"events", "order", "hooks"} {
		files, _ := filepath.Glob(filepath.Join(testkit.Testdata(folder), "*.mlir"))
		for _, file := range files {
			m, err := testkit.TryParse(filepath.Base(file), readFile(t, file))
			if err != nil {
				t.Fatal(err)
			}
			n, differ, err := compareAliases(b, m)
			if err != nil {
				t.Logf("%s: not compared: %v", filepath.Base(file), err)
				continue
			}
			if n > 0 {
				modules++
			}
			total += n
			for _, d := range differ {
				t.Errorf("%s: %s", filepath.Base(file), d)
			}
		}
	}
	t.Logf("%d aliases in %d modules of the corpus", total, modules)
	if total < 50 {
		t.Errorf("only %d aliases were compared", total)
	}
}

// TestHostViewsCostNoAlias: XLA copies nothing for a call hook whose handlers have only host views. Its results share
// no memory with operands; the hook gets its answer, and the other hooks keep their aliases.
func TestHostViewsCostNoAlias(t *testing.T) {
	b := open(t, "cpu")
	m, err := testkit.TryParse("calls", []byte(`func.func public @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %y = stablehlo.custom_call @my_hook(%x) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = "ask"}} : (tensor<3xf32>) -> tensor<3xf32>
  %s = stablehlo.sine %y : tensor<3xf32>
  stablehlo.custom_call @my_hook(%s) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = "look"}} : (tensor<3xf32>) -> ()
  %z = stablehlo.subtract %s, %s : tensor<3xf32>
  return %y, %z : tensor<3xf32>, tensor<3xf32>
}`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := passes.Rewrite(t.Context(), m, passes.RewriteHooks{Targets: []string{"my_hook"}})
	if err != nil {
		t.Fatal(err)
	}
	reverse := runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		in, out := tensor.View[float32](c.Operands[0]), tensor.View[float32](c.Results[0])
		for i, v := range in {
			out[len(out)-1-i] = v
		}
		return nil
	})
	for _, test := range []struct {
		name string
		ask  runtime.Handler
		lost string // the lost aliases of ask, then of look
	}{{"host views", reverse, "1 0"}, {"device pointers", pointerHandler{}, "0 0"}} {
		h := new(runtime.Bindings)
		h.Answer("ask", test.ask)
		exe, err := b.Compile(t.Context(), &runtime.Program{Module: m, Manifest: r.Manifest}, runtime.CompileOptions{Handlers: h})
		if err != nil {
			t.Fatal(err)
		}
		defer exe.Close()
		uses, err := exe.(runtime.AliasViewer).AliasUses()
		if err != nil {
			t.Fatal(err)
		}
		if len(uses) != 2 || fmt.Sprint(uses[0].Lost, uses[1].Lost) != test.lost {
			t.Errorf("%s: aliases are %+v, expected %s to be lost", test.name, uses, test.lost)
		}
		if test.name != "host views" {
			continue
		}
		x := tensor.New(tensor.F32, tensor.Shape{3})
		copy(tensor.View[float32](x), []float32{1, 2, 3})
		out, err := exe.Run(t.Context(), []*tensor.Tensor{x})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(tensor.View[float32](out[0])); got != "[3 2 1]" {
			t.Errorf("the answer is %s, expected the operand in reverse", got)
		}
	}
}

// pointerHandler is a handler for device pointers that does nothing.
type pointerHandler struct{}

func (pointerHandler) Handle(context.Context, *runtime.Call) error { return nil }
func (pointerHandler) MemoryUse() runtime.MemoryUse                { return runtime.MemoryUse{DevicePointers: true} }
