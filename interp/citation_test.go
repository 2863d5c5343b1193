package interp

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/interp/internal/ops"
)

// unspecified lists the ops that have no section in StableHLO's specification.
var unspecified = map[string]string{
	"broadcast":          "not in HLO; broadcast_in_dim with new dimensions in front",
	"create_token":       "not in HLO; after_all of nothing",
	"cross-replica-sum":  "not in HLO; all_reduce by add",
	"dot":                "not in HLO; dot_general of vectors and matrices",
	"einsum":             "not in HLO",
	"unary_einsum":       "not in HLO",
	"torch_index_select": "not in HLO",
	"set_dimension_size": "not specified yet",
	"real_dynamic_slice": "not specified yet",
}

// otherSections are the sections that belong to no op.
var otherSections = map[string]bool{"dequantize_op_quantize": true, "Quantized element types": true, "Grouping in StableHLO": true}

// TestKernelsCiteTheSpecification: every op's kernel cites its section of the specification, in the comment of the
// function that makes the kernel or in the comment of its table of loops.
func TestKernelsCiteTheSpecification(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*.go", "internal/*/*.go"} {
		list, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, list...)
	}
	cited := map[string]string{}
	quote := regexp.MustCompile(`\(spec, ((?:"[^"]+"(?:, | and )?)+)`)
	name := regexp.MustCompile(`"([^"]+)"`)
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		// Join the lines of a comment: a citation may span two.
		joined := regexp.MustCompile(`\n\s*// `).ReplaceAllString(string(text), " ")
		for _, m := range quote.FindAllStringSubmatch(joined, -1) {
			for _, n := range name.FindAllStringSubmatch(m[1], -1) {
				cited[n[1]] = f
			}
		}
	}
	table := map[string]bool{}
	for d := range ops.BuildTable(&ops.Host{}) {
		table[d.Name] = true
	}
	for op := range table {
		short, ok := strings.CutPrefix(op, "stablehlo.")
		if !ok {
			continue // the specification covers StableHLO alone
		}
		switch {
		case unspecified[short] != "" && cited[short] != "":
			t.Errorf("%s cites a section on %s, which the specification lacks", cited[short], short)
		case unspecified[short] == "" && cited[short] == "":
			t.Errorf("no kernel cites the section on %s", short)
		}
	}
	for section, f := range cited {
		if !table["stablehlo."+section] && !otherSections[section] {
			t.Errorf("%s cites a section %q, which the specification lacks", f, section)
		}
	}
}
