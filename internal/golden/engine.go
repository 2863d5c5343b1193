package golden

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// cores matches the number of threads in a plan, which depends on the machine.
var cores = regexp.MustCompile(`, threads \d+`)

// Engine runs a module on the engine and returns the results, or the error, as text. If the module has the comment
// '// plan', the plan comes before them. Argument i gets the value of the i-th line '// arg: dense<[1, 2]> :
// tensor<2xi32>', or numbers from -3 to 5 if there is no such line.
// Dynamic dimensions then have size 2.
func Engine(t *testing.T, name, text string) string {
	t.Helper()
	var out strings.Builder
	o := interp.Options{}
	if strings.Contains(text, "// plan") {
		o.Plan = &out
	}
	fail := func(err error) string {
		fmt.Fprintf(&out, "error: %v\n", err)
		return out.String()
	}
	m, err := testkit.TryParse(name, text)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := interp.New(o).Compile(context.Background(), &runtime.Program{Module: m}, runtime.CompileOptions{})
	if err != nil {
		return fail(err)
	}
	defer exe.Close()
	var given []*tensor.Tensor
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, "// arg: "); ok {
			v, err := tensor.ParseLiteral(strings.TrimSpace(value))
			if err != nil {
				t.Fatal(err)
			}
			given = append(given, v)
		}
	}
	var args []*tensor.Tensor
	for i, a := range exe.Signature().Arguments {
		if i < len(given) {
			args = append(args, given[i])
			continue
		}
		args = append(args, argument(a.Type, i))
	}
	plan := cores.ReplaceAllString(out.String(), "")
	out.Reset()
	out.WriteString(plan)
	results, err := exe.Run(context.Background(), args)
	if err != nil {
		return fail(err)
	}
	for i, r := range results {
		if r.DType() == tensor.Invalid {
			fmt.Fprintf(&out, "%d: no tensor\n", i)
			continue
		}
		fmt.Fprintf(&out, "%d: %s\n", i, r.AppendLiteral(nil, 200))
	}
	return out.String()
}

// argument returns numbers from -3 to 5 as argument i.
func argument(t hook.TensorType, i int) *tensor.Tensor {
	shape := slices.Clone(t.Shape)
	for k := range shape {
		if shape[k] < 0 {
			shape[k] = 2
		}
	}
	v := tensor.New(t.DType, shape)
	fill(v, i)
	return v
}

// fill sets the elements of v to numbers from -3 to 5, which depend on i.
func fill(v *tensor.Tensor, i int) {
	for k := range v.NumElements() {
		n := (7*k+3*i)%9 - 3
		switch d := v.DType(); {
		case d.IsFloat() || d.IsComplex():
			v.SetFloat(k, float64(n)/2)
		case d.Kind() == tensor.KindSigned:
			v.SetInt(k, int64(n))
		default:
			v.SetInt(k, int64(n)&1)
		}
	}
}
