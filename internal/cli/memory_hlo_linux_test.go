//go:build !race

package cli_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/label"
)

// largeHLO returns texts of about size bytes, each with many of one part of the grammar.
func largeHLO(size int) map[string]string {
	const add = "f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
	texts := map[string]string{}
	// repeat fills the place of @ in frame with part, in which # is a running number.
	repeat := func(name, frame, part string) {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(strings.ReplaceAll(part, "#", fmt.Sprint(i)))
		}
		texts[name] = "HloModule m\n" + strings.Replace(frame, "@", b.String(), 1)
	}
	entry := func(body string) string { return "ENTRY e { x = f32[] parameter(0)\n" + body + "}" }
	attribute := func(a string) string { return entry("y = f32[] negate(x), " + a) }
	repeat("instructions", entry("@"), "x#=f32[]negate(x)\n")
	repeat("inferred", entry("@"), "x#=negate(x)\n")
	repeat("constants", entry("@"), "x#=s1[]constant(0)\n")
	repeat("metadata", entry("@"), "x#=f32[]negate(x),metadata={op_name=\"#\"}\n")
	repeat("shardings", entry("@"), "x#=f32[]negate(x),sharding={manual shard_as #}\n")
	repeat("operands", entry("y = custom-call(@x), custom_call_target=\"t\""), "x,")
	repeat("commas", entry("y = f32[] custom-call(@x), custom_call_target=\"t\""), ",")
	repeat("typed operands", entry("y = f32[] custom-call(@x), custom_call_target=\"t\""), "f32[]x,")
	repeat("nested operands", entry("y = f32[] custom-call(@x), custom_call_target=\"t\""), "negate(x),")
	texts["deep operands"] = "HloModule m\n" + entry("y = "+strings.Repeat("negate(", size/8)+"x"+strings.Repeat(")", size/8))
	repeat("gte", entry("t = (f32[]) tuple(x)\n@"), "x#=get-tuple-element(t),index=0\n")
	repeat("dimensions", "ENTRY e { x = f32[@1] parameter(0) }", "1,")
	repeat("dynamic dimensions", "ENTRY e { x = f32[@1] parameter(0) }", "?,")
	repeat("tuple types", "ENTRY e { x = (@f32[]) parameter(0) }", "f32[],")
	repeat("different types", "ENTRY e { x = (@f32[]) parameter(0) }", "f32[#],")
	repeat("empty types", "ENTRY e { x = (@()) parameter(0) }", "(),")
	texts["deep types"] = "HloModule m\nENTRY e { x = " + strings.Repeat("(", size/2) + strings.Repeat(")", size/2) + " parameter(0) }"
	repeat("tiles", "ENTRY e { x = f32[8]{0:T@} parameter(0) }", "(1)")
	repeat("splits", "ENTRY e { x = f32[8]{0:SC@} parameter(0) }", "(0:1)")
	for _, elem := range []string{"f64", "s4", "pred", "f8e5m2"} {
		repeat("literal "+elem, "ENTRY e { x = "+elem+"["+fmt.Sprint(size/2+size%2)+"] constant({@}) }", "1,")
	}
	repeat("literal c128", "ENTRY e { x = c128["+fmt.Sprint((size+5)/6)+"] constant({@}) }", "(1,1),")
	repeat("literal matrix", "ENTRY e { x = f64["+fmt.Sprint((size+3)/4)+",1] constant({@}) }", "{1},")
	repeat("literal tuple", "ENTRY e { x = ("+strings.Repeat("f32[],", size/10)+"f32[]) constant(("+strings.Repeat("1,", size/10)+"1))@ }", " ")
	repeat("literal too long", "ENTRY e { x = f32[2] constant({@}) }", "1,")
	repeat("computations", "@ENTRY e { x = f32[] parameter(0) }", "c#{x=f32[]parameter(0)}")
	repeat("anonymous", entry("@"), "x#=call(x),to_apply={a=f32[]parameter(0)}\n")
	repeat("calls", add+entry("@"), "x#=call(x,x),to_apply=f\n")
	repeat("forward", "ENTRY e { x = f32[] parameter(0)\n@}\n"+add, "x#=f32[] call(x,x),to_apply=f\n")
	repeat("branches", "f { x = f32[] parameter(0) }\nENTRY e { i = s32[] parameter(0) c = f32[] conditional(i), branch_computations={@f} }", "f,")
	repeat("predecessors", attribute("control-predecessors={@x}"), "x,")
	repeat("devices", attribute("sharding={devices=[2]@0}"), "1,")
	repeat("tuple sharding", attribute("sharding={@{manual}}"), "{manual},")
	repeat("sharding metadata", attribute("sharding={replicated metadata={@{}}}"), "{},")
	repeat("mesh", attribute("sharding={mesh[@'z'=1], [{'z'}]}"), "'#'=2,")
	repeat("mesh dimensions", attribute("sharding={mesh['a'=2], [@{'a'}]}"), "{},")
	repeat("groups", add+entry("y = f32[] all-reduce(x), to_apply=f, replica_groups={@{0}}"), "{},")
	repeat("pairs", entry("y = f32[] collective-permute(x), source_target_pairs={@{0,0}}"), "{1,2},")
	repeat("frontend attributes", attribute("frontend_attributes={@z=\"\"}"), "a#=\"\",")
	repeat("statistics", attribute("statistics={visualizing_index=0@}"), ",a=1")
	repeat("origin", attribute("origin={(@{})}"), "{},")
	texts["deep origin"] = "HloModule m\n" + attribute("origin={"+strings.Repeat("(", size/2)+strings.Repeat(")", size/2)+"}")
	repeat("profile types", attribute("metadata={op_name=\"a\" profile_type={@1}}"), "1,")
	repeat("aliasing", entry("y = f32[] custom-call(x), custom_call_target=\"t\", output_to_operand_aliasing={@{}: (0, {})}"), "{}:(0,{}),")
	repeat("layout constraints", entry("y = f32[] custom-call(x), custom_call_target=\"t\", operand_layout_constraints={@f32[]}"), "f32[],")
	repeat("window", add+entry("y = f32[] reduce-window(x, x), to_apply=f, window={size=@1}"), "1x")
	repeat("padding", entry("y = f32[] pad(x, x), padding=@0_0"), "0_0x")
	repeat("slice", entry("y = f32[] slice(x), slice={@[0:1]}"), "[0:1],")
	repeat("sizes", entry("y = f32[] broadcast(x), dimensions={@1}"), "1,")
	repeat("string", attribute("backend_config=\"@\""), "\\001")
	repeat("dictionary", attribute("backend_config={@}"), "{}")
	repeat("files", "FileNames\n@FunctionNames FileLocations StackFrames\nENTRY e { x = f32[] parameter(0) }", "1\"\"")
	repeat("frames", "FileNames 1\"\" FunctionNames 1\"\" FileLocations 1 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=1 end_column=1} StackFrames @\nENTRY e { x = f32[] parameter(0) }",
		"1{file_location_id=1 parent_frame_id=1}")
	texts["aliases"] = "HloModule m, input_output_alias={" + strings.Repeat("{0}: (0, {}),", size/13) + "}\nENTRY e { x = f32[] parameter(0) }"
	texts["donors"] = "HloModule m, buffer_donor={" + strings.Repeat("(0,{}),", size/7) + "}\nENTRY e { x = f32[] parameter(0) }"
	texts["entry layout"] = "HloModule m, entry_computation_layout={(" + strings.Repeat("f32[],", size/6) + "f32[])->f32[]}\nENTRY e { x = f32[] parameter(0) }"
	repeat("comments", "ENTRY e { @x = f32[] parameter(0) }", "/**/")
	repeat("name", entry("@ = f32[] negate(x)"), "n")
	repeat("number", "ENTRY e { x = f32[] constant(@) }", "1")
	return texts
}

// TestMemoryHLO reads and writes large HLO texts and protos of many kinds, and protos with changed bytes. A process
// takes at most 44 MB and 60 times its input.
func TestMemoryHLO(t *testing.T) {
	label.Once(t)
	label.Slow(t)
	size, every := 1_000_000, 6
	if os.Getenv("HLOCB_LONG") != "" {
		size, every = 5_000_000, 1
	}
	file := filepath.Join(t.TempDir(), "in.hlo")
	run := func(t *testing.T, data []byte, form string) {
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
		runWithin(t, len(data), 60, "translate", file, "--to", form, "--output", os.DevNull)
	}
	r := rand.New(rand.NewPCG(1, 2))
	n := 0
	texts := largeHLO(size)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text := texts[name]
		for _, form := range []string{"hlo", "hlo-short", "hlo-proto"} {
			if n++; n%every == 0 {
				t.Run(name+"/"+form, func(t *testing.T) { run(t, []byte(text), form) })
			}
		}
		m, err := hlo.Parse(diag.NewSource("m.hlo", []byte(text)))
		if err != nil {
			continue
		}
		data, err := m.AppendProto(nil)
		if err != nil {
			continue
		}
		for _, form := range []string{"hlo", "hlo-proto"} {
			if n++; n%every == 0 {
				t.Run(name+"/proto/"+form, func(t *testing.T) { run(t, data, form) })
			}
		}
		if n++; n%every != 0 {
			continue
		}
		changed := bytes.Clone(data)
		for range 1 + len(data)/100_000 {
			changed[r.IntN(len(changed))] ^= 1 << r.IntN(8)
		}
		t.Run(name+"/proto/changed", func(t *testing.T) { run(t, changed, "hlo") })
	}
}
