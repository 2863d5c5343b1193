package opgen_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/opgen"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/tensor"
)

// TestInPlace: an element-wise op returns the same in two forms of a program. In one, the operand is computed and dies
// at the op, so the op may write its result over the operand. In the other, the operands are arguments, which nothing
// overwrites. The test compares f(reverse(x)) with the reverse of f(x).
func TestInPlace(t *testing.T) {
	t.Parallel()
	g, err := opgen.New(11)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := backends.Open(context.Background(), "interp", backends.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	programs, least := g.Elementwise(33), 1000
	if !long() {
		programs, least = opgen.Sample(programs), 300
	}
	for _, p := range programs {
		plain, err := p.Outcome(t.Context(), engine)
		if err != nil {
			continue // TestRandomPrograms tests types that the engine refuses
		}
		for _, a := range append(plain, p.Args...) {
			if len(a.Shape()) != 1 {
				t.Fatalf("%s has a value of shape %v", p.Op, a.Shape())
			}
		}
		for k := range p.Args {
			// The program reverses operand k; the test reverses the other operands.
			var args []*tensor.Tensor
			for i, a := range p.Args {
				if i != k {
					a = reversed(a)
				}
				args = append(args, a)
			}
			text := throughReverse(t, p, "0", k)
			q, err := program(text, args...)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			out, err := q.Outcome(t.Context(), engine)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			for i, v := range out {
				if want := reversed(plain[i]); !bytes.Equal(v.Bytes(), want.Bytes()) {
					t.Errorf("%s on %s gives another result over operand %d: %v, not %v\n%s", p.Op, p.DType, k, v.Bytes(), want.Bytes(), text)
				}
			}
			n++
		}
	}
	t.Logf("%d programs", n)
	if n < least {
		t.Errorf("only %d programs", n)
	}
}

// TestCopiedArguments: programs compute the same bits from arguments and from copies of them, which they may overwrite.
func TestCopiedArguments(t *testing.T) {
	g, err := opgen.New(seed(t))
	if err != nil {
		t.Fatal(err)
	}
	engine, err := backends.Open(context.Background(), "interp", backends.Options{})
	if err != nil {
		t.Fatal(err)
	}
	count := 400
	if long() {
		count = 10000
	}
	n := 0
	for range count {
		p, err := g.Random()
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.Outcome(t.Context(), engine)
		if err != nil {
			continue
		}
		all := make([]int, len(p.Args))
		for i := range all {
			all[i] = i
		}
		text := throughReverse(t, p, "", all...)
		q, err := program(text, p.Args...)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		got, err := q.Outcome(t.Context(), engine)
		if err != nil {
			t.Errorf("%v\n%s", err, text)
			continue
		}
		for i, v := range got {
			if !bytes.Equal(v.Bytes(), want[i].Bytes()) {
				t.Errorf("%s on %s gives another result %d\n%s", p.Op, p.DType, i, text)
			}
		}
		n++
	}
	if n < count*9/10 {
		t.Errorf("only %d of %d programs", n, count)
	}
}

// throughReverse returns the program's text with some arguments reversed along dims, "" or "0", before their use.
func throughReverse(t *testing.T, p *opgen.Program, dims string, arguments ...int) string {
	t.Helper()
	text := print.String(p.Run.Module, print.Options{})
	start := strings.Index(text, "func.func @main")
	if start < 0 {
		t.Fatalf("no main\n%s", text)
	}
	start += strings.Index(text[start:], "{\n") + 2
	end := start + strings.Index(text[start:]+"\n  }\n", "\n  }\n")
	body, copies := text[start:end], ""
	if dims != "" {
		dims = ": " + dims
	}
	for _, k := range slices.Backward(arguments) {
		a := p.Args[k]
		body = strings.ReplaceAll(body, fmt.Sprintf("%%arg%d", k), fmt.Sprintf("%%turned%d", k))
		copies += fmt.Sprintf("    %%turned%d = \"stablehlo.reverse\"(%%arg%d) <{dimensions = array<i64%s>}> : (%[4]s) -> %[4]s\n", k, k, dims,
			hook.TensorType{DType: a.DType(), Shape: a.Shape()})
	}
	return text[:start] + copies + body + text[end:]
}

// reversed returns the elements of a vector in the opposite order.
func reversed(t *tensor.Tensor) *tensor.Tensor {
	c := t.Clone()
	size, n := t.DType().Size(), t.NumElements()
	for i := range n {
		copy(c.Bytes()[i*size:(i+1)*size], t.Bytes()[(n-1-i)*size:])
	}
	return c
}
