//go:build !race

// Under the race detector, sync.Pool drops buffers at random, and ops allocate more than they charge.

package interp

import (
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// scratchCase is a program of one op on operands of about a million elements; $ is the element type.
type scratchCase struct {
	name, args, result, op string
	types                  string
	devices                int
}

func scratchCases() []scratchCase {
	region := func(op string) string {
		return fmt.Sprintf(` ({
  ^bb0(%%x: tensor<$>, %%y: tensor<$>):
    %%s = stablehlo.%s %%x, %%y : tensor<$>
    stablehlo.return %%s : tensor<$>
  })`, op)
	}
	general := ` ({
  ^bb0(%x: tensor<$>, %y: tensor<$>):
    %s = stablehlo.add %x, %y : tensor<$>
    %m = stablehlo.maximum %s, %y : tensor<$>
    stablehlo.return %m : tensor<$>
  })`
	less := func(extra string) string {
		return ` ({
  ^bb0(%x: tensor<$>, %y: tensor<$>` + extra + `):
    %s = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<$>, tensor<$>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  })`
	}
	return []scratchCase{
		{"broadcast_in_dim", "tensor<1000x$>", "tensor<1000x1000x$>", `"stablehlo.broadcast_in_dim"(%a0) <{broadcast_dimensions = array<i64: 1>}>`, "f32", 1},
		{"iota", "", "tensor<1000000x$>", `"stablehlo.iota"() <{iota_dimension = 0 : i64}>`, "f32 bf16 i8", 1},
		{"transpose", "tensor<1000x1000x$>", "tensor<1000x1000x$>", `"stablehlo.transpose"(%a0) <{permutation = array<i64: 1, 0>}>`, "f32 i8", 1},
		{"reverse", "tensor<1000x1000x$>", "tensor<1000x1000x$>", `"stablehlo.reverse"(%a0) <{dimensions = array<i64: 1, 0>}>`, "f32", 1},
		{"pad", "tensor<1000x1000x$>, tensor<$>", "tensor<2001x1000x$>", `"stablehlo.pad"(%a0, %a1) <{edge_padding_low = array<i64: 2, 0>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 1, 0>}>`, "f32", 1},
		{"concatenate", "tensor<1000x1000x$>, tensor<1000x1000x$>", "tensor<1000x2000x$>", `"stablehlo.concatenate"(%a0, %a1) <{dimension = 1 : i64}>`, "f32", 1},
		{"gather", "tensor<1000x1000x$>, tensor<1000x1xi32>", "tensor<1000x1000x$>", `"stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1000>}>`, "f32", 1},
		{"scatter", "tensor<1000x1000x$>, tensor<1000x1xi32>, tensor<1000x1000x$>", "tensor<1000x1000x$>", `"stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}>` + region("add"), "f32", 1},
		{"scatter general", "tensor<1000x1000x$>, tensor<1000x1xi32>, tensor<1000x1000x$>", "tensor<1000x1000x$>", `"stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}>` + general, "f32", 1},
		{"sort", "tensor<1000000x$>", "tensor<1000000x$>", `"stablehlo.sort"(%a0) <{dimension = 0 : i64}>` + less(""), "f32 i32 bf16", 1},
		{"sort columns", "tensor<1000x1000x$>", "tensor<1000x1000x$>", `"stablehlo.sort"(%a0) <{dimension = 0 : i64}>` + less(""), "f32", 1},
		{"sort pairs", "tensor<1000000x$>, tensor<1000000xf64>", "tensor<1000000x$>, tensor<1000000xf64>", `"stablehlo.sort"(%a0, %a1) <{dimension = 0 : i64}>` + less(", %p: tensor<f64>, %q: tensor<f64>"), "f32", 1},
		{"sort general", "tensor<300000x$>", "tensor<300000x$>", `"stablehlo.sort"(%a0) <{dimension = 0 : i64}>` + strings.Replace(strings.Replace(less(""), "%s =", "%n = stablehlo.negate %x : tensor<$>\n    %s =", 1), "(%x, %y) <{comp", "(%n, %y) <{comp", 1), "f32", 1},
		{"reduce rows", "tensor<1000x1000x$>, tensor<$>", "tensor<1000x$>", `"stablehlo.reduce"(%a0, %a1) <{dimensions = array<i64: 1>}>` + region("add"), "f32 bf16 i8 f8E5M2", 1},
		{"reduce columns", "tensor<1000x1000x$>, tensor<$>", "tensor<1000x$>", `"stablehlo.reduce"(%a0, %a1) <{dimensions = array<i64: 0>}>` + region("add"), "f32 bf16 i8", 1},
		{"reduce middle", "tensor<100x100x100x$>, tensor<$>", "tensor<100x100x$>", `"stablehlo.reduce"(%a0, %a1) <{dimensions = array<i64: 1>}>` + region("maximum"), "f32 f16", 1},
		{"reduce general", "tensor<1000x1000x$>, tensor<$>", "tensor<1000x$>", `"stablehlo.reduce"(%a0, %a1) <{dimensions = array<i64: 0>}>` + general, "f32", 1},
		{"reduce general rows", "tensor<1000x1000x$>, tensor<$>", "tensor<1000x$>", `"stablehlo.reduce"(%a0, %a1) <{dimensions = array<i64: 1>}>` + general, "f32", 1},
		{"reduce all general", "tensor<1000000x$>, tensor<$>", "tensor<$>", `"stablehlo.reduce"(%a0, %a1) <{dimensions = array<i64: 0>}>` + general, "f32", 1},
		{"reduce_window", "tensor<1000x1000x$>, tensor<$>", "tensor<999x998x$>", `"stablehlo.reduce_window"(%a0, %a1) <{window_dimensions = array<i64: 2, 3>}>` + region("add"), "f32 bf16", 1},
		{"reduce_window padded", "tensor<1000x1000x$>, tensor<$>", "tensor<1000x1000x$>", `"stablehlo.reduce_window"(%a0, %a1) <{window_dimensions = array<i64: 2, 3>, padding = dense<[[1, 0], [1, 1]]> : tensor<2x2xi64>}>` + region("add"), "f32", 1},
		{"reduce_window general", "tensor<1000x1000x$>, tensor<$>", "tensor<999x998x$>", `"stablehlo.reduce_window"(%a0, %a1) <{window_dimensions = array<i64: 2, 3>}>` + general, "f32", 1},
		{"select_and_scatter", "tensor<1000x1000x$>, tensor<500x500x$>, tensor<$>", "tensor<1000x1000x$>", `"stablehlo.select_and_scatter"(%a0, %a1, %a2) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}>` + strings.TrimSuffix(less(""), ")") + ", " + strings.TrimPrefix(region("add"), " ("), "f32", 1},
		{"map", "tensor<1000x1000x$>", "tensor<1000x1000x$>", `"stablehlo.map"(%a0) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%x: tensor<$>):
    %s = stablehlo.sine %x : tensor<$>
    %c = stablehlo.cosine %s : tensor<$>
    stablehlo.return %c : tensor<$>
  })`, "f32 bf16", 1},
		{"dot", "tensor<300x1000x$>, tensor<1000x300x$>", "tensor<300x300x$>", `"stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}>`, "f32 bf16 i8 f64", 1},
		{"dot in other order", "tensor<100x10x300x$>, tensor<100x300x10x$>", "tensor<300x300x$>", `"stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1, 0], rhs_contracting_dimensions = [2, 0]>}>`, "f32 bf16 i32", 1},
		{"old dot", "tensor<1000x1000x$>, tensor<1000x$>", "tensor<1000x$>", `"stablehlo.dot"(%a0, %a1)`, "f16", 1},
		{"einsum", "tensor<100x300x10x$>, tensor<100x10x30x$>", "tensor<30x300x$>", `"stablehlo.einsum"(%a0, %a1) <{einsum_config = "abc,acd->db"}>`, "f32", 1},
		{"unary_einsum", "tensor<1000x1000x$>", "tensor<1000x$>", `"stablehlo.unary_einsum"(%a0) <{einsum_config = "ab->b"}>`, "f32 bf16", 1},
		{"ragged_dot", "tensor<1000x300x$>, tensor<3x300x30x$>, tensor<3xi32>", "tensor<1000x30x$>", `"chlo.ragged_dot"(%a0, %a1, %a2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>`, "f32", 1},
		{"convolution", "tensor<1x100x100x64x$>, tensor<1x1x64x64x$>", "tensor<1x100x100x64x$>", `"stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}>`, "f32 bf16 i32", 1},
		{"convolution in other order", "tensor<1x64x100x100x$>, tensor<64x64x1x1x$>", "tensor<1x64x100x100x$>", `"stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}>`, "f32 f16", 1},
		{"fft", "tensor<1000x1000xcomplex<$>>", "tensor<1000x1000xcomplex<$>>", `"stablehlo.fft"(%a0) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 1000>}>`, "f32 f64", 1},
		{"rfft", "tensor<1024x1024x$>", "tensor<1024x513xcomplex<$>>", `"stablehlo.fft"(%a0) <{fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 1024, 1024>}>`, "f32 f64", 1},
		{"long fft", "tensor<1000003xcomplex<$>>", "tensor<1000003xcomplex<$>>", `"stablehlo.fft"(%a0) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 1000003>}>`, "f32", 1},
		{"cholesky", "tensor<200x70x70x$>", "tensor<200x70x70x$>", `"stablehlo.cholesky"(%a0) <{lower = true}>`, "f32 f64 complex<f32>", 1},
		{"triangular_solve", "tensor<50x100x100x$>, tensor<50x100x100x$>", "tensor<50x100x100x$>", `"stablehlo.triangular_solve"(%a0, %a1) <{left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}>`, "f32", 1},
		{"batch_norm_inference", "tensor<1000x1000x$>, tensor<1000x$>, tensor<1000x$>, tensor<1000x$>, tensor<1000x$>", "tensor<1000x1000x$>", `"stablehlo.batch_norm_inference"(%a0, %a1, %a2, %a3, %a4) <{epsilon = 0.1 : f32, feature_index = 1 : i64}>`, "f32", 1},
		{"batch_norm_training", "tensor<1000x1000x$>, tensor<1000x$>, tensor<1000x$>", "tensor<1000x1000x$>, tensor<1000x$>, tensor<1000x$>", `"stablehlo.batch_norm_training"(%a0, %a1, %a2) <{epsilon = 0.1 : f32, feature_index = 1 : i64}>`, "f32", 1},
		{"batch_norm_grad", "tensor<1000x1000x$>, tensor<1000x$>, tensor<1000x$>, tensor<1000x$>, tensor<1000x1000x$>", "tensor<1000x1000x$>, tensor<1000x$>, tensor<1000x$>", `"stablehlo.batch_norm_grad"(%a0, %a1, %a2, %a3, %a4) <{epsilon = 0.1 : f32, feature_index = 1 : i64}>`, "f32", 1},
		{"rng_bit_generator", "tensor<2xui64>", "tensor<2xui64>, tensor<1000000x$>", `"stablehlo.rng_bit_generator"(%a0) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}>`, "ui32 ui64 ui8", 1},
		{"rng", "tensor<$>, tensor<$>, tensor<1xi64>", "tensor<1000000x$>", `"stablehlo.rng"(%a0, %a1, %shape) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}>`, "f32 i32", 1},
		{"top_k", "tensor<1000x1000x$>", "tensor<1000x900x$>, tensor<1000x900xi32>", `"chlo.top_k"(%a0) <{k = 900 : i64}>`, "f32 i32", 1},
		{"scan", "tensor<1000x1000x$>, tensor<1000x$>", "tensor<1000x1000x$>, tensor<1000x$>", `"chlo.scan"(%a0, %a1) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: tensor<1000x$>, %y: tensor<1000x$>):
    %s = stablehlo.add %x, %y : tensor<1000x$>
    stablehlo.return %s, %s : tensor<1000x$>, tensor<1000x$>
  })`, "f32", 1},
		{"broadcast_add", "tensor<1000x1000x$>, tensor<1000x1x$>", "tensor<1000x1000x$>", `"chlo.broadcast_add"(%a0, %a1)`, "f32", 1},
		{"sine", "tensor<1000000x$>", "tensor<1000000x$>", `"stablehlo.sine"(%a0)`, "f32 bf16 f8E5M2 f64", 1},
		{"power", "tensor<1000000x$>, tensor<1000000x$>", "tensor<1000000x$>", `"stablehlo.power"(%a0, %a1)`, "f16 i32", 1},
		{"lgamma", "tensor<1000000x$>", "tensor<1000000x$>", `"chlo.lgamma"(%a0)`, "f32 bf16", 1},
		{"convert", "tensor<1000000x$>", "tensor<1000000xf8E5M2>", `"stablehlo.convert"(%a0)`, "f32 i4 f64 i64", 1},
		{"uniform_quantize", "tensor<1000000x$>", "tensor<1000000x!quant.uniform<i8:f32, 0.5>>", `"stablehlo.uniform_quantize"(%a0)`, "f32", 1},
		{"quantized add", "tensor<1000000x!quant.uniform<i8:f32, 0.5>>, tensor<1000000x!quant.uniform<i8:f32, 0.5>>", "tensor<1000000x!quant.uniform<i8:f32, 0.5>>", `"stablehlo.add"(%a0, %a1)`, "f32", 1},
		{"dynamic_slice", "tensor<1000x1000x$>, tensor<i32>, tensor<i32>", "tensor<900x900x$>", `"stablehlo.dynamic_slice"(%a0, %a1, %a2) <{slice_sizes = array<i64: 900, 900>}>`, "f32", 1},
		{"dynamic_update_slice", "tensor<1000x1000x$>, tensor<900x900x$>, tensor<i32>, tensor<i32>", "tensor<1000x1000x$>", `"stablehlo.dynamic_update_slice"(%a0, %a1, %a2, %a3)`, "f32", 1},
		{"torch_index_select", "tensor<1000x1000x$>, tensor<1000xi32>", "tensor<1000x1000x$>", `"stablehlo.torch_index_select"(%a0, %a1) <{dim = 0 : i64, batch_dims = 0 : i64}>`, "f32", 1},
		{"all_reduce", "tensor<1000x1000x$>", "tensor<1000x1000x$>", `"stablehlo.all_reduce"(%a0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>` + region("add"), "f32 bf16", 2},
		{"all_reduce general", "tensor<1000x1000x$>", "tensor<1000x1000x$>", `"stablehlo.all_reduce"(%a0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>` + general, "f32", 2},
		{"reduce_scatter", "tensor<1000x1000x$>", "tensor<500x1000x$>", `"stablehlo.reduce_scatter"(%a0) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>` + region("add"), "f32", 2},
		{"all_gather", "tensor<1000x1000x$>", "tensor<2000x1000x$>", `"stablehlo.all_gather"(%a0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>`, "f32", 2},
		{"all_to_all", "tensor<1000x1000x$>", "tensor<2000x500x$>", `"stablehlo.all_to_all"(%a0) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>`, "f32", 2},
		{"collective_permute", "tensor<1000x1000x$>", "tensor<1000x1000x$>", `"stablehlo.collective_permute"(%a0) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}>`, "f32", 2},
	}
}

// TestTemporariesAreCharged runs each op with a limit below its need and expects a refusal: an op charges its
// temporaries to the memory limit before it allocates them.
func TestTemporariesAreCharged(t *testing.T) {
	var unlimited []string
	for _, c := range scratchCases() {
		for _, d := range strings.Fields(c.types) {
			name := c.name + " " + d
			sub := func(s string) string { return strings.ReplaceAll(s, "$", d) }
			var params, types, prelude []string
			if c.args != "" {
				for i, ty := range strings.Split(sub(c.args), ", tensor") {
					ty = "tensor" + strings.TrimPrefix(ty, "tensor")
					types = append(types, ty)
					if i == 2 && strings.Contains(c.op, "%shape") {
						prelude = append(prelude, "  %shape = stablehlo.constant dense<1000000> : tensor<1xi64>\n")
						continue
					}
					params = append(params, fmt.Sprintf("%%a%d: %s", i, ty))
				}
			}
			op := sub(c.op)
			result := sub(c.result)
			n := strings.Count(result, "tensor<")
			var names []string
			for i := range n {
				names = append(names, fmt.Sprintf("%%r#%d", i))
			}
			text := fmt.Sprintf("func.func @main(%s) -> (%s) {\n%s  %%r:%d = %s : (%s) -> (%s)\n  return %s : %s\n}\n", strings.Join(params, ", "), result, strings.Join(prelude, ""), n, op,
				strings.Join(types, ", "), result, strings.Join(names, ", "), result)
			var args []*tensor.Tensor
			exe, err := compileWith(t, text, Options{}, runtime.CompileOptions{Replicas: c.devices})
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, text)
				continue
			}
			args = argumentsOf(t, params)
			// Kernels keep working memory of a fixed size for later runs of any program. Another executable fills these
			// pools first; a collection would empty them.
			percent := debug.SetGCPercent(-1)
			first, err := compileWith(t, text, Options{}, runtime.CompileOptions{Replicas: c.devices})
			if err == nil {
				_, err = first.Run(t.Context(), args)
			}
			if err != nil {
				t.Fatal(err)
			}
			before := allocated()
			out, err := exe.Run(t.Context(), args)
			debug.SetGCPercent(percent)
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, text)
				continue
			}
			took := allocated() - before
			_ = out
			limit := took*3/4 - 1<<20
			if c.devices > 1 { // the devices need their memory at different times
				limit = took/2 - 1<<20
			}
			if limit < 1 {
				unlimited = append(unlimited, name)
				continue // the result is small, and nothing else is allocated
			}
			exe, err = compileWith(t, text, Options{MemoryLimit: limit}, runtime.CompileOptions{Replicas: c.devices})
			if err == nil {
				_, err = exe.Run(t.Context(), args)
			}
			if err == nil {
				sum := int64(0)
				for _, r := range out {
					sum += int64(len(r.Bytes()))
				}
				t.Errorf("%s: takes %d bytes (%d of them results), but runs with a limit of %d", name, took, sum, limit)
			} else if !strings.Contains(err.Error(), "the memory limit is") || !strings.HasPrefix(err.Error(), "test.mlir:") {
				t.Errorf("%s: error is %v", name, err)
			}
		}
	}
	if len(unlimited) > 25 { // reductions and narrow products need no temporaries
		t.Errorf("%d ops need too little for a limit: %q", len(unlimited), unlimited)
	}
}

// argumentsOf makes arguments for the parameters of a program, given as text.
func argumentsOf(t *testing.T, params []string) []*tensor.Tensor {
	t.Helper()
	var out []*tensor.Tensor
	for _, p := range params {
		_, text, _ := strings.Cut(p, ": ")
		text = strings.ReplaceAll(text, "!quant.uniform<i8:f32, 0.5>", "i8")
		d, shape, err := tensor.ParseType(text)
		if err != nil {
			t.Fatal(err)
		}
		v := tensor.New(d, shape)
		n := v.NumElements()
		for i := range n {
			if d.IsComplex() {
				v.SetComplex(i, complex(float64(i%7)/8, 0.25))
			} else if d.IsFloat() {
				v.SetFloat(i, float64(i%7)/8+0.125)
			} else {
				v.SetFloat(i, float64(i%5))
			}
		}
		if len(shape) > 1 && shape[len(shape)-1] == shape[len(shape)-2] { // make the matrix well-conditioned
			k := int(shape[len(shape)-1])
			for i := range n {
				if i/k%k == i%k {
					v.SetFloat(i, float64(k))
				} else if d.IsFloat() || d.IsComplex() {
					v.SetFloat(i, 0.25)
				}
			}
		}
		out = append(out, v)
	}
	return out
}
