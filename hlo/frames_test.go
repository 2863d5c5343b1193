package hlo_test

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

const stacks = `HloModule m, entry_computation_layout={(f32[])->f32[]}

FileNames
1 "a.py"
2 "b.py"

FunctionNames
1 "f"
2 "g"

FileLocations
1 {file_name_id=1 function_name_id=1 line=10 end_line=11 column=3 end_column=4}
2 {file_name_id=2 function_name_id=2 line=20 end_line=20 column=5 end_column=9}
3 {file_name_id=2 function_name_id=2 line=30 end_line=30 column=5 end_column=5}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
3 {file_location_id=3 parent_frame_id=3}


ENTRY %main.1 (Arg_0.1: f32[]) -> f32[] {
  %Arg_0.1 = f32[] parameter(0), metadata={op_name="x"}
  %negate.1 = f32[] negate(%Arg_0.1), metadata={op_name="n" stack_frame_id=3}
  %negate.2 = f32[] negate(%negate.1), metadata={op_name="n;m" stack_frame_id=1}
  %negate.3 = f32[] negate(%negate.2), metadata={op_name="n" source_file="q.py" source_line=7}
  ROOT %negate.4 = f32[] negate(%negate.3), metadata={source_file="q.py" source_line=7 source_end_line=8 source_column=2 source_end_column=3}
}

`

// TestStacks: a stack becomes nested call sites, as jaxlib's importer writes them, with the ranges that jaxlib leaves
// out. Exported again, the module is the same.
func TestStacks(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	m, err := hlo.Import(read(t, stacks), ir.NewContext(reg))
	if err != nil {
		t.Fatal(err)
	}
	text := print.String(m, print.Options{DebugInfo: true, OwnLocs: true, LocalScope: true})
	for _, want := range []string{
		`loc("n"(callsite("g"("b.py":30:5) at callsite("g"("b.py":20:5 to :9) at "f"("a.py":10:3 to 11:4)))))`,
		`loc("n;m"("f"("a.py":10:3 to 11:4)))`, `loc("n"("q.py":7:0))`, `loc("q.py":7:2 to 8:3)`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	out, err := hlo.Export(m)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(out.AppendText(nil, hlo.TextOptions{})); got != stacks {
		t.Errorf("exported again:\n%s", got)
	}
}

// TestStackLoop: frames that are their own callers end, and names of unknown files and functions are left out.
func TestStackLoop(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	loop := strings.Replace(stacks, "3 {file_location_id=3 parent_frame_id=3}", "3 {file_location_id=3 parent_frame_id=4}", 1)
	loop = strings.Replace(loop, "file_name_id=1 function_name_id=1", "file_name_id=9 function_name_id=9", 1)
	m, err := hlo.Import(read(t, loop), ir.NewContext(reg))
	if err != nil {
		t.Fatal(err)
	}
	if text := print.String(m, print.Options{DebugInfo: true, OwnLocs: true, LocalScope: true}); !strings.Contains(text, `loc("n"("g"("b.py":30:5)))`) {
		t.Errorf("the frame that calls itself:\n%s", text)
	}
	if _, err := hlo.Export(m); err != nil {
		t.Fatal(err)
	}
}
