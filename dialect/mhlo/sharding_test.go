package mhlo_test

import (
	"slices"
	"testing"

	"github.com/hlocb/hlocb/dialect/mhlo"
)

// TestEncodedShardings: the leaves of an encoded sharding of a tuple, also of one that leaves out fields of 0. Other
// shardings have none.
func TestEncodedShardings(t *testing.T) {
	const replicated, manual, onDevice1, tiled = "\x08\x00", "\x08\x04", "\x08\x01\x1a\x01\x01\x22\x01\x01", "\x08\x03\x1a\x01\x02J\x01\x02"
	const named = "r\x0d\x12\x07\x0a\x05\x0a\x01x\x10\x02\x1a\x02\x0a\x00" // {mesh['x'=2], [{'x'}]}
	for _, c := range []struct {
		text   string
		leaves []string
	}{
		{"\x08\x02*\x02" + manual + "*\x08" + onDevice1, []string{manual, onDevice1}},
		{"\x08\x02*\x00*\x08" + tiled, []string{replicated, tiled}},
		{"\x08\x02*\x00*\x00", []string{replicated, replicated}},
		{"\x08\x02", nil},
		{tiled, nil},
		{"\x08", nil},
		{"\xff", nil},
		{"", nil},
		{"{{manual}, {maximal device=1}}", []string{"{manual}", "{maximal device=1}"}},
	} {
		leaves, tuple := mhlo.SplitSharding(c.text)
		if tuple != (c.leaves != nil) || tuple && !slices.Equal(leaves, c.leaves) {
			t.Errorf("%q has the leaves %q, %v, want %q", c.text, leaves, tuple, c.leaves)
		}
		if !tuple {
			continue
		}
		if again, ok := mhlo.SplitSharding(mhlo.JoinSharding(leaves)); !ok || !slices.Equal(again, leaves) {
			t.Errorf("%q is joined from %q as %q", c.text, leaves, mhlo.JoinSharding(leaves))
		}
	}
	for text, want := range map[string]string{replicated: "{replicated}", manual: "{manual}", onDevice1: "{maximal device=1}", "\x08\x01\x20\x01": "{maximal device=1}",
		tiled: tiled, named: named, "\x08\x01": "\x08\x01", "\xff": "\xff", "": "", "{manual}": "{manual}"} {
		if got := mhlo.PlainSharding(text); got != want {
			t.Errorf("%q is plainly %q, want %q", text, got, want)
		}
	}
}
