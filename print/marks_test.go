package print_test

import (
	"os"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// TestMarked: the text is that of Print, each op's mark is the start of the op's own text, and each value's mark is the
// value's name.
func TestMarked(t *testing.T) {
	for _, path := range []string{"../testdata/mlir/train_step.mlir", "../testdata/mlir/log.mlir", "../testdata/transformer_grad.mlir"} {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m := read(t, string(source))
		o := print.Options{LocalScope: true, ElideLarger: 4}
		text, marks := print.Marked(m, o)
		if string(text) != print.String(m, o) {
			t.Errorf("%s: the text is not that of Print", path)
		}
		ops := print.NewOps(m, o)
		marked := map[*ir.Op]bool{}
		for i, mark := range marks.Ops {
			marked[mark.Op] = true
			results, _, ok := strings.Cut(ops.Text(mark.Op), " = ") // after it, a parent may shorten the name
			if i%7 == 0 && ok && mark.Op.NumResults() > 0 && !strings.HasPrefix(string(text[mark.At:]), results+" = ") {
				t.Fatalf("%s: the op of %s is marked at %q", path, results, text[mark.At:mark.At+20])
			}
		}
		uses := map[*ir.Value]int{}
		for _, mark := range marks.Values {
			uses[mark.Value]++
			if name := string(text[mark.From:mark.To]); name[0] != '%' || strings.ContainsAny(name, " ,:=()") {
				t.Fatalf("%s: a value is marked at %q", path, name)
			}
		}
		m.Walk(func(op *ir.Op) bool {
			if !marked[op] && op.Parent().Name() != "stablehlo.reduce" {
				t.Errorf("%s: %s has no mark", path, op.Name())
			}
			for _, v := range op.Results() {
				if marked[op] && v.Index() == 0 && uses[v] == 0 {
					t.Errorf("%s: a result of %s has no mark", path, op.Name())
				}
			}
			return true
		})
	}
}
