package vhlo

import (
	"slices"
	"strings"

	"github.com/hlocb/hlocb/ir"
)

// table holds all operations (StableHLO, VhloOps.td): name, versions, attributes. The versions introduced _v1, _v2,
// ...; the default is 0.9.0. Each _v1 ends at the start of _v2. attr@2 is an attribute from _v2 on, attr@-1 one up to
// _v1.
const table = `
abs
add
after_all
all_gather 0.9,1.5: all_gather_dim channel_id replica_groups use_global_device_ids
all_reduce 0.9,1.5: channel_id replica_groups use_global_device_ids
all_to_all 0.9,1.5: channel_id concat_dimension replica_groups split_count split_dimension
and
async_done 1.15
async_start 1.15
atan2
batch_norm_grad: epsilon feature_index
batch_norm_inference: epsilon feature_index
batch_norm_training: epsilon feature_index
bitcast_convert
broadcast: broadcast_sizes
broadcast_in_dim: broadcast_dimensions
call: callee
case
cbrt 0.9,1.10: result_accuracy@2
ceil
cholesky: lower
clamp
collective_broadcast 0.16,1.20: channel_id has_dynamic_root@2 replica_groups
collective_permute: channel_id source_target_pairs
collective_reduce 1.19: channel_id has_dynamic_root replica_groups use_global_device_ids
compare: compare_type comparison_direction
complex
composite 0.19,1.14: composite_attributes decomposition name version
concatenate: dimension
constant: value
convert
convolution: batch_group_count feature_group_count input_batch_dimension input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension output_spatial_dimensions padding precision_config rhs_dilation window_reversal window_strides
cosine 0.9,1.10: result_accuracy@2
count_leading_zeros
create_token
cross-replica-sum: replica_groups
custom_call 0.9,1.18: api_version backend_config call_target_name called_computations has_side_effect operand_layouts output_operand_aliases result_layouts result_tilings@2
divide
dot: precision_config
dot_general 0.9,1.6: accumulation_type@2 allow_imprecise_accumulation@2 lhs_batching_dimensions lhs_component_count@2 lhs_contracting_dimensions lhs_precision_type@2 num_primitive_operations@2 precision_config rhs_batching_dimensions rhs_component_count@2 rhs_contracting_dimensions rhs_precision_type@2
dynamic_broadcast_in_dim: broadcast_dimensions known_expanding_dimensions known_nonexpanding_dimensions
dynamic_conv 0.9,0.20: batch_group_count feature_group_count input_batch_dimension input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension output_spatial_dimensions padding@-1 precision_config rhs_dilation window_reversal window_strides
dynamic_gather 0.9,1.1: collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims@2 start_index_map start_indices_batching_dims@2
dynamic_iota: iota_dimension
dynamic_pad
dynamic_reshape
dynamic_slice: slice_sizes
dynamic_update_slice
einsum: einsum_config
exponential 0.9,1.9: result_accuracy@2
exponential_minus_one 0.9,1.10: result_accuracy@2
fft: fft_length fft_type
floor
func: arg_attrs function_type res_attrs sym_name sym_visibility
gather 0.9,1.1: collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims@2 slice_sizes start_index_map start_indices_batching_dims@2
get_dimension_size: dimension
get_tuple_element: index
if
imag
infeed: infeed_config layout
iota: iota_dimension
is_finite
log 0.9,1.10: result_accuracy@2
log_plus_one 0.9,1.10: result_accuracy@2
logistic 0.9,1.10: result_accuracy@2
map: dimensions
maximum
minimum
multiply
negate
not
optimization_barrier
or
outfeed: outfeed_config
pad: edge_padding_high edge_padding_low interior_padding
partition_id
popcnt
power
real
real_dynamic_slice
recv 0.9,1.12: channel_id channel_type is_host_transfer source_target_pairs@2
reduce: dimensions
reduce_precision: exponent_bits mantissa_bits
reduce_scatter: channel_id replica_groups scatter_dimension use_global_device_ids
reduce_window: base_dilations padding window_dilations window_dimensions window_strides
remainder
replica_id
reshape
return
reverse: dimensions
rng: rng_distribution
rng_bit_generator: rng_algorithm
round_nearest_afz
round_nearest_even
rsqrt 0.9,1.10: result_accuracy@2
scatter 0.9,1.1: index_vector_dim indices_are_sorted input_batching_dims@2 inserted_window_dims scatter_dims_to_operand_dims scatter_indices_batching_dims@2 unique_indices update_window_dims
select
select_and_scatter: padding window_dimensions window_strides
send 0.9,1.12: channel_id channel_type is_host_transfer source_target_pairs@2
set_dimension_size: dimension
shift_left
shift_right_arithmetic
shift_right_logical
sign
sine 0.9,1.10: result_accuracy@2
slice: limit_indices start_indices strides
sort: dimension is_stable
sqrt 0.9,1.10: result_accuracy@2
subtract
tan 1.4,1.10: result_accuracy@2
tanh 0.9,1.10: result_accuracy@2
torch_index_select: batch_dims dim
transpose: permutation
triangular_solve: left_side lower transpose_a unit_diagonal
tuple
unary_einsum: einsum_config
uniform_dequantize
uniform_quantize
while
xor
`

// opRow is one version of an operation.
type opRow struct {
	name    string // without dialect and version
	version int
	since   Version
	until   Version // the first version that no longer writes it; zero if there is none
	def     *ir.Def
	attrs   []string
	base    string // the operation that it represents: "stablehlo.add"
}

// opRows holds all rows by name: the versions of each operation in order.
type opRows struct {
	byName map[string][]*opRow // "add"
	byDef  map[*ir.Def]*opRow
	defs   []*ir.Def
}

func readTable() *opRows {
	r := &opRows{byName: map[string][]*opRow{}, byDef: map[*ir.Def]*opRow{}}
	for line := range strings.Lines(strings.TrimSpace(table)) {
		head, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		name, versions, ok := strings.Cut(head, " ")
		if !ok {
			versions = "0.9"
		}
		list := strings.Split(versions, ",")
		for i, v := range list {
			row := &opRow{name: name, version: i + 1, base: baseName(name)}
			row.since, _ = ParseVersion(v + ".0")
			if i+1 < len(list) {
				row.until, _ = ParseVersion(list[i+1] + ".0")
			}
			for _, a := range strings.Fields(rest) {
				attr, in, limited := strings.Cut(a, "@")
				if !limited || in == "-1" && i == 0 || in == "2" && i == 1 {
					row.attrs = append(row.attrs, attr)
				}
			}
			row.def = newDef(row)
			r.byName[name] = append(r.byName[name], row)
			r.byDef[row.def] = row
			r.defs = append(r.defs, row.def)
		}
	}
	return r
}

func baseName(name string) string {
	switch name {
	case "func", "call":
		return "func." + name
	}
	return "stablehlo." + name
}

func newDef(row *opRow) *ir.Def {
	d := &ir.Def{
		Name:     "vhlo." + row.name + "_v" + string(rune('0'+row.version)),
		Doc:      "Represents " + row.base + " in artifacts of version " + row.since.String() + " and later.",
		Operands: []ir.Arg{{Name: "operands", Mult: ir.Variadic}},
		Results:  []ir.Arg{{Name: "results", Mult: ir.Variadic}},
	}
	for _, a := range row.attrs {
		d.Attrs = append(d.Attrs, ir.AttrSpec{Name: a})
	}
	switch row.name {
	case "func":
		d.Traits = ir.IsolatedFromAbove
		d.Parse, d.Print, d.Syntax = parseFunc, printFunc, "`@` name `(` arguments `)` `->` `(` types `)` region attr-dict"
	case "return":
		d.Traits, d.Results = ir.Terminator, nil
	}
	switch row.name {
	case "func", "case", "if", "while", "async_start", "all_reduce", "map", "reduce", "reduce_scatter", "reduce_window", "scatter",
		"select_and_scatter", "sort", "composite", "collective_reduce":
		d.Regions = []ir.RegionSpec{{Name: "regions", Mult: ir.Variadic}}
	}
	return d
}

// rows holds the operations. It is read-only.
var rows = readTable()

// latest returns the newest version of the VHLO operation for the given one, or nil.
func latest(name string) *opRow {
	base, ok := strings.CutPrefix(name, "stablehlo.")
	if !ok {
		switch name {
		case "func.func", "func.call", "func.return":
			base = strings.TrimPrefix(name, "func.")
		default:
			return nil
		}
	} else if base == "func" || base == "call" {
		return nil
	}
	list := rows.byName[base]
	if list == nil {
		return nil
	}
	return list[len(list)-1]
}

// Dialect returns the dialect.
func Dialect() *ir.Dialect {
	return &ir.Dialect{Name: "vhlo", Ops: rows.defs, Attrs: attrDefs, Enums: enumDefs, Types: types}
}

// types holds the rows of the dialect's types.
var types = typeDefs()

// Versions returns the versions that introduced an operation, attribute or type, oldest first.
func Versions() []Version {
	out := []Version{Minimum}
	add := func(v Version) {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	for _, list := range rows.byName {
		for _, r := range list {
			add(r.since)
		}
	}
	for _, r := range typeTable {
		add(r.since)
	}
	for _, v := range [...]Version{{0, 17, 0}, {1, 3, 0}, {1, 9, 0}, {1, 16, 0}, {1, 17, 0}} {
		add(v) // rules of operations, and attributes
	}
	slices.SortFunc(out, func(a, b Version) int {
		switch {
		case a.Less(b):
			return -1
		case b.Less(a):
			return 1
		}
		return 0
	})
	return out
}
