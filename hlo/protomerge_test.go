package hlo_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hlo"
)

// TestProtoMessages: the dimensions of a ragged-dot are in one message, as XLA writes them, and a message that a proto
// holds in two parts, or with an empty second part, is read as one, as protobuf reads it.
func TestProtoMessages(t *testing.T) {
	const text = `HloModule ragged, entry_computation_layout={(f16[16,64,9]{2,1,0}, f16[16,4,9,8]{3,2,1,0}, s64[16,4]{1,0})->f16[16,64,8]{2,0,1}}

ENTRY %main (a: f16[16,64,9], b: f16[16,4,9,8], c: s64[16,4]) -> f16[16,64,8] {
  %a = f16[16,64,9]{2,1,0} parameter(0)
  %b = f16[16,4,9,8]{3,2,1,0} parameter(1)
  %c = s64[16,4]{1,0} parameter(2)
  ROOT %ragged-dot = f16[16,64,8]{2,1,0} ragged-dot(%a, %b, %c), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={2}, lhs_ragged_dims={1}, rhs_group_dims={1}
}
`
	m, err := hlo.Parse(diag.NewSource("ragged.hlo", []byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	want := string(m.AppendText(nil, hlo.TextOptions{}))
	data := proto(t, m)
	parts := split(t, data, 4)
	if n := strings.Count(string(data), string(protowire.AppendTag(nil, 90, protowire.BytesType))); n != 1 {
		t.Errorf("the proto has %d messages of dimensions", n)
	}
	for name, form := range map[string][]byte{"whole": data, "with an empty part": protowire.AppendBytes(protowire.AppendTag(data[:len(data):len(data)], 4, protowire.BytesType), nil), "in two parts": parts} {
		m, err := hlo.ParseProto(diag.NewSource("ragged.pb", form))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := string(m.AppendText(nil, hlo.TextOptions{})); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

// split returns a message in which the fields of field num are messages of their own.
func split(t *testing.T, message []byte, num protowire.Number) (out []byte) {
	t.Helper()
	for len(message) > 0 {
		n, typ, k := protowire.ConsumeField(message)
		if k < 0 {
			t.Fatal(protowire.ParseError(k))
		}
		field := message[:k]
		message = message[k:]
		if n != num {
			out = append(out, field...)
			continue
		}
		_, _, k = protowire.ConsumeTag(field)
		inner, _ := protowire.ConsumeBytes(field[k:])
		for len(inner) > 0 {
			_, _, k := protowire.ConsumeField(inner)
			out = protowire.AppendBytes(protowire.AppendTag(out, num, typ), inner[:k])
			inner = inner[k:]
		}
	}
	return out
}
