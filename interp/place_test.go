package interp

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestPlannedMemory: each program runs with the memory that its plan states, and is refused when it is compiled with
// less memory than it surely needs. A run that overwrites the values in arenas when they die computes the same bits.
func TestPlannedMemory(t *testing.T) {
	files, err := filepath.Glob(testkit.Testdata("programs/*.mlir"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	placed, refused := 0, 0
	for _, file := range files {
		name := filepath.Base(file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := testkit.Parse(t, name, text)
		compile := func(limit int64) (*Executable, error) {
			exe, err := New(Options{MemoryLimit: limit}).Compile(t.Context(), &runtime.Program{Module: m}, runtime.CompileOptions{})
			if err != nil {
				return nil, err
			}
			return exe.(*Executable), nil
		}
		exe, err := compile(0)
		if err != nil {
			t.Fatal(err)
		}
		args := seededArgs(t, m, exe.entry.Name)
		want, err := exe.Run(t.Context(), args)
		if err != nil {
			t.Fatal(err)
		}
		memory := &exe.entry.Memory
		if memory.Arena > 0 {
			placed++
		}
		if exe, err = compile(bound(exe)); err != nil {
			t.Fatalf("%s: with the memory that the plan states: %v", name, err)
		}
		exe.prog.Poison = true
		for range 2 {
			got, err := exe.Run(t.Context(), args)
			if err != nil {
				t.Errorf("%s: with the memory that the plan states: %v", name, err)
				break
			}
			for i := range got {
				if !bytes.Equal(got[i].Bytes(), want[i].Bytes()) {
					t.Errorf("%s: result %d differs", name, i)
				}
			}
		}
		if memory.Least > 0 {
			_, err := compile(memory.Least + exe.constants - 1)
			if err == nil || !strings.HasPrefix(err.Error(), name+":") || !strings.Contains(err.Error(), "bytes for live values and constants: ") {
				t.Errorf("%s: the error of a small limit is %v", name, err)
			}
			refused++
		}
	}
	if placed < 15 || refused < 15 {
		t.Errorf("only %d of %d programs have an arena, and %d are refused", placed, len(files), refused)
	}
}

// TestPlaces: values share memory only if they are not live at the same time: aliases of one payload, values that loops
// and branches carry or capture, results of calls, and operands that a kernel overwrites.
func TestPlaces(t *testing.T) {
	const v = "tensor<64xf32>"
	for name, body := range map[string]string{
		"alias lives longer": `%a = stablehlo.sine %x : V
  %b = stablehlo.reshape %a : (V) -> tensor<8x8xf32>
  %c = stablehlo.cosine %a : V
  %d = stablehlo.sine %c : V
  %e = stablehlo.reshape %b : (tensor<8x8xf32>) -> V
  %r = stablehlo.add %d, %e : V`,
		"barrier": `%a = stablehlo.sine %x : V
  %b = stablehlo.optimization_barrier %a : V
  %c = stablehlo.cosine %a : V
  %d = stablehlo.exponential %c : V
  %f = stablehlo.add %d, %c : V
  %r = stablehlo.subtract %f, %b : V`,
		"captured by a loop": `%a = stablehlo.sine %x : V
  %z = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %o = stablehlo.constant dense<1> : tensor<i32>
  %w:2 = stablehlo.while(%i = %z, %y = %x) : tensor<i32>, V
   cond { %l = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1> }
   do { %j = stablehlo.add %i, %o : tensor<i32>
    %s = stablehlo.cosine %y : V
    %t = stablehlo.multiply %s, %a : V
    %u = stablehlo.tanh %t : V
    %q = stablehlo.add %u, %s : V
    stablehlo.return %j, %q : tensor<i32>, V }
  %k = stablehlo.sine %w#1 : V
  %r = stablehlo.add %k, %w#1 : V`,
		"branch returns a captured value": `%a = stablehlo.sine %x : V
  %b = stablehlo.cosine %a : V
  %p = stablehlo.constant dense<true> : tensor<i1>
  %c = "stablehlo.if"(%p) ({ stablehlo.return %a : V }, { %s = stablehlo.tanh %a : V
    stablehlo.return %s : V }) : (tensor<i1>) -> V
  %d = stablehlo.sine %b : V
  %e = stablehlo.tanh %d : V
  %g = stablehlo.add %d, %e : V
  %r = stablehlo.add %g, %c : V`,
		"call returns its argument": `%a = stablehlo.sine %x : V
  %b:2 = call @twice(%a) : (V) -> (V, V)
  %c = stablehlo.cosine %b#1 : V
  %d = stablehlo.sine %c : V
  %e = stablehlo.add %d, %c : V
  %r = stablehlo.add %e, %b#0 : V`,
		"tuple": `%a = stablehlo.sine %x : V
  %b = stablehlo.tuple %a, %x : tuple<V, V>
  %c = stablehlo.cosine %x : V
  %d = stablehlo.get_tuple_element %b[0] : (tuple<V, V>) -> V
  %e = stablehlo.tanh %c : V
  %f = stablehlo.multiply %e, %c : V
  %r = stablehlo.add %f, %d : V`,
		"reduction that keeps its input": `%a = stablehlo.sine %x : V
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reshape %a : (V) -> tensor<1x64xf32>
  %b = stablehlo.reduce(%m init: %z) across dimensions = [0] : (tensor<1x64xf32>, tensor<f32>) -> V
   reducer(%p: tensor<f32>, %q: tensor<f32>) { stablehlo.return %q : tensor<f32> }
  %c = stablehlo.cosine %x : V
  %d = stablehlo.sine %c : V
  %e = stablehlo.add %d, %c : V
  %r = stablehlo.add %e, %b : V`,
	} {
		text := strings.ReplaceAll(`func.func @main(%x: V) -> V {
  `+body+`
  return %r : V
}
func.func private @twice(%x: V) -> (V, V) {
  %a = stablehlo.sine %x : V
  %b = stablehlo.cosine %a : V
  %c = stablehlo.add %a, %b : V
  return %x, %c : V, V
}`, "V", v)
		x := tensor.New(tensor.F32, tensor.Shape{64})
		for i := range tensor.View[float32](x) {
			tensor.View[float32](x)[i] = float32(i) / 16
		}
		// Op by op, with a result for each value, nothing shares memory.
		exe, err := compileText(t, text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		e := exe.(*Executable)
		clean, err := compileText(t, text)
		if err != nil {
			t.Fatal(err)
		}
		unplaced(clean.(*Executable).entry)
		want, err := clean.Run(t.Context(), []*tensor.Tensor{x})
		if err != nil {
			t.Fatal(err)
		}
		e.prog.Poison = true
		for range 3 {
			got, err := e.Run(t.Context(), []*tensor.Tensor{x})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got[0].Bytes(), want[0].Bytes()) {
				t.Errorf("%s: %s, without places %s", name, got[0].AppendLiteral(nil, 9), want[0].AppendLiteral(nil, 9))
			}
		}
		if e.entry.Memory.Arena == 0 {
			t.Errorf("%s: no arena", name)
		}
	}
}

// TestReducerReturnsArgument: the result of a reduction whose region returns its second argument, or a constant, does
// not share memory with the input, which dies.
func TestReducerReturnsArgument(t *testing.T) {
	const text = `func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %a = stablehlo.sine %x : tensor<64xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reshape %a : (tensor<64xf32>) -> tensor<1x64xf32>
  %b = BODY
  %c = stablehlo.cosine %x : tensor<64xf32>
  %d = stablehlo.sine %c : tensor<64xf32>
  %e = stablehlo.add %d, %b : tensor<64xf32>
  return %e : tensor<64xf32>
}`
	x := tensor.New(tensor.F32, tensor.Shape{64})
	for i := range tensor.View[float32](x) {
		tensor.View[float32](x)[i] = float32(i) / 16
	}
	reduce := `stablehlo.reduce(%m init: %z) across dimensions = [0] : (tensor<1x64xf32>, tensor<f32>) -> tensor<64xf32>
   reducer(%p: tensor<f32>, %q: tensor<f32>) { %k = stablehlo.constant dense<0.0> : tensor<f32>
    stablehlo.return RESULT : tensor<f32> }`
	for result, same := range map[string]string{
		"%q": "stablehlo.sine %x : tensor<64xf32>",
		"%k": "stablehlo.constant dense<0.0> : tensor<64xf32>",
		"%p": "stablehlo.constant dense<0.0> : tensor<64xf32>",
	} {
		got := run(t, strings.Replace(text, "BODY", strings.Replace(reduce, "RESULT", result, 1), 1), x)
		want := run(t, strings.Replace(text, "BODY", same, 1), x)
		if !bytes.Equal(got[0].Bytes(), want[0].Bytes()) {
			t.Errorf("%s: %s, want %s", result, got[0].AppendLiteral(nil, 9), want[0].AppendLiteral(nil, 9))
		}
	}
}

// unplaced makes all values of a function, and of the functions that it calls, come from the pool.
func unplaced(f *exec.Function) {
	var block func(b *exec.Block)
	block = func(b *exec.Block) {
		for i := range b.Instrs {
			ins := &b.Instrs[i]
			ins.Places, ins.Frame = nil, -1
			for _, inner := range ins.Blocks {
				block(inner)
			}
			if ins.Callee != nil {
				unplaced(ins.Callee)
			}
		}
	}
	block(f.Body)
	f.Memory.Arena = 0
}
