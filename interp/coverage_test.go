package interp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/interp/internal/ops"
	"github.com/hlocb/hlocb/ir"
)

// notExecuted lists the ops that have a row but no kernel, each with the reason. A name that ends in * stands for a
// whole dialect.
var notExecuted = map[string]string{
	"builtin.module":                     "holds functions",
	"vhlo.*":                             "is upgraded to StableHLO first",
	"builtin.unrealized_conversion_cast": "stands between two dialects while a compiler converts",
	"func.func":                          "is called, not executed",
	"func.return":                        "ends a block",
	"func.call_indirect":                 "functions as values are not part of StableHLO",
	"func.constant":                      "functions as values are not part of StableHLO",
	"stablehlo.return":                   "ends a block",
	"mhlo.return":                        "ends a block",
	"sdy.return":                         "ends a block",
	"sdy.mesh":                           "declares a name",
	"mhlo.minimum_broadcast_shapes":      "computes shapes while a compiler lowers dynamic programs",
	"mpmd.*":                             "Shardy partitions its programs before they run",
	"shape.*":                            "MLIR's shape computations, which compilers lower before they execute",
	"arith.*":                            "MLIR's scalars, in what shape computations are lowered to",
	"tensor.*":                           "MLIR's tensors of index, in what shape computations are lowered to",
}

// structure lists the reasons that belong to the structure of a program: the engine need not execute these ops.
var structure = map[string]bool{"holds functions": true, "is upgraded to StableHLO first": true, "is called, not executed": true,
	"ends a block": true, "declares a name": true, "stands between two dialects while a compiler converts": true}

// TestEveryOpHasAKernel: every op that has a row has a kernel, or notExecuted gives the reason.
func TestEveryOpHasAKernel(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]bool{}
	for d := range ops.BuildTable(&ops.Host{}) {
		table[d.Name] = true
	}
	used := map[string]bool{}
	count := map[string]int{}
	var rows []*ir.Def
	for _, d := range reg.Dialects() {
		rows = append(rows, d.Ops...)
	}
	for _, d := range rows {
		name, dialect := d.Name, d.Dialect()
		reason := name
		if notExecuted[reason] == "" {
			reason = dialect + ".*"
		}
		ok := table[name] || d.Base != nil && table[d.Base.Name]
		switch {
		case ok && notExecuted[reason] != "":
			t.Errorf("%s is executed, but listed as not: remove it from notExecuted", name)
		case !ok && notExecuted[reason] == "":
			t.Errorf("%s is not executed: add its row to interp/internal/ops/table.go, or the reason to notExecuted and docs/limits.md", name)
		case !ok:
			used[reason] = true
		default:
			count[dialect]++
		}
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "limits.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, reason := range notExecuted {
		if !strings.Contains(string(page), "`"+name+"`") && !structure[reason] {
			t.Errorf("docs/limits.md does not say that %s is not executed", name)
		}
		if !used[name] {
			t.Errorf("%s is listed as not executed, but is not an op", name)
		}
	}
	for name := range table {
		if reg.Lookup(name) == nil {
			t.Errorf("%s has a kernel, but is not an op", name)
		}
	}
	t.Logf("ops executed: %v", count)
}
