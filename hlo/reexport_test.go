package hlo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
)

// reexported imports a module of one instruction beside its operands, and exports it as a whole.
func reexported(t *testing.T, text string) (string, error) {
	t.Helper()
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	m, err := hlo.Import(read(t, text), ir.NewContext(reg))
	if err != nil {
		return "", err
	}
	out, err := hlo.Export(m)
	if err != nil {
		return "", err
	}
	return string(out.AppendText(nil, hlo.TextOptions{})), nil
}

// TestAlgorithms: a dot has the same algorithm again.
func TestAlgorithms(t *testing.T) {
	for _, name := range []string{"dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum", "dot_f16_f16_f16", "dot_f16_f16_f32", "dot_bf16_bf16_bf16",
		"dot_bf16_bf16_f32", "dot_bf16_bf16_f32_x3", "dot_bf16_bf16_f32_x6", "dot_bf16_bf16_f32_x9", "dot_tf32_tf32_f32", "dot_tf32_tf32_f32_x3",
		"dot_f32_f32_f32", "dot_f64_f64_f64", "dot_bf16_bf16_fp8x3", "dot_bf16_bf16_fp8x4"} {
		elem := "f32"
		switch {
		case strings.HasPrefix(name, "dot_any_f8"):
			elem = "f8e5m2"
		case strings.HasPrefix(name, "dot_f16"):
			elem = "f16"
		case strings.HasPrefix(name, "dot_f64"):
			elem = "f64"
		}
		text := fmt.Sprintf("HloModule dot\n\nENTRY main {\n  x = %[1]s[2,3] parameter(0)\n  y = %[1]s[3,2] parameter(1)\n"+
			"  ROOT dot = %[1]s[2,2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}, algorithm=%[2]s\n}\n", elem, name)
		got, err := reexported(t, text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !strings.Contains(got, "algorithm="+name+"\n") && !strings.Contains(got, "algorithm="+name+",") {
			t.Errorf("%s becomes\n%s", name, got)
		}
	}
}

// TestOtherAlgorithms: Export refuses an algorithm that HLO does not have.
func TestOtherAlgorithms(t *testing.T) {
	const text = "HloModule dot\n\nENTRY main {\n  x = f32[2,2] parameter(0)\n  ROOT dot = f32[2,2] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n"
	for _, a := range []stablehlo.DotAlgorithm{
		{LHSPrecision: "f64", RHSPrecision: "f32", Accumulation: "f16", PrimitiveOperations: 1},
		{LHSPrecision: "bf16", RHSPrecision: "bf16", Accumulation: "f32", PrimitiveOperations: 2},
		{LHSPrecision: "f8E5M2", RHSPrecision: "f8E5M2", Accumulation: "f32", PrimitiveOperations: 2},
	} {
		m, err := hlo.Import(read(t, text), ir.NewContext(testkit.Registry(t)))
		if err != nil {
			t.Fatal(err)
		}
		m.Walk(func(op *ir.Op) bool {
			if op.Is(stablehlo.DotGeneral) {
				op.SetAttr(stablehlo.AttrAlgorithm, stablehlo.DotAlgorithmAttr.New(&a))
			}
			return true
		})
		for _, write := range []func(*ir.Module) (*hlo.Module, error){hlo.Export, hlo.Update} {
			if out, err := write(m); out != nil || err == nil || !strings.HasSuffix(err.Error(), "error: the algorithm has no equivalent in HLO") {
				t.Errorf("%v: %v", a, err)
			}
		}
	}
}

// TestReexport: instructions have the same attributes again.
func TestReexport(t *testing.T) {
	for _, text := range []string{
		"x = f32[4] parameter(0)\n  y = f32[4] parameter(1)\n  a = s32[2] parameter(2)\n  b = s32[2] parameter(3)\n  c = s32[2] parameter(4)\n  d = s32[2] parameter(5)\n  ROOT r = f32[4]{0} ragged-all-to-all(x, y, a, b, c, d), replica_groups={{0,1}}",
		"x = f32[4] parameter(0)\n  y = f32[4] parameter(1)\n  a = s32[2] parameter(2)\n  b = s32[2] parameter(3)\n  c = s32[2] parameter(4)\n  d = s32[2] parameter(5)\n  ROOT r = f32[4]{0} ragged-all-to-all(x, y, a, b, c, d), channel_id=1, replica_groups={{0,1},{3}}",
		"t = token[] after-all()\n  ROOT r = ((f32[4,2]{0,1}, s32[]), token[]) infeed(t), infeed_config=\"q\"",
		"x = f32[4] parameter(0)\n  ROOT r = f32[4]{0} custom-call(x), custom_call_target=\"f\", schedule=SCHEDULE_LATEST",
		"x = f32[4] parameter(0)\n  ROOT r = f32[4]{0} custom-call(x), custom_call_target=\"f\", schedule=SCHEDULE_EARLIEST",
		"x = f32[4] parameter(0)\n  ROOT r = f32[4]{0} custom-call(x), custom_call_target=\"f\", custom_call_has_side_effect=true, api_version=API_VERSION_STATUS_RETURNING_UNIFIED, backend_config=\"c\"",
		"x = f32[4,2]{0,1} parameter(0)\n  ROOT r = f32[4,2]{0,1} custom-call(x), custom_call_target=\"f\", operand_layout_constraints={f32[4,2]{0,1}}",
		"x = f32[4,2]{0,1} parameter(0)\n  ROOT r = (f32[4,2]{0,1}, f32[4]{0}) custom-call(x), custom_call_target=\"f\", output_to_operand_aliasing={{0}: (0, {})}",
		"ROOT r = u64[] rng-get-and-update-state(), delta=3",
		"x = f32[4,3] parameter(0)\n  ROOT r = f32[3,4]{1,0} transpose(x), dimensions={1,0}",
		"x = f32[4] parameter(0)\n  ROOT r = f32[2]{0} slice(x), slice={[0:4:2]}",
		"x = f32[4] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[9]{0} pad(x, z), padding=1_1_1",
		"x = f32[4] parameter(0)\n  ROOT r = (f32[2]{0}, s32[2]{0}) topk(x), k=2, largest=false",
		"x = f32[4] parameter(0)\n  ROOT r = (f32[2]{0}, s32[2]{0}) topk(x), k=2, largest=true",
		"x = f32[4] parameter(0)\n  ROOT r = f32[4]{0} all-to-all(x), channel_id=2, replica_groups={{0,1}}, dimensions={0}",
		"x = f32[4] parameter(0)\n  ROOT r = f32[4]{0} collective-permute(x), channel_id=2, source_target_pairs={{0,1},{1,0}}",
		"x = f32[4] parameter(0)\n  ROOT r = f32[4]{0} reduce-precision(x), exponent_bits=5, mantissa_bits=7",
		"x = f32[4] parameter(0)\n  ROOT r = c64[3]{0} fft(x), fft_type=RFFT, fft_length={4}",
		"x = f32[3,3] parameter(0)\n  y = f32[3,2] parameter(1)\n  ROOT r = f32[3,2]{1,0} triangular-solve(x, y), left_side=true, lower=true, unit_diagonal=true, transpose_a=TRANSPOSE",
		"x = f32[3,3] parameter(0)\n  ROOT r = f32[3,3]{1,0} cholesky(x), lower=true",
		"x = f32[2,3] parameter(0)\n  y = f32[2,3] parameter(1)\n  ROOT r = pred[2,3]{1,0} compare(x, y), direction=GE, type=TOTALORDER",
	} {
		whole := "HloModule m, num_partitions=4\n\nENTRY main {\n  " + text + "\n}\n"
		got, err := reexported(t, whole)
		if err != nil {
			t.Errorf("%s: %v", whole, err)
			continue
		}
		if attrs := text[strings.LastIndex(text, "), ")+3:]; !strings.Contains(got, attrs) {
			t.Errorf("%s becomes\n%s", text, got)
		}
	}
}
