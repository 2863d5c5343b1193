package interp

import (
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/runtime"
)

// TestHugeAllocationsAreRefused: a program that needs far more memory than the machine has gets a located error before
// anything of that size is allocated. Results, temporaries, plans, queues and growing lists all count.
func TestHugeAllocationsAreRefused(t *testing.T) {
	add := ` ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  })`
	conv := `"stablehlo.convolution"(%c, %k) <{padding = dense<[[@, 0]]> : tensor<1x2xi64>, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x1000000000003x1xf32>`
	for _, c := range []struct{ name, ops, op string }{
		{"broadcast_in_dim", `%r = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<1000000x1000000xf32>`, ""},
		{"broadcast", `%r = stablehlo.broadcast %f, sizes = [1000000, 1000000] : (tensor<f32>) -> tensor<1000000x1000000xf32>`, "stablehlo.broadcast_in_dim"},
		{"iota", `%r = stablehlo.iota dim = 0 : tensor<1000000000000xi8>`, ""},
		{"constant splat", `%r = stablehlo.constant dense<1.0> : tensor<1000000x1000000xf32>`, "stablehlo.constant"},
		{"pad", `%r = stablehlo.pad %v, %f, low = [0], high = [1000000000000], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<1000000000004xf32>`, ""},
		{"pad inside", `%r = stablehlo.pad %v, %f, low = [0], high = [0], interior = [1000000000000] : (tensor<4xf32>, tensor<f32>) -> tensor<3000000000004xf32>`, ""},
		{"concatenate", `%a = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<8000000xf32>
  %r = stablehlo.concatenate %a, %a, %a, dim = 0 : (tensor<8000000xf32>, tensor<8000000xf32>, tensor<8000000xf32>) -> tensor<24000000xf32>`, "stablehlo.concatenate"},
		{"gather", `%i = stablehlo.constant dense<0> : tensor<1000000x1xi32>
  %a = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<1x1000000xf32>
  %r = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1000000>}> : (tensor<1x1000000xf32>, tensor<1000000x1xi32>) -> tensor<1000000x1000000xf32>`, "stablehlo.gather"},
		{"gather of a large window", `%i = stablehlo.constant dense<0> : tensor<1x1xi32>
  %a = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<3000x3000xf32>
  %r = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2999, 2999>}> : (tensor<3000x3000xf32>, tensor<1x1xi32>) -> tensor<1x2999x2999xf32>`, "stablehlo.gather"},
		{"scatter of a large window", `%i = stablehlo.constant dense<0> : tensor<1x1xi32>
  %a = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2200x2200xf32>
  %u = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<1x2199x2199xf32>
  %q = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}>` + add + ` : (tensor<2200x2200xf32>, tensor<1x1xi32>, tensor<1x2199x2199xf32>) -> tensor<2200x2200xf32>
  %r = stablehlo.add %q, %q : (tensor<2200x2200xf32>, tensor<2200x2200xf32>) -> tensor<2200x2200xf32>`, "runs"}, // the engine makes no table of the window
		{"dot", `%a = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<1000000xf32>
  %r = stablehlo.dot_general %a, %a, contracting_dims = [] x [] : (tensor<1000000xf32>, tensor<1000000xf32>) -> tensor<1000000x1000000xf32>`, "stablehlo.dot_general"},
		{"convolution", "%c = stablehlo.constant dense<1.0> : tensor<1x4x1xf32>\n  %k = stablehlo.constant dense<1.0> : tensor<2x1x1xf32>\n  %r = " + strings.Replace(conv, "@", "1000000000000", 1), "stablehlo.convolution"},
		{"dilated convolution", `%c = stablehlo.constant dense<1.0> : tensor<1x4x1xf32>
  %k = stablehlo.constant dense<1.0> : tensor<2x1x1xf32>
  %r = "stablehlo.convolution"(%c, %k) <{lhs_dilation = array<i64: 1000000000>, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x3000000000x1xf32>`, "stablehlo.convolution"},
		{"reduce_window", `%r = "stablehlo.reduce_window"(%v, %f) <{window_dimensions = array<i64: 500000000000>, window_strides = array<i64: 999999999999>, padding = dense<[[500000000000, 1000000000000]]> : tensor<1x2xi64>}>` + add +
			` : (tensor<4xf32>, tensor<f32>) -> tensor<2xf32>`, "stablehlo.reduce_window"},
		{"select_and_scatter", `%w = stablehlo.constant dense<1.0> : tensor<2xf32>
  %r = "stablehlo.select_and_scatter"(%v, %w, %f) <{window_dimensions = array<i64: 500000000000>, window_strides = array<i64: 999999999999>, padding = dense<[[500000000000, 1000000000000]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }, ` + strings.TrimPrefix(add, " (") + ` : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>`, "stablehlo.reduce_window"},
		{"rng_bit_generator", `%s = stablehlo.constant dense<1> : tensor<2xui64>
  %o, %r = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<1000000000000xui32>)`, "stablehlo.rng_bit_generator"},
		{"rng", `%s = stablehlo.constant dense<1000000000000> : tensor<1xi64>
  %r = stablehlo.rng %f, %f, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<1000000000000xf32>`, "stablehlo.rng"},
		{"dynamic_iota", `%n = stablehlo.constant dense<1000000000000> : tensor<1xi64>
  %r = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi64>) -> tensor<?xf32>`, "stablehlo.dynamic_iota"},
		{"dynamic_broadcast_in_dim", `%n = stablehlo.constant dense<[1000000, 1000000]> : tensor<2xi64>
  %r = stablehlo.dynamic_broadcast_in_dim %f, %n, dims = [] : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>`, "stablehlo.dynamic_broadcast_in_dim"},
		{"dynamic_pad", `%z = stablehlo.constant dense<0> : tensor<1xi64>
  %n = stablehlo.constant dense<1000000000000> : tensor<1xi64>
  %r = stablehlo.dynamic_pad %v, %f, %z, %n, %z : (tensor<4xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>`, "stablehlo.dynamic_pad"},
		{"dimensions that overflow", `%n = stablehlo.constant dense<[4294967296, 4294967296, 4294967296]> : tensor<3xi64>
  %r = stablehlo.dynamic_iota %n, dim = 0 : (tensor<3xi64>) -> tensor<?x?x?xf32>`, "impossible shape [4294967296 4294967296 4294967296]"},
		{"a size below zero", `%n = stablehlo.constant dense<-5> : tensor<1xi64>
  %r = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi64>) -> tensor<?xf32>`, "a negative size -5"},
		{"while", `%o = stablehlo.iota dim = 0 : tensor<2xi32>
  %d = stablehlo.convert %o : (tensor<2xi32>) -> tensor<?xi32>
  %r = stablehlo.while(%g = %d) : tensor<?xi32>
    cond {
      %c = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %w = stablehlo.concatenate %g, %g, dim = 0 : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
      stablehlo.return %w : tensor<?xi32>
    }`, "stablehlo.concatenate"},
		{"while with pads", `%d = stablehlo.convert %v : (tensor<4xf32>) -> tensor<?xf32>
  %one = stablehlo.constant dense<1> : tensor<1xi64>
  %r = stablehlo.while(%g = %d) : tensor<?xf32>
    cond {
      %c = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %z = stablehlo.constant dense<0> : tensor<1xi64>
      %w = stablehlo.dynamic_pad %g, %f, %one, %one, %one : (tensor<?xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
      stablehlo.return %w : tensor<?xf32>
    }`, "stablehlo.dynamic_pad"},
		{"sort", `%a = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<6000000xf32>
  %r = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) : (tensor<6000000xf32>) -> tensor<6000000xf32>`, "stablehlo.sort"},
		{"fft", `%a = stablehlo.constant dense<(1.0, 0.0)> : tensor<2000000xcomplex<f32>>
  %r = stablehlo.fft %a, type = FFT, length = [2000000] : (tensor<2000000xcomplex<f32>>) -> tensor<2000000xcomplex<f32>>`, "stablehlo.fft"},
		{"einsum", `%a = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<1000000xf32>
  %r = stablehlo.einsum %a, %a, config = "a,b->ab" : (tensor<1000000xf32>, tensor<1000000xf32>) -> tensor<1000000x1000000xf32>`, "stablehlo.dot_general"},
		{"broadcast_add", `%a = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<1000000x1xf32>
  %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<1000000xf32>
  %r = chlo.broadcast_add %a, %b : (tensor<1000000x1xf32>, tensor<1000000xf32>) -> tensor<1000000x1000000xf32>`, "stablehlo.add"},
		{"torch_index_select", `%i = stablehlo.constant dense<0> : tensor<1000000xi32>
  %a = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<1x1000000xf32>
  %r = "stablehlo.torch_index_select"(%a, %i) <{dim = 0 : i64, batch_dims = 0 : i64}> : (tensor<1x1000000xf32>, tensor<1000000xi32>) -> tensor<1000000x1000000xf32>`, "stablehlo.gather"},
		{"probes in a loop", `%r = stablehlo.while(%g = %v) : tensor<4xf32>
    cond {
      %c = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %a = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<100000xf32>
      %p = interpreter.probe %a, probe_id = "p" : tensor<100000xf32>
      check.expect_serialized_eq %p, probe_id = "p", iter = 1 : tensor<100000xf32>
      stablehlo.return %g : tensor<4xf32>
    }`, "interpreter.probe"},
	} {
		ty := c.ops[strings.LastIndex(c.ops, "-> ")+3:]
		switch {
		case strings.Contains(c.name, "iota") && c.name != "dynamic_iota", strings.HasPrefix(c.name, "constant"):
			ty = c.ops[strings.LastIndex(c.ops, ": ")+2:]
		case strings.HasPrefix(c.name, "while"):
			ty = "tensor<?xi32>"
			if c.name != "while" {
				ty = "tensor<?xf32>"
			}
		case c.name == "probes in a loop":
			ty = "tensor<4xf32>"
		case c.name == "rng_bit_generator":
			ty = "tensor<1000000000000xui32>"
		}
		text := fmt.Sprintf("func.func @main() -> %s {\n  %%f = stablehlo.constant dense<1.0> : tensor<f32>\n  %%v = stablehlo.constant dense<1.0> : tensor<4xf32>\n  %s\n  return %%r : %s\n}\n", ty, c.ops, ty)
		before := allocated()
		exe, err := compileWith(t, text, Options{MemoryLimit: 1 << 26}, runtime.CompileOptions{})
		if err == nil {
			_, err = exe.Run(t.Context(), nil)
		}
		if took := allocated() - before; took > 1<<27 {
			t.Errorf("%s: %d bytes are allocated with a limit of %d", c.name, took, 1<<26)
		}
		switch {
		case c.op == "runs":
			if err != nil {
				t.Errorf("%s: error is %v", c.name, err)
			}
		case err == nil:
			t.Errorf("%s: is executed", c.name)
		case !strings.HasPrefix(err.Error(), "test.mlir:"):
			t.Errorf("%s: error is %v", c.name, err)
		case strings.Contains(c.op, " size ") || strings.Contains(c.op, " shape "):
			if !strings.Contains(err.Error(), c.op) {
				t.Errorf("%s: error is %v", c.name, err)
			}
		default:
			op := c.op
			if op == "" {
				op = "stablehlo." + strings.Fields(c.name)[0]
			}
			if !strings.Contains(err.Error(), "'"+op+"' op needs ") || !strings.HasSuffix(err.Error(), "the memory limit is 67108864") {
				t.Errorf("%s: error is %v", c.name, err)
			}
		}
	}
}

func allocated() int64 {
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return int64(m.TotalAlloc)
}
