// Package parquet writes and reads flat tables in the format of Apache Parquet, whose specification is
// https://github.com/apache/parquet-format.
//
// It writes one page for each column of a group of rows: numbers as BYTE_STREAM_SPLIT or DELTA_BINARY_PACKED, text as
// RLE_DICTIONARY, compressed by gzip if that saves something. It reads tables with these encodings, which are the
// tables that it has written, and refuses others.
package parquet

// Kind is the type of a column.
type Kind uint8

// The types of columns.
const (
	Int32  Kind = iota
	Int64       // a 64-bit integer
	Time        // nanoseconds since 1970, UTC
	Double      // a 64-bit float
	String      // UTF-8
)

// Field describes a column.
type Field struct {
	Name     string
	Kind     Kind
	Optional bool // a row may have no value
}

// Column holds the values of a field, one for each row, in the slice of its kind: Ints, Doubles or Strings.
type Column struct {
	Ints    []int64
	Doubles []float64
	Strings []string
	// Null says which rows of an optional field have no value. The slice of values holds zeros for them.
	Null []bool
}

// Append appends the rows of other columns of the same fields.
func Append(to, more []Column) {
	for i := range to {
		to[i].Ints = append(to[i].Ints, more[i].Ints...)
		to[i].Doubles = append(to[i].Doubles, more[i].Doubles...)
		to[i].Strings = append(to[i].Strings, more[i].Strings...)
		to[i].Null = append(to[i].Null, more[i].Null...)
	}
}

// Slice returns the rows from one number up to another.
func Slice(columns []Column, from, to int) []Column {
	out := make([]Column, len(columns))
	for i, c := range columns {
		out[i] = Column{part(c.Ints, from, to), part(c.Doubles, from, to), part(c.Strings, from, to), part(c.Null, from, to)}
	}
	return out
}

func part[T any](list []T, from, to int) []T {
	if list == nil {
		return nil
	}
	return list[from:to:to]
}

const (
	// MaxRows is the largest number of rows in a group.
	MaxRows = 1 << 16
	// Magic is at the start and at the end of a file.
	Magic = "PAR1"
	// maxPage is the largest number of bytes in a page, before compression.
	maxPage = 1 << 26
)

// The numbers of the format.
const (
	typeInt32     = 1
	typeInt64     = 2
	typeDouble    = 5
	typeByteArray = 6

	encodingPlain           = 0
	encodingRLE             = 3
	encodingDelta           = 5
	encodingDictionary      = 8
	encodingByteStreamSplit = 9

	codecNone = 0
	codecGzip = 2

	pageData       = 0
	pageDictionary = 2
)

// physical returns the type that stores a kind, and the encoding of its pages.
func (k Kind) physical() (stored, encoding int64) {
	switch k {
	case Int32:
		return typeInt32, encodingDelta
	case Double:
		return typeDouble, encodingByteStreamSplit
	case String:
		return typeByteArray, encodingDictionary
	}
	return typeInt64, encodingDelta
}

// chunk describes the bytes of a column in a group of rows.
type chunk struct {
	name                         string
	stored, codec                int64
	offset, size                 int64 // in bytes, from the start of the file; of a Group, from its start
	dictionary                   int64 // the size of the dictionary's page, or 0
	uncompressed, values, absent int64 // absent counts the rows without a value
	min, max                     []byte
}
