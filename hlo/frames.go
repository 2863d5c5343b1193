package hlo

import (
	"slices"
	"strings"

	"github.com/hlocb/hlocb/ir"
)

// maxFrames limits the frames of one stack, and the parts of a location that are searched for them.
const maxFrames = 4000

// loc returns the location in an instruction's metadata: its name around the frames of its stack, or around the place
// in a file if it has no frames.
func (im *importer) loc(in *instr) *ir.Loc {
	m := attrOf[*metadata](in, "metadata")
	if m == nil {
		return nil
	}
	child := im.stack(m.frame)
	if child == nil && m.sourceFile != "" {
		child = im.place(m.sourceFile, &fileLocation{line: m.sourceLine, column: m.sourceColumn, endLine: m.sourceEndLine, endColumn: m.sourceEndColumn})
	}
	if m.opName == "" {
		return child
	}
	return im.locs.Name(m.opName, child)
}

// place returns the location of a range in a file.
func (im *importer) place(file string, l *fileLocation) *ir.Loc {
	number := func(v int64) uint32 { return uint32(min(max(v, 0), 1<<32-1)) }
	line, col, endLine, endCol := number(l.line), number(l.column), number(l.endLine), number(l.endColumn)
	if endLine < line || endLine == line && endCol <= col {
		endLine, endCol = 0, 0
	}
	return im.locs.File(file, line, col, endLine, endCol)
}

// stack returns the location of a frame, called at the frames around it: callsite("g"("b.py":2:5) at "f"("a.py":1:3)).
// It is nil if the frame has no file.
func (im *importer) stack(id int64) *ir.Loc {
	t := &im.hlo.frames
	if im.stacks == nil {
		im.stacks = make([]*ir.Loc, len(t.frames)+1)
	}
	var ids []int64 // the frames without a location yet, innermost first
	for id > 0 && id < int64(len(im.stacks)) && im.stacks[id] == nil && len(ids) < maxFrames && !slices.Contains(ids, id) {
		ids = append(ids, id)
		id = t.frames[id-1].parent
	}
	var l *ir.Loc
	if id > 0 && id < int64(len(im.stacks)) {
		l = im.stacks[id]
	}
	for _, id := range slices.Backward(ids) {
		if own := im.frame(t, t.frames[id-1].location); own != nil && l != nil && l.Depth() < maxFrames {
			l = im.locs.CallSite(own, l)
		} else if own != nil {
			l = own
		}
		im.stacks[id] = l
	}
	return l
}

// frame returns the location of one frame without its callers: "f"("a.py":1:3).
func (im *importer) frame(t *stackTables, id int64) *ir.Loc {
	if id <= 0 || id > int64(len(t.locations)) {
		return nil
	}
	l := &t.locations[id-1]
	if l.file <= 0 || l.file > int64(len(t.files)) {
		return nil
	}
	place := im.place(t.files[l.file-1], l)
	if l.function <= 0 || l.function > int64(len(t.functions)) || t.functions[l.function-1] == "" {
		return place
	}
	return im.locs.Name(t.functions[l.function-1], place)
}

// frameTables adds stacks to the tables of a module. The ids in the maps are those of the tables, from one.
type frameTables struct {
	out              *stackTables
	files, functions map[string]int64
	locations        map[fileLocation]int64
	frames           map[stackFrame]int64
}

// newFrameTables returns the tables t with their ids.
func newFrameTables(t *stackTables) *frameTables {
	return &frameTables{t, ids(&t.files), ids(&t.functions), ids(&t.locations), ids(&t.frames)}
}

// ids returns the ids of the entries of a table. An entry that is appended to the table later is copied first, because
// modules share tables.
func ids[T comparable](table *[]T) map[T]int64 {
	*table = slices.Clip(*table)
	m := map[T]int64{}
	for i, v := range *table {
		m[v] = int64(i) + 1
	}
	return m
}

// id returns the id of v in a table and adds v if it is new.
func id[T comparable](known map[T]int64, table *[]T, v T) int64 {
	if known[v] == 0 {
		*table = append(*table, v)
		known[v] = int64(len(*table))
	}
	return known[v]
}

// sourceFrame is one frame of a location.
type sourceFrame struct {
	function string
	place    *ir.Loc
}

// add returns the id of the innermost of the frames of a stack, which come innermost first.
func (t *frameTables) add(stack []sourceFrame) int64 {
	frame := int64(0)
	for _, f := range slices.Backward(stack) {
		l := locationOf(f.place)
		l.file, l.function = id(t.files, &t.out.files, f.place.Name()), id(t.functions, &t.out.functions, f.function)
		frame = id(t.frames, &t.out.frames, stackFrame{id(t.locations, &t.out.locations, l), frame})
	}
	return frame
}

// locationOf returns the range of a location in a file. One character is a range, too.
func locationOf(l *ir.Loc) fileLocation {
	line, col := l.Start()
	endLine, endCol := l.End()
	if endLine == 0 {
		endLine, endCol = line, col
	}
	return fileLocation{line: int64(line), column: int64(col), endLine: int64(endLine), endColumn: int64(endCol)}
}

// metadataOf returns the metadata of an instruction with location l, as XLA makes it: the name of l, and its stack if
// there are several frames or a frame with another name. The metadata itself holds a single place.
func (ex *exporter) metadataOf(l *ir.Loc) *metadata {
	if l == nil {
		return nil
	}
	m := &metadata{opName: nameOf(l)}
	stack := stackOf(l)
	switch {
	case len(stack) == 1 && (stack[0].function == "" || stack[0].function == m.opName):
		at := locationOf(stack[0].place)
		m.sourceFile, m.sourceLine, m.sourceColumn = stack[0].place.Name(), at.line, at.column
		if at.endLine != at.line || at.endColumn != at.column {
			m.sourceEndLine, m.sourceEndColumn = at.endLine, at.endColumn
		}
	case len(stack) > 0:
		if ex.frames == nil {
			ex.frames = newFrameTables(&ex.out.frames)
		}
		m.frame = ex.frames.add(stack)
	}
	if noMetadata(m) {
		return nil
	}
	return m
}

// nameOf returns the name of a location: that of a call site's callee, the names of all parts of a fused location.
func nameOf(l *ir.Loc) string {
	var names []string
	walkLoc(l, func(l *ir.Loc) []*ir.Loc {
		switch list := l.Children(); l.Kind() {
		case ir.LocName:
			names = append(names, l.Name())
		case ir.LocCallSite:
			return list[:1]
		case ir.LocFused:
			return list
		}
		return nil
	})
	return strings.Join(names, ";")
}

// stackOf returns the places in files that a location names, innermost first; of a fused location the places of its
// first part that has any.
func stackOf(l *ir.Loc) []sourceFrame {
	var stack []sourceFrame
	walkLoc(l, func(l *ir.Loc) []*ir.Loc {
		list := l.Children()
		switch l.Kind() {
		case ir.LocFile:
			stack = append(stack, sourceFrame{"", l})
		case ir.LocName:
			if len(list) == 0 || list[0].Kind() != ir.LocFile {
				return list
			}
			stack = append(stack, sourceFrame{l.Name(), list[0]})
		case ir.LocCallSite:
			return list
		case ir.LocFused:
			if i := slices.IndexFunc(list, hasPlace); i >= 0 {
				return list[i : i+1]
			}
		}
		return nil
	})
	return stack
}

// hasPlace reports whether a location names a place in a file.
func hasPlace(l *ir.Loc) bool {
	found := false
	walkLoc(l, func(l *ir.Loc) []*ir.Loc {
		if found = found || l.Kind() == ir.LocFile; found {
			return nil
		}
		return l.Children()
	})
	return found
}

// walkLoc visits l and the locations inside it that visit returns, from left to right, but not more than maxFrames.
func walkLoc(l *ir.Loc, visit func(*ir.Loc) []*ir.Loc) {
	waiting := []*ir.Loc{l}
	for n := 0; n < maxFrames && len(waiting) > 0; n++ {
		l := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		inner := visit(l)
		for _, c := range slices.Backward(inner[:min(len(inner), maxFrames)]) {
			waiting = append(waiting, c)
		}
	}
}
