package runtime

import (
	"reflect"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/tensor"
)

func savedSample() *Saved {
	v := []hook.TensorType{{DType: tensor.F32, Shape: tensor.Shape{2, 3}}, {DType: tensor.I4, Shape: tensor.Shape{}}}
	return &Saved{Backend: "cpu", Builder: "b", Machine: "m", Replicas: 1, Partitions: 2, Text: []byte("module {}"), Code: []byte{0, 1, 2},
		Manifest: &hook.Manifest{
			Sites: []hook.Site{{ID: 0xffffffffffffffff, Name: "a\n", Kind: hook.InOut, Format: "f", SourceID: "9", Loc: `"x":1:2`, Chained: true, SideEffect: true,
				Operands: v, Results: v[:1], Aliases: []int{0}, Attrs: map[string]string{"k": "v"}}},
			Edges: []hook.Edge{{From: 1, To: 0xffffffffffffffff}},
		}}
}

func TestSavedRoundTrip(t *testing.T) {
	b, err := savedSample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeSaved(b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, savedSample()) {
		t.Errorf("decoded %+v, expected %+v", got, savedSample())
	}
}

func TestSavedDamage(t *testing.T) {
	b, err := savedSample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	for n := range b {
		if _, err := DecodeSaved(b[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes were accepted", n, len(b))
		}
		changed := append([]byte(nil), b...)
		changed[n] ^= 0x40
		if _, err := DecodeSaved(changed); err == nil {
			t.Fatalf("byte %d was changed without notice", n)
		}
	}
}
