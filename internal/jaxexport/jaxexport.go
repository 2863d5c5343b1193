// Package jaxexport reads files of jax.export and replaces the modules in them (JAX, jax/_src/export/serialization.fbs,
// serialization_utils). Such a file is a flatbuffer without an identifier.
package jaxexport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Slots of the table Exported.
const (
	slotVersion = iota
	slotName
	slotInTree
	slotInAvals
	slotOutTree
	slotOutAvals
	slotDevicesShort
	slotInShardings
	slotOutShardings
	slotPlatforms
	slotOrderedEffects
	slotUnorderedEffects
	slotDisabledChecks
	slotModule
	slotConvention
	slotKept
	slotGlobalConstants
	slotVJP
	slotDevices
	slotAvals
	slotMeshes
	slotNamedShardings
	slotInAvalIDs
	slotOutAvalIDs
	slotInShardingIDs
	slotOutShardingIDs
)

// maxOrders is the maximum number of nested derivatives in a file.
const maxOrders = 64

// File is one program of a file: the function itself, or a derivative of it.
type File struct {
	Version             int // of the serialization; 3 since 2023
	Name                string
	Inputs, Outputs     []Value
	Devices             int
	Platforms           []string
	OrderedEffects      []string
	UnorderedEffects    []string
	DisabledChecks      []string
	ConventionVersion   int
	Kept                []int // the inputs that the module uses
	UsesGlobalConstants bool
	InShardings         []string // "" for none
	OutShardings        []string
	// Module is the position of the module in the file: its first byte and the byte after it.
	Module [2]int
	VJP    *File // nil for none

	table int
}

// Value is the type of an input or output: "f32[2*b,3]".
type Value struct {
	DType string
	Shape []string
}

// String returns dtype[dim,...].
func (v Value) String() string { return v.DType + "[" + strings.Join(v.Shape, ",") + "]" }

// dtypes lists the names of element types by number.
var dtypes = strings.Fields(`bool i8 i16 i32 i64 ui8 ui16 ui32 ui64 f16 f32 f64 c64 c128 bf16 i4 ui4 f8_e4m3b11fnuz f8_e4m3fn
	f8_e4m3fnuz f8_e5m2 f8_e5m2fnuz f0 f8_e4m3 f8_e3m4 f8_e8m0fnu f4_e2m1fn key_fry key_rbg key_unsafe_rbg`)

// Sniff reports whether data may be the start of a jax.export file: the offset of a table whose offsets lie within the
// table. Only Read checks the file.
func Sniff(data []byte) bool {
	if len(data) < 8 {
		return false
	}
	root := binary.LittleEndian.Uint32(data)
	if root < 4 || uint64(root)+4 > uint64(len(data)) {
		return false
	}
	vtable := int64(root) - int64(int32(binary.LittleEndian.Uint32(data[root:])))
	if vtable < 4 || vtable+4 > int64(len(data)) {
		return false
	}
	size := binary.LittleEndian.Uint16(data[vtable:])
	return size >= 4+2*(slotModule+1) && size%2 == 0 && size <= 4+2*64
}

// errorAt is the panic value for a malformed file at an offset.
type errorAt struct {
	off int
	msg string
}

// Error describes a malformed file.
type Error struct {
	Offset  int
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("offset %d: %s", e.Offset, e.Message) }

// Read reads a jax.export file. The error is an *Error.
func Read(data []byte) (f *File, err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case errorAt:
			f, err = nil, &Error{x.off, x.msg}
		default:
			panic(x)
		}
	}()
	if !Sniff(data) {
		return nil, &Error{0, "not a file of jax.export"}
	}
	b := buffer(data)
	return b.exported(b.ref(0), 0), nil
}

// buffer reads a flatbuffer. Its methods panic with errorAt.
type buffer []byte

func (b buffer) fail(off int, format string, args ...any) {
	panic(errorAt{off, fmt.Sprintf(format, args...)})
}

func (b buffer) need(off, n int) {
	if off < 0 || n < 0 || off > len(b) || n > len(b)-off {
		b.fail(min(max(off, 0), len(b)), "expected %d bytes, but the file has %d", n, len(b))
	}
}

func (b buffer) u32(off int) int { b.need(off, 4); return int(binary.LittleEndian.Uint32(b[off:])) }
func (b buffer) u16(off int) int { b.need(off, 2); return int(binary.LittleEndian.Uint16(b[off:])) }

// ref returns the target of the offset at off.
func (b buffer) ref(off int) int {
	to := off + b.u32(off)
	b.need(to, 4)
	return to
}

// field returns the position of a slot of a table, or 0 if the slot is absent.
func (b buffer) field(table, slot int) int {
	b.need(table, 4)
	vtable := table - int(int32(binary.LittleEndian.Uint32(b[table:])))
	size := b.u16(vtable)
	if 4+2*slot+2 > size {
		return 0
	}
	off := b.u16(vtable + 4 + 2*slot)
	if off == 0 {
		return 0
	}
	return table + off
}

// vector returns the position of the first element, and the number of elements, of a slot whose elements have the given
// size.
func (b buffer) vector(table, slot, size int) (at, n int) {
	f := b.field(table, slot)
	if f == 0 {
		return 0, 0
	}
	v := b.ref(f)
	n = b.u32(v)
	if n > (len(b)-v-4)/size {
		b.fail(v, "a list of %d elements of %d bytes, but %d bytes are left", n, size, len(b)-v-4)
	}
	return v + 4, n
}

func (b buffer) string(table, slot int) string {
	at, n := b.vector(table, slot, 1)
	return string(b[at : at+n])
}

func (b buffer) number(table, slot, size int) int {
	f := b.field(table, slot)
	if f == 0 {
		return 0
	}
	b.need(f, size)
	switch size {
	case 1:
		return int(b[f])
	case 2:
		return b.u16(f)
	}
	return b.u32(f)
}

// tables returns the tables of a slot.
func (b buffer) tables(table, slot int) []int {
	at, n := b.vector(table, slot, 4)
	out := make([]int, n)
	for i := range out {
		out[i] = b.ref(at + 4*i)
	}
	return out
}

func (b buffer) strings(table, slot int) []string {
	at, n := b.vector(table, slot, 4)
	out := make([]string, n)
	for i := range out {
		s := b.ref(at + 4*i)
		size := b.u32(s)
		b.need(s+4, size)
		out[i] = string(b[s+4 : s+4+size])
	}
	return out
}

func (b buffer) numbers(table, slot, size int) []int {
	at, n := b.vector(table, slot, size)
	out := make([]int, n)
	for i := range out {
		if size == 2 {
			out[i] = b.u16(at + 2*i)
		} else {
			out[i] = b.u32(at + 4*i)
		}
	}
	return out
}

func (b buffer) exported(table, order int) *File {
	if order == maxOrders {
		b.fail(table, "more than %d derivatives", maxOrders)
	}
	f := &File{
		Version: b.number(table, slotVersion, 2), Name: b.string(table, slotName), Platforms: b.strings(table, slotPlatforms),
		Devices: b.number(table, slotDevices, 4), ConventionVersion: b.number(table, slotConvention, 2), Kept: b.numbers(table, slotKept, 2),
		UsesGlobalConstants: b.number(table, slotGlobalConstants, 1) != 0, table: table,
	}
	if f.Devices == 0 {
		f.Devices = b.number(table, slotDevicesShort, 2)
	}
	for _, t := range b.tables(table, slotOrderedEffects) {
		f.OrderedEffects = append(f.OrderedEffects, b.string(t, 0))
	}
	for _, t := range b.tables(table, slotUnorderedEffects) {
		f.UnorderedEffects = append(f.UnorderedEffects, b.string(t, 0))
	}
	for _, t := range b.tables(table, slotDisabledChecks) {
		name := [...]string{"platform", "custom_call", "shape_assertions"}
		s := "unknown"
		if k := b.number(t, 0, 1); k < len(name) {
			s = name[k]
		}
		if target := b.string(t, 1); target != "" {
			s += " " + target
		}
		f.DisabledChecks = append(f.DisabledChecks, s)
	}
	shared := b.avals(b.tables(table, slotAvals))
	f.Inputs = b.values(table, slotInAvals, slotInAvalIDs, shared)
	f.Outputs = b.values(table, slotOutAvals, slotOutAvalIDs, shared)
	f.InShardings = b.shardings(table, slotInShardings, slotInShardingIDs)
	f.OutShardings = b.shardings(table, slotOutShardings, slotOutShardingIDs)
	at, n := b.vector(table, slotModule, 1)
	if n == 0 {
		b.fail(table, "the program has no module")
	}
	f.Module = [2]int{at, at + n}
	if v := b.field(table, slotVJP); v != 0 {
		f.VJP = b.exported(b.ref(v), order+1)
	}
	return f
}

func (b buffer) avals(tables []int) []Value {
	out := make([]Value, len(tables))
	for i, t := range tables {
		out[i].Shape = b.strings(t, 1)
		out[i].DType = "unknown"
		if d := b.number(t, 2, 1); d < len(dtypes) {
			out[i].DType = dtypes[d]
		}
	}
	return out
}

// values returns the types of inputs or outputs, stored in place or as indices into shared.
func (b buffer) values(table, slot, ids int, shared []Value) []Value {
	if list := b.tables(table, slot); len(list) > 0 {
		return b.avals(list)
	}
	var out []Value
	for _, i := range b.numbers(table, ids, 4) {
		if i >= len(shared) {
			b.fail(table, "type %d, but there are %d", i, len(shared))
		}
		out = append(out, shared[i])
	}
	return out
}

// shardings returns the shardings of inputs or outputs as text.
func (b buffer) shardings(table, slot, ids int) []string {
	var out []string
	for _, t := range b.tables(table, slot) {
		s := ""
		if n := b.field(t, 2); n != 0 {
			s = b.spec(b.ref(n))
		} else if b.number(t, 0, 1) != 0 {
			s = "HloSharding"
		}
		out = append(out, s)
	}
	if out != nil {
		return out
	}
	shared := b.tables(table, slotNamedShardings)
	for _, i := range b.numbers(table, ids, 4) {
		switch {
		case i == 0:
			out = append(out, "")
		case i > len(shared):
			b.fail(table, "sharding %d, but there are %d", i, len(shared))
		default:
			out = append(out, b.spec(shared[i-1]))
		}
	}
	return out
}

// spec returns the partitions of a named sharding: P("x", None, ("y", "z")).
func (b buffer) spec(sharding int) string {
	f := b.field(sharding, 1)
	if f == 0 {
		return "P()"
	}
	var parts []string
	for _, t := range b.tables(b.ref(f), 0) {
		axes := b.strings(t, 0)
		for i, a := range axes {
			axes[i] = fmt.Sprintf("%q", a)
		}
		switch len(axes) {
		case 0:
			parts = append(parts, "None")
		case 1:
			parts = append(parts, axes[0])
		default:
			parts = append(parts, "("+strings.Join(axes, ", ")+")")
		}
	}
	return "P(" + strings.Join(parts, ", ") + ")"
}

// Replace returns a copy of data with the module of f replaced by module. f must be the result of Read for data.
// Everything else is unchanged.
func Replace(data []byte, f *File, module []byte) ([]byte, error) {
	if uint64(len(data))+uint64(len(module)) > 1<<31 {
		return nil, errors.New("the file would be larger than 2 GiB, the most that a flatbuffer holds")
	}
	out := slices.Clone(data)
	at, old := f.Module[0], f.Module[1]-f.Module[0]
	clear(out[at : at+old])
	if len(module) <= old {
		binary.LittleEndian.PutUint32(out[at-4:], uint32(len(module)))
		copy(out[at:], module)
		return out, nil
	}
	// Append the new module at the end, because offsets may point anywhere forward.
	binary.LittleEndian.PutUint32(out[at-4:], 0)
	for len(out)%16 != 12 {
		out = append(out, 0)
	}
	field := buffer(data).field(f.table, slotModule)
	binary.LittleEndian.PutUint32(out[field:], uint32(len(out)-field))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(module)))
	return append(out, module...), nil
}
