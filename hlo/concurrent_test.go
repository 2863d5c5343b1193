package hlo_test

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hlo"
)

// TestConcurrentProto writes one module in several goroutines. The race detector fails the test if writing changes the
// module.
func TestConcurrentProto(t *testing.T) {
	files, err := filepath.Glob("../testdata/hooks/hlo/*.hlo.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	texts := map[string][]byte{"rich": []byte(richModule)}
	for _, f := range files {
		if texts[f], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range texts {
		m, err := hlo.Parse(diag.NewSource(name, text))
		if err != nil {
			t.Fatal(err)
		}
		var protos [2][]byte
		var wait sync.WaitGroup
		for i := range protos {
			wait.Go(func() {
				var err error
				if protos[i], err = m.AppendProto(nil); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if !bytes.Equal(protos[0], protos[1]) {
			t.Errorf("%s: two protos of one module differ", name)
		}
	}
}

const richModule = `HloModule rich, input_output_alias={ {0}: (0, {}, must-alias) }, buffer_donor={ (1, {}) }, entry_computation_layout={(f32[4,4]{1,0}, f32[4,4]{1,0})->(f32[4,4]{1,0}, f32[2,2]{1,0}, f32[4,4]{1,0})}, frontend_attributes={a="b"}

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY main {
  a = f32[4,4]{1,0} parameter(0), sharding={devices=[2,1,2]0,1,2,3 last_tile_dim_replicate metadata={op_name="m"}}
  b = f32[4,4]{1,0} parameter(1), sharding={mesh['x'=2,'y'=2], [{'x'}, {?}], replicated={'y'}}
  s = f32[4,4]{1,0} tanh(a), result_accuracy={tolerance={atol=1,rtol=2,ulps=3}}, statistics={visualizing_index=0,nan=3}, metadata={op_type="t" op_name="n" source_file="f.py" source_line=3}, origin={{"s"}}
  c = f32[] constant(0)
  w = f32[2,2]{1,0} reduce-window(s, c), window={size=2x2 stride=2x2}, to_apply=add
  r = f32[4,4]{1,0} all-reduce(b), channel_id=1, replica_groups=[2,2]<=[4], use_global_device_ids=true, to_apply=add
  ROOT t = (f32[4,4]{1,0}, f32[2,2]{1,0}, f32[4,4]{1,0}) tuple(s, w, r), sharding={{replicated}, {manual}, {maximal device=1}}, control-predecessors={c}
}
`
