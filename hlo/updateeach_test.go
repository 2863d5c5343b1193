package hlo_test

import (
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/ir"
)

// nested has computations whose parameters and results are tuples within tuples: StableHLO's functions and regions have
// the parts.
const nested = `HloModule nested

negated {
  n = ((f32[], s32[]), f32[]) parameter(0)
  n0 = (f32[], s32[]) get-tuple-element(n), index=0
  n00 = f32[] get-tuple-element(n0), index=0
  n01 = s32[] get-tuple-element(n0), index=1
  n1 = f32[] get-tuple-element(n), index=1
  negate = f32[] negate(n00)
  inner = (f32[], s32[]) tuple(negate, n01)
  ROOT outer = ((f32[], s32[]), f32[]) tuple(inner, n1)
}

swapped {
  t = ((f32[], s32[]), f32[]) parameter(0)
  t0 = (f32[], s32[]) get-tuple-element(t), index=0
  t00 = f32[] get-tuple-element(t0), index=0
  t01 = s32[] get-tuple-element(t0), index=1
  t1 = f32[] get-tuple-element(t), index=1
  sine = f32[] sine(t1)
  inner.1 = (f32[], s32[]) tuple(sine, t01)
  ROOT outer.1 = ((f32[], s32[]), f32[]) tuple(inner.1, t00)
}

less {
  l = ((f32[], s32[]), f32[]) parameter(0)
  l0 = (f32[], s32[]) get-tuple-element(l), index=0
  l01 = s32[] get-tuple-element(l0), index=1
  limit = s32[] constant(3)
  ROOT compare = pred[] compare(l01, limit), direction=LT
}

ENTRY main {
  p = pred[] parameter(0)
  x = f32[] parameter(1)
  i = s32[] parameter(2)
  pair = (f32[], s32[]) tuple(x, i)
  state = ((f32[], s32[]), f32[]) tuple(pair, x)
  called = ((f32[], s32[]), f32[]) call(state), to_apply=swapped
  chosen = ((f32[], s32[]), f32[]) conditional(p, called, state), true_computation=negated, false_computation=swapped
  loop = ((f32[], s32[]), f32[]) while(chosen), condition=less, body=negated
  last = f32[] get-tuple-element(loop), index=1
  ROOT cosine = f32[] cosine(last)
}
`

// sharded has a root that is kept and whose sharding the function has, too.
const sharded = `HloModule sharded

ENTRY main {
  x = f32[8] parameter(0), sharding={maximal device=0}
  y = f32[8] parameter(1), sharding={maximal device=1}
  sine = f32[8] sine(x), sharding={maximal device=0}
  negate = f32[8] negate(y), sharding={maximal device=1}
  ROOT both = (f32[8], f32[8]) tuple(sine, negate), sharding={{maximal device=0}, {maximal device=1}}
}
`

// pairs has ends of pairs, which need their starts.
const pairs = `HloModule pairs

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT add = f32[] add(a, b)
}

ENTRY main {
  x = f32[8] parameter(0)
  sine = f32[8] sine(x)
  start = f32[8] all-reduce-start(sine), replica_groups={{0,1}}, to_apply=sum
  done = f32[8] all-reduce-done(start)
  cosine-start = ((f32[8]), f32[8]) cosine-start(done)
  cosine-update = ((f32[8]), f32[8]) cosine-update(cosine-start)
  cosine-done = f32[8] cosine-done(cosine-update)
  ROOT negate = f32[8] negate(cosine-done)
}
`

// chained has a pair that uses the value of another one: the end of that pair has it, not the start.
const chained = `HloModule chained

sum {
  a = u32[] parameter(0)
  b = u32[] parameter(1)
  ROOT add = u32[] add(a, b)
}

ENTRY main {
  id = u32[] replica-id()
  start = u32[] all-reduce-start(id), to_apply=sum
  done = u32[] all-reduce-done(start)
  start.1 = u32[] all-reduce-start(done), to_apply=sum
  done.1 = u32[] all-reduce-done(start.1)
  ROOT both = (u32[], u32[]) tuple(done, done.1)
}
`

// dead has instructions without effect that use each other.
const dead = `HloModule dead

ENTRY main {
  x = f32[] parameter(0)
  tuple = (f32[]) tuple(x)
  element = f32[] get-tuple-element(tuple), index=0
  add = f32[] add(x, element)
  broadcast = f32[42] broadcast(add), dimensions={}
  slice = f32[1] slice(broadcast), slice={[1:2]}
  ROOT convert = f64[] convert(x)
}
`

// ordered has a parameter that waits for an instruction.
const ordered = `HloModule ordered

ENTRY main {
  x = f32[128] parameter(0)
  sine = f32[128] sine(x), control-predecessors={x}
  y = f32[128] parameter(1), control-predecessors={sine}
  ROOT add = f32[128] add(sine, y)
}
`

// channels has transfers and a collective with channel 0 and without a channel, which are the same in StableHLO.
const channels = `HloModule channels, replica_count=2

ENTRY main {
  x = u32[2] parameter(0)
  after = token[] after-all()
  send = (u32[2], u32[], token[]) send(x, after), frontend_attributes={_xla_send_recv_source_target_pairs="{{1,0}}"}
  send-done = token[] send-done(send)
  recv = (u32[2], u32[], token[]) recv(send-done), channel_id=0, frontend_attributes={_xla_send_recv_source_target_pairs="{{1,0}}"}
  recv-done = (u32[2], token[]) recv-done(recv), channel_id=0
  data = u32[2] get-tuple-element(recv-done), index=0
  ROOT gather = u32[4] all-gather(data), replica_groups={{0,1}}, dimensions={0}, channel_id=0, use_global_device_ids=true
}
`

// fused has a loop in a fusion whose state is a tuple of one value.
const fused = `HloModule fused

body {
  state = (f32[5]) parameter(0)
  zero = f32[] constant(0)
  zeros = f32[5] broadcast(zero), dimensions={}
  ROOT next = (f32[5]) tuple(zeros)
}

cond {
  state.1 = (f32[5]) parameter(0)
  ROOT no = pred[] constant(false)
}

fusion {
  x = f32[5] parameter(0)
  copy = f32[5] copy(x)
  init = (f32[5]) tuple(copy)
  ROOT while = (f32[5]) while(init), condition=cond, body=body
}

ENTRY main {
  x.1 = f32[5] parameter(0)
  ROOT fusion.1 = (f32[5]) fusion(x.1), kind=kLoop, calls=fusion
}
`

// TestUpdateEach changes one op of a module at a time. The updated module must be valid and have the change.
func TestUpdateEach(t *testing.T) {
	for name, text := range map[string]string{"nested": nested, "sharded": sharded, "pairs": pairs, "chained": chained, "dead": dead,
		"ordered": ordered, "channels": channels, "fused": fused} {
		t.Run(name, func(t *testing.T) { updateEach(t, text) })
	}
}

func updateEach(t *testing.T, text string) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	old, err := hlo.Parse(diag.NewSource("old.hlo", []byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	imported := func(m *hlo.Module) (*ir.Module, []*ir.Op) {
		out, err := hlo.Import(m, ir.NewContext(reg))
		if err == nil {
			err = ir.Verify(out)
		}
		if err != nil {
			t.Fatalf("%v:\n%s", err, m.AppendText(nil, hlo.TextOptions{}))
		}
		var ops []*ir.Op
		out.Walk(func(op *ir.Op) bool {
			if op.NumResults() > 0 {
				ops = append(ops, op)
			}
			return true
		})
		return out, ops
	}
	const name = "mhlo.frontend_attributes"
	mark := ir.NewDict(ir.AttrList{{Name: "marked", Attr: ir.NewString("yes")}})
	_, ops := imported(old)
	for i, changed := range ops {
		if changed.Has(ir.ConstantLike) {
			continue // the translation of constants ignores their attributes
		}
		m, list := imported(old)
		list[i].SetAttr(name, mark)
		updated, err := hlo.Update(m)
		if err != nil {
			t.Errorf("op %d, %s: %v", i, changed.Name(), err)
			continue
		}
		again, err := hlo.Parse(diag.NewSource("updated.hlo", updated.AppendText(nil, hlo.TextOptions{})))
		if err != nil {
			t.Errorf("op %d, %s: %v\n%s", i, changed.Name(), err, updated.AppendText(nil, hlo.TextOptions{}))
			continue
		}
		marked := 0
		_, list = imported(again)
		for _, op := range list {
			if d, ok := op.Attr(name).(*ir.DictAttr); ok && d.Get("marked") != nil && op.Def() == changed.Def() {
				marked++
			}
		}
		if marked == 0 && text != dead { // the translation leaves out what is dead
			t.Errorf("op %d, %s: the change is lost:\n%s", i, changed.Name(), updated.AppendText(nil, hlo.TextOptions{}))
		}
	}
}

// TestExportLoop: the module is not verified, and its loop has more results than operands.
func TestExportLoop(t *testing.T) {
	const text = `HloModule loop

body {
  p = (f32[], f32[]) parameter(0)
  a = f32[] get-tuple-element(p), index=0
  ROOT three = (f32[], f32[], f32[]) tuple(a, a, a)
}

cond {
  q = (f32[], f32[]) parameter(0)
  ROOT yes = pred[] constant(true)
}

ENTRY main {
  x = f32[] parameter(0)
  two = (f32[], f32[]) tuple(x, x)
  ROOT loop = (f32[], f32[], f32[]) while(two), condition=cond, body=body
}
`
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	old, err := hlo.Parse(diag.NewSource("loop.hlo", []byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	m, err := hlo.Import(old, ir.NewContext(reg))
	if err != nil {
		t.Fatal(err)
	}
	const want = "loop.hlo:17:8: error: a loop with 2 operands and 3 results has no equivalent in HLO"
	if _, err := hlo.Export(m); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
