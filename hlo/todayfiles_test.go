package hlo_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// TestTodaysFiles reads files that JAX 0.12 and its XLA wrote. HLO round-trips and becomes StableHLO; artifacts verify.
// want is a part of the module as text.
func TestTodaysFiles(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"callback.hlo":              "single_device[device_id=0]",
		"single_device.hlo":         "single_device[device_id=0]",
		"conditional_optimized.hlo": "get-tuple-element(%true_branch_param), index=0",
		"sharded.pb":                "mesh[",
		"unreduced.vhlo":            `in_shardings=[<@mesh, [{}], unreduced={"x"}>]`,
		"tiled.1.22.0.vhlo":         "result_tilings",
		"broadcast.1.22.0.vhlo":     "stablehlo.collective_broadcast",
		"collective_reduce.vhlo":    "stablehlo.collective_reduce",
	} {
		data, err := os.ReadFile(filepath.Join("..", "testdata", "today", name))
		if err != nil {
			t.Fatal(err)
		}
		src := diag.NewSource(name, data)
		var text string
		var m *ir.Module
		switch filepath.Ext(name) {
		case ".vhlo":
			if m, err = artifact.Read(src, ir.NewContext(reg)); err == nil {
				text = print.String(m, print.Options{})
			}
		default:
			var h *hlo.Module
			if filepath.Ext(name) == ".pb" {
				h, err = hlo.ParseProto(src)
			} else {
				h, err = hlo.Parse(src)
			}
			if err == nil {
				b := h.AppendText(nil, hlo.TextOptions{})
				text = string(b)
				again, err := hlo.Parse(diag.NewSource(name, b))
				if err != nil || !bytes.Equal(again.AppendText(nil, hlo.TextOptions{}), b) {
					t.Errorf("%s is not read back as it was printed: %v", name, err)
				}
				if m, err = hlo.Import(h, ir.NewContext(reg)); err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
			}
		}
		if err == nil {
			err = ir.Verify(m)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s: no %s in\n%s", name, want, text)
		}
	}
}
