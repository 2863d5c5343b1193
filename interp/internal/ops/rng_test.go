package ops_test

import (
	"fmt"
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

// TestRngBitGenerator expects the bits of XLA's CPU backend (measured with jaxlib 0.10.2).
func TestRngBitGenerator(t *testing.T) {
	const key, ctr, high = 0x0123456789abcdef, 0xfedcba9876543210, 0x1122334455667788
	for _, c := range []struct {
		algorithm string
		state     []uint64
		typ       string
		next      uint64
		want      string
	}{
		{"THREE_FRY", []uint64{key, ctr}, "5xui32", ctr + 3, "[aed4a37f 1130d111 c3cc4d02 798e402e aee5264e]"},
		{"THREE_FRY", []uint64{key, ctr}, "2x3xui32", ctr + 3, "[aed4a37f c3cc4d02 aee5264e 1130d111 798e402e b089da7a]"},
		{"THREE_FRY", []uint64{key, ctr}, "3x3xui32", ctr + 6, "[aed4a37f c3cc4d02 aee5264e 1130d111 798e402e b089da7a 49b105a8 e8e52210 f0a39a78]"},
		{"THREE_FRY", []uint64{key, ctr}, "4x2xui32", ctr + 4, "[aed4a37f c3cc4d02 1130d111 798e402e aee5264e 49b105a8 b089da7a af0a8d99]"},
		{"THREE_FRY", []uint64{key, ctr}, "3x5xui32", ctr + 9, "[aed4a37f 1130d111 c3cc4d02 798e402e aee5264e 49b105a8 af0a8d99 e8e52210 dde94182 f0a39a78 e2a77238 403dbb94 ace8e6a6 c3dc607f 56cf7af2]"},
		{"THREE_FRY", []uint64{key, ctr}, "2xui64", ctr + 2, "[1130d111aed4a37f 798e402ec3cc4d02]"},
		{"THREE_FRY", []uint64{key, ctr}, "5xui16", ctr + 3, "[a37f d111 4d02 402e 264e]"},
		{"PHILOX", []uint64{key, ctr}, "5xui32", ctr + 2, "[1ec53d42 cfa390b5 f2235702 e71ff917 cb472319]"},
		{"PHILOX", []uint64{key, ctr}, "3xui64", ctr + 2, "[cfa390b51ec53d42 e71ff917f2235702 d682777acb472319]"},
		{"PHILOX", []uint64{key, ctr, high}, "5xui8", ctr + 2, "[da af 6 91 95]"},
		{"DEFAULT", []uint64{key, ctr, high}, "2x3xui32", ctr + 2, "[6cf185da 70c6f6af 5025c806 a2ecc791 97976295 b7517d47]"},
		{"PHILOX", []uint64{5, 1<<64 - 1, high}, "9xui32", 2, "[18b67298 e6b89e29 d86c49af d1537df5 519f176 28835dc1 e2d56e43 8c2b08e4 817be815]"},
		{"PHILOX", []uint64{5, 1<<64 - 1}, "9xui32", 2, "[4e5aa1ba f08b4400 979e52b9 f8215f0c 3dae66b d8ab4d53 ea579295 2b5923e7 128ceecd]"},
	} {
		st := tensor.New(tensor.UI64, tensor.Shape{int64(len(c.state))})
		copy(tensor.View[uint64](st), c.state)
		n := len(c.state)
		out := run(t, fmt.Sprintf(`func.func @main(%%a: tensor<%dxui64>) -> (tensor<%dxui64>, tensor<%s>) {
  %%s, %%o = stablehlo.rng_bit_generator %%a, algorithm = %s : (tensor<%dxui64>) -> (tensor<%dxui64>, tensor<%s>)
  return %%s, %%o : tensor<%dxui64>, tensor<%s>
}`, n, n, c.typ, c.algorithm, n, n, c.typ, n, c.typ), st)
		var got []string
		for i := range out[1].NumElements() {
			got = append(got, fmt.Sprintf("%x", out[1].Bits(i)))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s %v %s: got %v, want %s", c.algorithm, c.state, c.typ, got, c.want)
		}
		if next := tensor.View[uint64](out[0])[1]; next != c.next {
			t.Errorf("%s %v %s: the counter becomes %x, want %x", c.algorithm, c.state, c.typ, next, c.next)
		}
	}
}

// TestRngStreams: the numbers of an rng depend on the function's name and on the op's position among the rng ops, not
// on the rest of the text.
func TestRngStreams(t *testing.T) {
	const head, rng = "%l = stablehlo.constant dense<0.0> : tensor<f32>\n%h = stablehlo.constant dense<1.0> : tensor<f32>\n%s = stablehlo.constant dense<4> : tensor<1xi64>\n",
		"stablehlo.rng %l, %h, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>\n"
	values := func(name, body string) [2]string {
		t.Helper()
		out := run(t, "func.func @"+name+"() -> (tensor<4xf32>, tensor<4xf32>) {\n"+head+body+"return %a, %b : tensor<4xf32>, tensor<4xf32>\n}")
		return [2]string{fmt.Sprint(tensor.View[float32](out[0])), fmt.Sprint(tensor.View[float32](out[1]))}
	}
	plain := values("main", "%a = "+rng+"%b = "+rng)
	if plain[0] == plain[1] {
		t.Errorf("two ops give the same numbers %s", plain[0])
	}
	if got := values("main", "// A comment.\n%a = "+rng+"%c = stablehlo.negate %l : tensor<f32>\n%b = "+rng); got != plain {
		t.Errorf("a comment and another op change %v to %v", plain, got)
	}
	if got := values("other", "%a = "+rng+"%b = "+rng); got[0] == plain[0] {
		t.Errorf("two functions give the same numbers %s", got[0])
	}
}
