package ir

import "math"

// LocKind is the kind of a location.
type LocKind uint8

// Kinds of locations (MLIR, "Builtin dialect", Location attributes).
const (
	LocUnknown  LocKind = iota // loc(unknown)
	LocFile                    // loc("file":line:col), with a range loc("file":l:c to l2:c2)
	LocName                    // loc("name"(child))
	LocCallSite                // loc(callsite(callee at caller))
	LocFused                   // loc(fused<metadata>[a, b])
)

// Loc is an MLIR location: the place in the producer's program that an op comes from. It round-trips. Diagnostics about
// the module's text use Pos instead. Locations are immutable. A LocTable makes them; the zero Loc is loc(unknown).
type Loc struct {
	kind    LocKind
	depth   uint16
	size    uint32
	name    string // file or name
	line    uint32
	col     uint32
	endLine uint32 // 0 if the location is not a range
	endCol  uint32
	parts   *locParts // nil for a location without nested locations
}

// locParts holds the nested locations and the metadata of a location.
type locParts struct {
	kids         []*Loc // name: 0 or 1; callsite: callee, caller; fused: any number
	metadata     Attr   // fused only
	metadataSize uint32 // approximate length of its text
	metadataHash uint64
}

// ownSize is the approximate text length of a location without names and nested locations.
const ownSize = 24

// measure computes size and depth from the name and the parts.
func (l *Loc) measure() {
	size, depth := uint64(len(l.name))+ownSize, uint16(0)
	if l.parts != nil {
		size += uint64(l.parts.metadataSize)
	}
	for _, c := range l.Children() {
		size += uint64(c.size)
		depth = max(depth, c.depth)
	}
	l.size = uint32(min(size, math.MaxUint32))
	l.depth = max(depth, depth+1) // depth+1 may be 0
}

// Size returns the approximate length in bytes of the text without aliases, at most 1<<32 - 1.
func (l *Loc) Size() uint32 { return l.size }

// Depth returns the nesting depth of l, at most 1<<16 - 1.
func (l *Loc) Depth() int { return int(l.depth) }

// Kind returns the kind; a nil location is unknown.
func (l *Loc) Kind() LocKind {
	if l == nil {
		return LocUnknown
	}
	return l.kind
}

// Name returns the file, or the name of a named location.
func (l *Loc) Name() string { return l.name }

// Start returns line and column of a file location.
func (l *Loc) Start() (line, col uint32) { return l.line, l.col }

// End returns the end of a file range, or 0, 0 if the location is not a range.
func (l *Loc) End() (line, col uint32) { return l.endLine, l.endCol }

// Children returns the nested locations. The caller must not change the slice.
func (l *Loc) Children() []*Loc {
	if l.parts == nil {
		return nil
	}
	return l.parts.kids
}

// Metadata returns the attribute of a fused location, or nil.
func (l *Loc) Metadata() Attr {
	if l.parts == nil {
		return nil
	}
	return l.parts.metadata
}
