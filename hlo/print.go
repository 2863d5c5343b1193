package hlo

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// TextOptions say how a module is printed.
type TextOptions struct {
	// Short prints names without '%', no program shapes and no metadata, as as_hlo_text of XLA does. It keeps control
	// predecessors, which XLA's short form loses.
	Short bool
	// ElideAbove omits the elements of constants that have more elements than this; 0 omits nothing.
	ElideAbove int64
}

// writer prints one module.
type writer struct {
	short bool
	elide int64
	out   io.Writer // nil to keep the whole text
	err   error     // of out, or because the text is too long

	written int // number of bytes written to out
}

// maxText is the length of the longest text that can be read.
const maxText = math.MaxUint32 - 1

// pieceBytes is the length of the text after which a writer with an output writes it.
const pieceBytes = 1 << 16

func newWriter(opts TextOptions) *writer {
	w := &writer{short: opts.Short, elide: -1}
	if opts.ElideAbove > 0 {
		w.elide = opts.ElideAbove
	}
	return w
}

// AppendText appends m as text. The long form matches XLA's HloModule::ToString with large constants.
func (m *Module) AppendText(b []byte, opts TextOptions) []byte {
	n := 0
	for _, c := range m.comps {
		n += len(c.instrs) + 2
	}
	b = slices.Grow(b, 140*n) // about the length of a line, so that the buffer grows rarely
	return newWriter(opts).module(b, m)
}

// WriteText writes the text of m to out piece by piece: many constants can share one value, and each is printed. A text
// that is too long to be read again, above 4 GiB, is an error.
func (m *Module) WriteText(out io.Writer, opts TextOptions) error {
	w := newWriter(opts)
	w.out = out
	w.flush(w.module(make([]byte, 0, 2*pieceBytes), m))
	return w.err
}

// piece writes b if it is long and w has an output. It returns the buffer to go on with.
func (w *writer) piece(b []byte) []byte {
	if w.out == nil || len(b) < pieceBytes {
		return b
	}
	return w.flush(b)
}

func (w *writer) flush(b []byte) []byte {
	if w.written += len(b); w.err == nil && w.written > maxText {
		w.err = fmt.Errorf("the text of the module has more than %d bytes, the most that can be read again", maxText)
	}
	if w.err == nil {
		_, w.err = w.out.Write(b)
	}
	return b[:0]
}

func (w *writer) module(b []byte, m *Module) []byte {
	b = m.appendHeader(b)
	if !w.short {
		b = m.frames.append(b)
	}
	for _, c := range m.comps {
		b = w.computation(b, c, c == m.entry)
		b = append(b, "\n\n"...)
	}
	return b
}

func (m *Module) appendHeader(b []byte) []byte {
	b = appendBareName(append(b, "HloModule "...), m.name)
	if m.scheduled {
		b = append(b, ", is_scheduled=true"...)
	}
	if len(m.aliases) > 0 {
		b = append(b, ", input_output_alias="...)
		b = appendSpaced(b, m.aliases, func(b []byte, a moduleAlias) []byte {
			b = a.append(b)
			if a.must {
				return append(b, ", must-alias)"...)
			}
			return append(b, ", may-alias)"...)
		})
	}
	if len(m.donors) > 0 {
		b = append(b, ", buffer_donor="...)
		b = appendSpaced(b, m.donors, func(b []byte, d donor) []byte {
			b = strconv.AppendInt(append(b, '('), d.param, 10)
			return append(appendBraced(append(b, ", "...), d.index), ')')
		})
	}
	if m.passthrough {
		b = append(b, ", alias_passthrough_params=true"...)
	}
	b = append(b, ", entry_computation_layout={("...)
	for i, s := range m.layout.params {
		b = appendIndexComment(b, i)
		b = appendShape(b, s, true)
	}
	b = append(b, ")->"...)
	b = append(appendShape(b, m.layout.result, true), '}')
	if len(m.spmdParams) > 0 && (len(m.spmdParams) > 1 || m.spmdParams[0]) {
		b = appendBools(append(b, ", allow_spmd_sharding_propagation_to_parameters="...), m.spmdParams)
	}
	if len(m.spmdOutput) > 0 && (len(m.spmdOutput) > 1 || m.spmdOutput[0]) {
		b = appendBools(append(b, ", allow_spmd_sharding_propagation_to_output="...), m.spmdOutput)
	}
	if m.replicas != 1 {
		b = strconv.AppendInt(append(b, ", replica_count="...), m.replicas, 10)
	}
	if m.partitions != 1 {
		b = strconv.AppendInt(append(b, ", num_partitions="...), m.partitions, 10)
	}
	if len(m.frontend) > 0 {
		b = appendPairs(append(b, ", frontend_attributes="...), m.frontend)
	}
	if m.config != "" {
		b = appendStringOrDict(append(b, ", backend_config="...), m.config)
	}
	if len(m.recovery) > 0 {
		b = append(b, ", origin_recovery_table={\n"...)
		for _, r := range m.recovery {
			b = r.replaced.append(append(b, "  "...))
			b = r.replacing.append(append(b, " : "...))
			if r.module != "" {
				b = append(b, ",\n  "...)
				b = appendQuoted(b, r.module)
			}
			b = append(b, '\n')
		}
		b = append(b, "}\n"...)
	}
	b = appendDebug(b, m.debug)
	return append(b, "\n\n"...)
}

// appendSpaced is appendItems with a blank inside each brace.
func appendSpaced[T any](b []byte, list []T, item func([]byte, T) []byte) []byte {
	start := len(b)
	b = appendItems(b, ", ", list, item)
	b = slices.Insert(b, start+1, ' ')
	return append(b[:len(b)-1], " }"...)
}

// append appends the four tables, or nothing if there are no frames.
func (t *stackTables) append(b []byte) []byte {
	if len(t.frames) == 0 && len(t.files) == 0 {
		return b
	}
	names := func(title string, list []string) {
		b = append(append(b, title...), '\n')
		for i, s := range list {
			b = strconv.AppendInt(b, int64(i)+1, 10)
			b = append(appendQuoted(append(b, ' '), s), '\n')
		}
		b = append(b, '\n')
	}
	names("FileNames", t.files)
	names("FunctionNames", t.functions)
	field := func(name string, v int64) { b = strconv.AppendInt(append(b, name...), v, 10) }
	b = append(b, "FileLocations\n"...)
	for i, l := range t.locations {
		field("", int64(i)+1)
		field(" {file_name_id=", l.file)
		field(" function_name_id=", l.function)
		field(" line=", l.line)
		field(" end_line=", l.endLine)
		field(" column=", l.column)
		field(" end_column=", l.endColumn)
		b = append(b, "}\n"...)
	}
	b = append(b, "\nStackFrames\n"...)
	for i, f := range t.frames {
		field("", int64(i)+1)
		field(" {file_location_id=", f.location)
		field(" parent_frame_id=", f.parent+1)
		b = append(b, "}\n"...)
	}
	return append(b, "\n\n"...)
}

func (w *writer) appendName(b []byte, name string) []byte {
	if w.short {
		return appendBareName(b, name)
	}
	return append(append(b, '%'), name...)
}

// appendBareName appends a name without '%', unless it is a word of the grammar: XLA prints these bare, too, and cannot
// read them.
func appendBareName(b []byte, name string) []byte {
	if reserved[name] {
		b = append(b, '%')
	}
	return append(b, name...)
}

func (w *writer) computation(b []byte, c *computation, entry bool) []byte {
	if entry {
		b = append(b, "ENTRY "...)
	}
	b = w.appendName(b, c.name)
	b = append(b, ' ')
	if !w.short {
		b = appendJoined(append(b, '('), ", ", c.params, func(b []byte, in *instr) []byte {
			return appendShape(append(append(b, in.name...), ": "...), in.shape, false)
		})
		b = append(b, ") -> "...)
		b = append(appendShape(b, c.root.shape, false), ' ')
	}
	b = append(b, "{\n"...)
	for _, in := range c.instrs {
		b = append(b, "  "...)
		if in == c.root {
			b = append(b, "ROOT "...)
		}
		if b = w.piece(append(w.instruction(b, in), '\n')); w.err != nil {
			return b
		}
	}
	b = append(b, '}')
	if c.thread != "" {
		b = appendQuoted(append(b, ", execution_thread="...), c.thread)
	}
	if c.config != "" {
		b = appendStringOrDict(append(b, ", backend_config="...), c.config)
	}
	return b
}

func (w *writer) instruction(b []byte, in *instr) []byte {
	b = w.appendName(b, in.name)
	b = append(b, " = "...)
	b = append(appendShape(b, in.shape, true), ' ')
	b = append(append(b, in.opName()...), '(')
	switch in.op {
	case opParameter:
		b = strconv.AppendInt(b, in.param, 10)
	case opConstant:
		b = appendLiteral(b, in.literal, w.elide)
	default:
		for i, o := range in.operands {
			b = appendIndexComment(b, i)
			b = w.appendName(b, o.name)
		}
	}
	b = append(b, ')')
	for _, a := range in.attrs {
		if w.short && a.spec == cMetadata {
			continue
		}
		b = append(append(append(b, ", "...), a.spec.name...), '=')
		b = w.appendAttr(b, a.spec, a.value)
	}
	return b
}

// appendTypedLiteral appends a literal with its shape. Elements of a tuple have their own shapes.
func (w *writer) appendTypedLiteral(b []byte, v *literal) []byte {
	if v.shape.isTuple() {
		return append(appendJoined(append(b, "( "...), ", ", v.elems, w.appendTypedLiteral), " )"...)
	}
	b = append(appendShape(b, v.shape, true), ' ')
	return appendLiteral(b, v, -1)
}
