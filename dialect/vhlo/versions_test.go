package vhlo_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// targets returns every minor version that can be written, the oldest first.
func targets() []vhlo.Version {
	var out []vhlo.Version
	for minor := 9; minor <= 20; minor++ {
		out = append(out, vhlo.Version{Minor: minor})
	}
	for minor := 0; minor <= vhlo.Current.Minor; minor++ {
		out = append(out, vhlo.Version{Major: 1, Minor: minor})
	}
	return out
}

// oldest returns the oldest version that can express m, and the error of the version before. It fails if a newer
// version cannot express m, or if the artifact of the oldest version does not lead back to m.
func oldest(t *testing.T, m *ir.Module, keep bool) (vhlo.Version, error) {
	t.Helper()
	found, before := vhlo.Version{}, error(nil)
	for _, v := range targets() {
		old, err := vhlo.Downgrade(m, vhlo.Options{Target: v, KeepOthers: keep})
		if err != nil {
			if found != (vhlo.Version{}) {
				t.Fatalf("%s can express the module, %s cannot: %v", found, v, err)
			}
			before = err
			continue
		}
		if found != (vhlo.Version{}) {
			continue
		}
		found = v
		back, err := vhlo.Upgrade(old)
		if err != nil {
			t.Fatalf("target %s: %v", v, err)
		}
		if got, want := current(t, back), current(t, m); got != want {
			t.Fatalf("target %s: the artifact is read as\n%s\nand was written from\n%s", v, got, want)
		}
	}
	return found, before
}

// current returns m in the newest VHLO, which writes every default.
func current(t *testing.T, m *ir.Module) string {
	t.Helper()
	out, err := vhlo.Downgrade(m, vhlo.Options{Target: vhlo.Current, KeepOthers: true})
	if err != nil {
		t.Fatal(err)
	}
	return print.String(out, print.Options{})
}

// TestFeatures: a module with one feature that is newer than the op that has it can be written for the version that
// introduced the feature, and not for the version before, which says so.
func TestFeatures(t *testing.T) {
	attribute := func(a string) string {
		return "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = stablehlo.abs %x {extra = " + a + "} : tensor<2xf32>\n  return %0 : tensor<2xf32>\n}"
	}
	argument := func(typ string) string {
		return "func.func @f(%x: " + typ + ") -> " + typ + " {\n  return %x : " + typ + "\n}"
	}
	for _, c := range []struct{ name, text, since, says string }{
		{"accuracy", attribute("#stablehlo.result_accuracy<atol = 1.0, rtol = 0.0, ulps = 0, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>"), "1.9.0", "stablehlo.abs with extra: "},
		{"accuracy mode", attribute("#stablehlo.result_accuracy_mode<HIGHEST>"), "1.9.0", "stablehlo.abs with extra: "},
		{"accuracy in a list", attribute("[1 : i32, [#stablehlo.result_accuracy_mode<HIGHEST>]]"), "1.9.0", "stablehlo.abs with extra: "},
		{"accuracy in a dictionary", attribute("{a = 1 : i32, b = #stablehlo.result_accuracy_mode<HIGHEST>}"), "1.9.0", "stablehlo.abs with extra: "},
		{"f8E3M4 number", attribute("1.0 : f8E3M4"), "1.7.0", "the type f8E3M4 needs"},
		{"i2 number", attribute("1 : i2"), "1.2.0", "the type i2 needs"},
		{"f4E2M1FN constant", attribute("dense<1.0> : tensor<2xf4E2M1FN>"), "1.8.0", "the type f4E2M1FN needs"},
		{"type", attribute("tensor<2xf8E8M0FNU>"), "1.8.0", "the type f8E8M0FNU needs"},
		{"f8E4M3FNUZ", argument("tensor<f8E4M3FNUZ>"), "0.10.0", "the type f8E4M3FNUZ needs"},
		{"f8E4M3B11FNUZ", argument("tensor<f8E4M3B11FNUZ>"), "0.11.0", "the type f8E4M3B11FNUZ needs"},
		{"tuple of i2", argument("tuple<tensor<i1>, tuple<tensor<ui2>>>"), "1.2.0", "the type ui2 needs"},
		{"f32", argument("tensor<f32>"), "0.9.0", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := oldest(t, testkit.Parse(t, "in.mlir", c.text), false)
			if v.String() != c.since {
				t.Errorf("the oldest version is %s, want %s", v, c.since)
			}
			if c.says == "" {
				if err != nil {
					t.Errorf("an error: %v", err)
				}
			} else if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "needs StableHLO "+c.since+"; the target is ") {
				t.Errorf("the version before says %v", err)
			}
		})
	}
}

// TestOldest: testdata/oldest.txtar lists the oldest version for every op of the samples whose operands are arguments,
// and what the version before it says.
func TestOldest(t *testing.T) {
	golden.Texts(t, "testdata/oldest.txtar", func(t *testing.T, name, _ string) string {
		var out strings.Builder
		for _, s := range testkit.Samples(t, name) {
			v, err := oldest(t, testkit.Parse(t, name, s.Text()), true)
			fmt.Fprintf(&out, "%s %s", s.Op, v)
			var d *diag.Diagnostic
			if errors.As(err, &d) {
				fmt.Fprintf(&out, ": %.160s", d.Message)
			} else if err != nil {
				t.Errorf("%s: the error has no place: %v", s.Op, err)
			}
			out.WriteString("\n")
		}
		return out.String()
	})
}

// TestVersion: the form of versions and the bytecode of artifacts of each.
func TestVersion(t *testing.T) {
	for text, want := range map[string]vhlo.Version{
		"0.9.0": vhlo.Minimum, "1.22.0": vhlo.Current, "1.16.3": vhlo.Week12, "current": vhlo.Current, "NONE": vhlo.Current,
		"WEEK_4": {Major: 1, Minor: 18}, "WEEK_12": vhlo.Week12, "MAX": vhlo.Minimum, "12.34.56": {Major: 12, Minor: 34, Patch: 56},
	} {
		if v, err := vhlo.ParseVersion(text); err != nil || v != want {
			t.Errorf("%s is %v, %v", text, v, err)
		}
		if !strings.ContainsAny(text[:1], "01") {
			continue
		}
		if v, ok := vhlo.ProducerVersion(want.Producer()); !ok || v != want {
			t.Errorf("the producer of %s is read as %v, %t", want, v, ok)
		}
	}
	for _, text := range []string{"", "1", "1.2", "1.2.3.4", "1.x.3", "-1.2.3", "1.2.99999999999", "week_4"} {
		if v, err := vhlo.ParseVersion(text); err == nil || !strings.Contains(err.Error(), "expected a version such as") {
			t.Errorf("%q is %v, %v", text, v, err)
		}
		if v, ok := vhlo.ProducerVersion("StableHLO_v" + text); ok {
			t.Errorf("a producer of version %q is read as %v", text, v)
		}
	}
	if _, ok := vhlo.ProducerVersion("MLIR_v1.2.3"); ok {
		t.Error("a producer other than StableHLO has a version")
	}
	increasing := []vhlo.Version{{}, {Patch: 2}, {Minor: 1}, {Minor: 1, Patch: 1}, {Minor: 10}, {Major: 1}, {Major: 1, Patch: 1}, {Major: 2}}
	for i, v := range increasing {
		for k, w := range increasing {
			if v.Less(w) != (i < k) {
				t.Errorf("%s is older than %s: %t", v, w, v.Less(w))
			}
		}
	}
	// Upstream's Version.cpp: 0 before 0.10.0, 1 before 0.12.0, 3 before 0.14.0, 4 before 0.15.0, then 6.
	for text, want := range map[string]int{
		"0.9.0": 0, "0.9.9": 0, "0.10.0": 1, "0.11.9": 1, "0.12.0": 3, "0.13.0": 3, "0.13.9": 3, "0.14.0": 4, "0.14.2": 4, "0.15.0": 6, "1.0.0": 6, "1.20.0": 6,
	} {
		v, err := vhlo.ParseVersion(text)
		if err != nil || v.Bytecode() != want {
			t.Errorf("bytecode of %s has version %d, %v; want %d", text, v.Bytecode(), err, want)
		}
	}
	for text, says := range map[string]string{
		"0.8.9": "older than 0.9.0", "0.9.0": "", "1.22.0": "", "1.22.1": "newer than 1.22.0", "2.0.0": "newer than 1.22.0",
	} {
		v, err := vhlo.ParseVersion(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Check(); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("target %s: %v", text, err)
		}
	}
}
