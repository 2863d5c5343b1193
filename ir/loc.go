package ir

import "math"

// LocKind tells the kinds of locations apart.
type LocKind uint8

// Kinds of locations (MLIR, "Builtin dialect", Location attributes).
const (
	LocUnknown  LocKind = iota // loc(unknown)
	LocFile                    // loc("file":line:col), with a range loc("file":l:c to l2:c2)
	LocName                    // loc("name"(child))
	LocCallSite                // loc(callsite(callee at caller))
	LocFused                   // loc(fused<metadata>[a, b])
)

// Loc is an MLIR location: where, in the program that the producer compiled, an op comes from. It is data that
// round-trips; diagnostics about the module's text use Pos. Locations are immutable.
type Loc struct {
	kind     LocKind
	depth    uint16
	size     uint32
	name     string // file or name
	line     uint32 // of a fused location, the length of the metadata's text
	col      uint32
	endLine  uint32 // 0 where the location is no range
	endCol   uint32
	children []*Loc // name: 0 or 1; callsite: callee, caller; fused: any number
	metadata Attr   // fused only
}

// NewFileLoc returns loc("file":line:col).
func NewFileLoc(file string, line, col uint32) *Loc {
	return &Loc{kind: LocFile, name: file, line: line, col: col, size: uint32(len(file)) + ownSize}
}

// NewFileRangeLoc returns loc("file":line:col to endLine:endCol).
func NewFileRangeLoc(file string, line, col, endLine, endCol uint32) *Loc {
	return &Loc{kind: LocFile, name: file, line: line, col: col, endLine: endLine, endCol: endCol, size: uint32(len(file)) + ownSize}
}

// NewNameLoc returns loc("name"(child)); child may be nil.
func NewNameLoc(name string, child *Loc) *Loc {
	l := &Loc{kind: LocName, name: name}
	if child != nil {
		l.children = []*Loc{child}
	}
	l.Measure()
	return l
}

// NewCallSiteLoc returns loc(callsite(callee at caller)).
func NewCallSiteLoc(callee, caller *Loc) *Loc {
	l := &Loc{kind: LocCallSite, children: []*Loc{callee, caller}}
	l.Measure()
	return l
}

// NewFusedLoc returns loc(fused<metadata>[children...]); metadata may be nil.
func NewFusedLoc(metadata Attr, children []*Loc) *Loc {
	l := &Loc{kind: LocFused, metadata: metadata, children: children}
	l.Measure()
	return l
}

// ownSize is about the length of the text of a location without names and nested locations.
const ownSize = 24

// Measure takes size and depth from the name and the nested locations. It is for readers that define some of those
// later, and metadata from Enlarge.
func (l *Loc) Measure() {
	size, depth := uint64(len(l.name))+ownSize, uint16(0)
	if l.kind == LocFused {
		size += uint64(l.line)
	}
	for _, c := range l.children {
		size += uint64(c.size)
		depth = max(depth, c.depth)
	}
	l.size = uint32(min(size, math.MaxUint32))
	if depth++; depth > 0 {
		l.depth = depth
	}
}

// Enlarge sets how long the text of the metadata of a fused location is in bytes.
func (l *Loc) Enlarge(n int64) {
	l.line = uint32(min(n, math.MaxUint32))
	l.Measure()
}

// Size returns about how long the text is in bytes when it is written without aliases, at most 1<<32 - 1.
func (l *Loc) Size() uint32 { return l.size }

// Depth returns how deep locations are nested in l.
func (l *Loc) Depth() int { return int(l.depth) }

// NewForwardLoc returns a location that is only named so far; Define makes it what def is. It exists for readers of
// text whose location aliases stand behind their uses.
func NewForwardLoc() *Loc { return &Loc{kind: LocUnknown} }

// Define completes a location made by NewForwardLoc.
func (l *Loc) Define(def *Loc) { *l = *def }

// Kind returns the kind; a nil location is unknown.
func (l *Loc) Kind() LocKind {
	if l == nil {
		return LocUnknown
	}
	return l.kind
}

// Name returns the file, the name or the opaque text.
func (l *Loc) Name() string { return l.name }

// Start returns line and column of a file location.
func (l *Loc) Start() (line, col uint32) { return l.line, l.col }

// End returns the end of a file range, 0, 0 where the location is no range.
func (l *Loc) End() (line, col uint32) { return l.endLine, l.endCol }

// Children returns the nested locations.
func (l *Loc) Children() []*Loc { return l.children }

// Metadata returns the attribute of a fused location, nil for none.
func (l *Loc) Metadata() Attr { return l.metadata }
