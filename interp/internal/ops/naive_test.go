package ops_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

// grid is a number of replicas and partitions. A process has the number replica * partitions + partition.
type grid struct{ replicas, partitions int }

// groups returns groups of processes from groups of the numbers in an attribute, by the rules of the specification,
// "Grouping in StableHLO".
func (g grid) groups(rule string, lists [][]int) (out [][]int) {
	for _, list := range lists {
		switch rule {
		case "replica":
			for p := range g.partitions {
				var group []int
				for _, r := range list {
					group = append(group, r*g.partitions+p)
				}
				out = append(out, group)
			}
		case "partition":
			for r := range g.replicas {
				var group []int
				for _, p := range list {
					group = append(group, r*g.partitions+p)
				}
				out = append(out, group)
			}
		case "both":
			var group []int
			for p := range g.partitions {
				for _, r := range list {
					group = append(group, r*g.partitions+p)
				}
			}
			out = append(out, group)
		case "flat":
			out = append(out, list)
		}
	}
	return out
}

// randomLists partitions the numbers below n into groups of one size.
func randomLists(rng *rand.Rand, n int) [][]int {
	var sizes []int
	for s := 1; s <= n; s++ {
		if n%s == 0 {
			sizes = append(sizes, s)
		}
	}
	return slices.Collect(slices.Chunk(rng.Perm(n), sizes[rng.IntN(len(sizes))]))
}

func denseOf(lists [][]int) string {
	return fmt.Sprintf("dense<%s> : tensor<%dx%dxi64>", strings.ReplaceAll(fmt.Sprint(lists), " ", ", "), len(lists), len(lists[0]))
}

// TestCollectivesOnGrids compares collectives on grids of devices with an evaluation of the specification on all
// processes.
func TestCollectivesOnGrids(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	const rows, cols = 2, 12
	for _, g := range []grid{{1, 2}, {2, 1}, {3, 1}, {1, 4}, {2, 2}, {2, 3}, {3, 2}, {4, 1}} {
		n := g.replicas * g.partitions
		for round := range 30 {
			name := []string{"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_broadcast", "collective_permute"}[round%6]
			exchange := strings.HasPrefix(name, "collective") || name == "all_to_all"
			rule, attrs := "replica", ""
			switch k := rng.IntN(3); {
			case exchange && k > 0:
				rule, attrs = "partition", ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
			case !exchange && k == 1:
				rule, attrs = "both", ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
			case !exchange && k == 2:
				rule, attrs = "flat", ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids"
			}
			limit := map[string]int{"replica": g.replicas, "partition": g.partitions, "both": g.replicas, "flat": n}[rule]
			lists := randomLists(rng, limit)
			groups := g.groups(rule, lists)
			size := len(groups[0])
			dim := rng.IntN(2)
			in := make([][]int32, n) // by process, [rows][cols]
			for p := range in {
				for i := range rows * cols {
					in[p] = append(in[p], int32(i+1000*(p/g.partitions)+100*(p%g.partitions)))
				}
			}
			shape, out := [2]int{rows, cols}, make([][]int32, n)
			at := func(p, i, j int) int32 { return in[p][i*cols+j] }
			fill := func(p int, f func(i, j int) int32) {
				for i := range shape[0] {
					for j := range shape[1] {
						out[p] = append(out[p], f(i, j))
					}
				}
			}
			op, region := "", ""
			groupsAttr := "replica_groups = " + denseOf(lists)
			// A fold that depends on the order: twice the first, minus the second.
			fold := func(group []int, i, j int) int32 {
				acc := at(group[0], i, j)
				for _, q := range group[1:] {
					acc = 2*acc - at(q, i, j)
				}
				return acc
			}
			if name == "all_reduce" || name == "reduce_scatter" {
				region = ` ({ ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s1 = stablehlo.add %a, %a : tensor<i32>
    %s2 = stablehlo.subtract %s1, %b : tensor<i32>
    stablehlo.return %s2 : tensor<i32> })`
			}
			each := func(f func(group []int, k, p int)) {
				for _, group := range groups {
					for k, p := range group {
						f(group, k, p)
					}
				}
			}
			switch name {
			case "all_reduce":
				op = groupsAttr
				each(func(group []int, _, p int) { fill(p, func(i, j int) int32 { return fold(group, i, j) }) })
			case "all_gather":
				op = groupsAttr + fmt.Sprintf(", all_gather_dim = %d : i64", dim)
				shape[dim] *= size
				each(func(group []int, _, p int) {
					fill(p, func(i, j int) int32 { return at(group[[2]int{i / rows, j / cols}[dim]], i%rows, j%cols) })
				})
			case "reduce_scatter":
				if dim == 0 && rows%size != 0 || cols%size != 0 {
					continue
				}
				op = groupsAttr + fmt.Sprintf(", scatter_dimension = %d : i64", dim)
				shape[dim] /= size
				each(func(group []int, k, p int) {
					fill(p, func(i, j int) int32 {
						x := [2]int{i, j}
						x[dim] += k * shape[dim]
						return fold(group, x[0], x[1])
					})
				})
			case "all_to_all":
				if cols%size != 0 {
					continue
				}
				op = groupsAttr + fmt.Sprintf(", split_dimension = 1 : i64, concat_dimension = %d : i64, split_count = %d : i64", dim, size)
				shape[1] /= size
				piece := shape[1]
				shape[dim] *= size
				each(func(group []int, k, p int) {
					fill(p, func(i, j int) int32 { return at(group[[2]int{i / rows, j / piece}[dim]], i%rows, k*piece+j%piece) })
				})
			case "collective_broadcast":
				op = groupsAttr
				each(func(group []int, _, p int) { fill(p, func(i, j int) int32 { return at(group[0], i, j) }) })
			case "collective_permute":
				var pairs [][]int
				from, to := rng.Perm(limit), rng.Perm(limit)
				for k := range 1 + rng.IntN(limit) {
					pairs = append(pairs, []int{from[k], to[k]})
				}
				op = "source_target_pairs = " + denseOf(pairs)
				zero := func(int, int) int32 { return 0 }
				for p := range n {
					r, q := p/g.partitions, p%g.partitions
					f := zero
					for _, pair := range pairs {
						if rule == "replica" && pair[1] == r {
							f = func(i, j int) int32 { return at(pair[0]*g.partitions+q, i, j) }
						} else if rule == "partition" && pair[1] == q {
							f = func(i, j int) int32 { return at(r*g.partitions+pair[0], i, j) }
						}
					}
					fill(p, f)
				}
			}
			result := fmt.Sprintf("tensor<%dx%dxi32>", shape[0], shape[1])
			var all []int
			for p := range n {
				all = append(all, p)
			}
			text := fmt.Sprintf(`module attributes {mhlo.num_replicas = %d : i32, mhlo.num_partitions = %d : i32} {
func.func public @main() -> (tensor<%dx%dxi32>) {
  %%r = stablehlo.replica_id : tensor<ui32>
  %%p = stablehlo.partition_id : tensor<ui32>
  %%h = stablehlo.constant dense<100> : tensor<ui32>
  %%t = stablehlo.constant dense<1000> : tensor<ui32>
  %%u = stablehlo.multiply %%r, %%t : tensor<ui32>
  %%v = stablehlo.multiply %%p, %%h : tensor<ui32>
  %%w = stablehlo.add %%u, %%v : tensor<ui32>
  %%c = stablehlo.convert %%w : (tensor<ui32>) -> tensor<i32>
  %%l = stablehlo.broadcast_in_dim %%c, dims = [] : (tensor<i32>) -> tensor<2x12xi32>
  %%i = stablehlo.iota dim = 0 : tensor<24xi32>
  %%k = stablehlo.reshape %%i : (tensor<24xi32>) -> tensor<2x12xi32>
  %%x = stablehlo.add %%k, %%l : tensor<2x12xi32>
  %%y = "stablehlo.%s"(%%x) <{%s%s}>%s : (tensor<2x12xi32>) -> %s
  %%z = "stablehlo.all_gather"(%%y) <{all_gather_dim = 0 : i64, replica_groups = %s, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}> : (%s) -> tensor<%dx%dxi32>
  return %%z : tensor<%dx%dxi32>
}
}`, g.replicas, g.partitions, n*shape[0], shape[1], name, op, attrs, region, result, denseOf([][]int{all}), result, n*shape[0], shape[1], n*shape[0], shape[1])
			results, err := tryRun(t, text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			got, want := tensor.View[int32](results[0]), slices.Concat(out...)
			if !slices.Equal(got, want) {
				t.Fatalf("%v: %s with %s\n%v, want\n%v", g, name, op, got, want)
			}
		}
	}
}

// A choice is a random region of x, i, y and j, as text and as a function.
type choice struct {
	rng  *rand.Rand
	text strings.Builder
	next int
	x, i string // element types
}

type numbers4 [4]float64 // x, i, y, j

func (c *choice) op(format string, args ...any) string {
	c.next++
	name := fmt.Sprintf("%%v%d", c.next)
	fmt.Fprintf(&c.text, "    %s = stablehlo.%s\n", name, fmt.Sprintf(format, args...))
	return name
}

var argNames = [4]string{"%x", "%i", "%y", "%j"}

// value returns a choice between two arguments: those of even or of odd numbers.
func (c *choice) value(odd, depth int) (string, func(numbers4) float64) {
	if depth == 0 {
		k := 2*c.rng.IntN(2) + odd
		return argNames[k], func(v numbers4) float64 { return v[k] }
	}
	typ := []string{c.x, c.i}[odd]
	pred, p := c.truth(depth - 1)
	a, f := c.value(odd, c.rng.IntN(depth))
	b, g := c.value(odd, c.rng.IntN(depth))
	return c.op("select %s, %s, %s : tensor<i1>, tensor<%s>", pred, a, b, typ), func(v numbers4) float64 {
		if p(v) {
			return f(v)
		}
		return g(v)
	}
}

func (c *choice) truth(depth int) (string, func(numbers4) bool) {
	if depth > 0 && c.rng.IntN(2) == 0 {
		a, f := c.truth(depth - 1)
		b, g := c.truth(depth - 1)
		switch c.rng.IntN(4) {
		case 0:
			return c.op("and %s, %s : tensor<i1>", a, b), func(v numbers4) bool { return f(v) && g(v) }
		case 1:
			return c.op("or %s, %s : tensor<i1>", a, b), func(v numbers4) bool { return f(v) || g(v) }
		case 2:
			return c.op("xor %s, %s : tensor<i1>", a, b), func(v numbers4) bool { return f(v) != g(v) }
		}
		return c.op("not %s : tensor<i1>", a), func(v numbers4) bool { return !f(v) }
	}
	odd := c.rng.IntN(2)
	typ, kind := []string{c.x, c.i}[odd], []string{"FLOAT", "SIGNED"}[odd]
	k, l := 2*c.rng.IntN(2)+odd, 2*c.rng.IntN(2)+odd
	dir := []string{"LT", "LE", "GT", "GE", "EQ", "NE"}[c.rng.IntN(6)]
	name := c.op("compare %s, %s, %s, %s : (tensor<%s>, tensor<%[5]s>) -> tensor<i1>", dir, argNames[k], argNames[l], kind, typ)
	return name, func(v numbers4) bool {
		a, b := v[k], v[l]
		return map[string]bool{"LT": a < b, "LE": a <= b, "GT": a > b, "GE": a >= b, "EQ": a == b, "NE": a != b}[dir]
	}
}

// TestChoicesAtRandom: a reduction of two values by comparisons yields what its region yields step by step, also for
// NaNs.
func TestChoicesAtRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	kinds := map[bool]int{}
	for round := range 400 {
		c := &choice{rng: rng, x: "f32", i: "i32"}
		x, f := c.value(0, 1+rng.IntN(2))
		i, g := c.value(1, 1+rng.IntN(2))
		const n = 7
		text := fmt.Sprintf(`func.func public @main(%%a: tensor<%dxf32>, %%b: tensor<%[1]dxi32>, %%p: tensor<f32>, %%q: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %%r:2 = stablehlo.reduce(%%a init: %%p), (%%b init: %%q) across dimensions = [0] : (tensor<%[1]dxf32>, tensor<%[1]dxi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
   reducer(%%x: tensor<f32>, %%y: tensor<f32>) (%%i: tensor<i32>, %%j: tensor<i32>) {
%s    stablehlo.return %s, %s : tensor<f32>, tensor<i32>
  }
  return %%r#0, %%r#1 : tensor<f32>, tensor<i32>
}`, n, c.text.String(), x, i)
		exe, err := compileText(t, text)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			a, b := tensor.New(tensor.F32, tensor.Shape{n}), tensor.New(tensor.I32, tensor.Shape{n})
			p, q := tensor.New(tensor.F32, nil), tensor.New(tensor.I32, nil)
			number := func() float64 {
				if rng.IntN(5) == 0 {
					return math.NaN()
				}
				return float64(rng.IntN(4))
			}
			acc := numbers4{number(), float64(rng.IntN(4))}
			p.SetFloat(0, acc[0])
			q.SetInt(0, int64(acc[1]))
			for k := range n {
				acc[2], acc[3] = number(), float64(rng.IntN(5))
				a.SetFloat(k, acc[2])
				b.SetInt(k, int64(acc[3]))
				acc[0], acc[1] = f(acc), g(acc)
			}
			out, err := exe.Run(t.Context(), []*tensor.Tensor{a, b, p, q})
			if err != nil {
				t.Fatal(err)
			}
			gotX, gotI := float64(tensor.View[float32](out[0])[0]), float64(tensor.View[int32](out[1])[0])
			if gotX != acc[0] && !(gotX != gotX && acc[0] != acc[0]) || gotI != acc[1] {
				t.Fatalf("round %d: (%v, %v), want (%v, %v) of %s and %s\n%s", round, gotX, gotI, acc[0], acc[1], a.AppendLiteral(nil, 99), b.AppendLiteral(nil, 99), text)
			}
			kinds[gotX != gotX]++
		}
	}
	if kinds[true] < 50 || kinds[false] < 50 {
		t.Errorf("%v NaNs", kinds)
	}
}
