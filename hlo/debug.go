package hlo

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hlocb/hlocb/internal/wire"
)

// DebugEntry is an entry of a module's debug_attributes: the values that XLA logs, and by which callbacks. XLA makes
// them from custom calls xla.debug.Log, which it removes. An entry names the array as the program had it before
// XLA's passes; the attribute origin of an instruction says which of these arrays the instruction computes.
type DebugEntry struct {
	Instruction string
	Index       []int64 // place of the array in the instruction's tuple; nil if the instruction yields an array
	Logs        []DebugLog
}

// DebugLog is one request to log a value.
type DebugLog struct {
	Mode        DebugLogMode
	Callback    int64
	Op          int64
	Partitioned bool // log the parts of a sharded value, not the whole
	// Sharding and X64 are only in protos. Sharding is the operands' sharding. X64 says which half of a number of
	// 64 bits the value is, if XLA split it.
	Sharding string
	X64      *DebugX64
}

// DebugX64 describes a half of a value of 64 bits.
type DebugX64 struct{ Fragment, Instruction, Type string }

// DebugLogMode says what XLA does so that it can log a value.
type DebugLogMode int64

// The modes, with their numbers in protos.
const (
	DebugLogNone           DebugLogMode = iota // not stated
	DebugLogDefault                            // follow the value through fusions
	DebugLogFusionDebugger                     // log inside of fusions
	DebugLogNoFusion                           // keep the value out of fusions
	DebugLogGuaranteed                         // keep the value
)

var debugLogModes = []string{"none", "default", "fusion_debugger", "no_fusion", "guaranteed"}

// protoName returns the mode's name in protobuf's JSON, empty if it is not stated.
func (m DebugLogMode) protoName() string {
	if m == DebugLogNone {
		return ""
	}
	return strings.ToUpper(m.String())
}

// String returns the mode's word in HLO text.
func (m DebugLogMode) String() string {
	if m >= 0 && int(m) < len(debugLogModes) {
		return debugLogModes[m]
	}
	return strconv.FormatInt(int64(m), 10)
}

// DebugAttributes returns the debug attributes of m, sorted by instruction and index. The caller must not change them.
func (m *Module) DebugAttributes() []DebugEntry { return m.debug }

// debugAttributes reads {{"t" {0}}:({log_mode=default,callback_id=3}, ...), ...}.
func (p *parser) debugAttributes() []DebugEntry {
	var list []DebugEntry
	p.listToBrace(func() {
		a := p.originArray()
		e := DebugEntry{Instruction: a.name, Index: a.index}
		p.expect(':')
		p.list('(', ')', func() { e.Logs = append(e.Logs, p.debugLog()) })
		list = append(list, e)
	})
	return sortDebug(list)
}

func (p *parser) debugLog() DebugLog {
	var l DebugLog
	p.list('{', '}', func() {
		at := p.tok.pos
		switch name := p.attrName(); name {
		case "log_mode":
			i := slices.Index(debugLogModes, p.tok.text)
			if i < 0 {
				p.failToken("expected one of the modes %v, found %s", debugLogModes, p.found())
			}
			l.Mode = DebugLogMode(i)
			p.next()
		case "callback_id":
			l.Callback = p.int64()
		case "op_id":
			l.Op = p.int64()
		case "partitioned":
			l.Partitioned = p.bool()
		default:
			p.fail(at, "expected log_mode=, callback_id=, partitioned= or op_id=, found %s=", shorten(name))
		}
	})
	return l
}

// sortDebug sorts entries as XLA prints them.
func sortDebug(list []DebugEntry) []DebugEntry {
	slices.SortStableFunc(list, func(a, b DebugEntry) int {
		return cmp.Or(cmp.Compare(a.Instruction, b.Instruction), slices.Compare(a.Index, b.Index))
	})
	return list
}

// appendDebug appends the debug attributes of a module. XLA 0.12 prints only the modes default and fusion_debugger,
// and reads only these: the others are kept in text that XLA may refuse, rather than lost.
func appendDebug(b []byte, list []DebugEntry) []byte {
	if len(list) == 0 {
		return b
	}
	b = append(b, ",\ndebug_attributes={"...)
	for i, e := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, "\n  "...)
		b = (&originArray{name: e.Instruction, index: e.Index}).append(b)
		b = appendJoined(append(b, ":("...), ",", e.Logs, appendDebugLog)
		b = append(b, ')')
	}
	return append(b, "\n}"...)
}

func appendDebugLog(b []byte, l DebugLog) []byte {
	b = append(b, '{')
	start := len(b)
	field := func(name string) {
		if len(b) > start {
			b = append(b, ',')
		}
		b = append(append(b, name...), '=')
	}
	if l.Mode != DebugLogNone {
		field("log_mode")
		b = append(b, l.Mode.String()...)
	}
	if l.Callback != 0 {
		field("callback_id")
		b = strconv.AppendInt(b, l.Callback, 10)
	}
	if l.Partitioned {
		field("partitioned")
		b = append(b, "true"...)
	}
	if l.Op != 0 {
		field("op_id")
		b = strconv.AppendInt(b, l.Op, 10)
	}
	return append(b, '}')
}

// fields visits the fields of a DebugAttributeTableEntryProto.
func (e *DebugEntry) fields(c *wire.Coder) {
	c.Msg(1, true, func(c *wire.Coder) {
		c.Str(1, &e.Instruction)
		c.Ints(2, &e.Index)
	})
	wire.Messages(c, 2, &e.Logs, (*DebugLog).fields)
}

// fields visits the fields of a DebugAttributesProto.
func (l *DebugLog) fields(c *wire.Coder) {
	mode := int64(l.Mode)
	c.Int(1, &mode)
	l.Mode = DebugLogMode(mode)
	c.Int(2, &l.Callback)
	c.Int(3, &l.Op)
	c.Bool(4, &l.Partitioned)
	c.Str(5, &l.Sharding)
	c.Msg(6, l.X64 != nil, func(c *wire.Coder) {
		if l.X64 == nil {
			l.X64 = &DebugX64{}
		}
		for i, s := range []*string{&l.X64.Fragment, &l.X64.Instruction, &l.X64.Type} {
			c.Str(protowire.Number(i+1), s)
		}
	})
}
