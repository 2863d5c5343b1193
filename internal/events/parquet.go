package events

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// row is an operand of an event in a Parquet file. value is null unless the operand is a scalar; the statistics are
// null unless it is not.
type row struct {
	Process  string   `parquet:"process,dict,zstd"`
	Run      int64    `parquet:"run,delta,zstd"`
	Seq      int64    `parquet:"seq,delta,zstd"`
	Step     int64    `parquet:"step,delta,zstd"`
	Device   int32    `parquet:"device,dict,zstd"`
	Hook     string   `parquet:"hook,dict,zstd"`
	ID       string   `parquet:"id,dict,zstd"`
	Kind     string   `parquet:"kind,dict,zstd"`
	Location string   `parquet:"location,dict,zstd"`
	Function string   `parquet:"function,dict,zstd"`
	Operand  int32    `parquet:"operand,dict,zstd"`
	DType    string   `parquet:"dtype,dict,zstd"`
	Shape    string   `parquet:"shape,dict,zstd"`
	Value    *float64 `parquet:"value,optional,split,zstd"`
	Min      *float64 `parquet:"min,optional,split,zstd"`
	Max      *float64 `parquet:"max,optional,split,zstd"`
	Mean     *float64 `parquet:"mean,optional,split,zstd"`
	NaN      *int64   `parquet:"nan,optional,zstd"`
	Inf      *int64   `parquet:"inf,optional,zstd"`
	Time     int64    `parquet:"time,timestamp(nanosecond:utc),delta,zstd"`
}

// numbers are the nullable columns of a row. They need memory of their own, because a row points to them.
type numbers struct {
	value, min, max, mean float64
	nan, inf              int64
}

// rowOf returns operand i of e as a row that points to n.
func rowOf(e *Event, i int, n *numbers) row {
	o := &e.Operands[i]
	r := row{Process: e.Process, Run: e.Run, Seq: e.Seq, Step: e.Step, Device: int32(e.Device), Hook: e.Hook, ID: e.ID, Kind: e.Kind,
		Location: e.location(), Function: e.Function, Operand: int32(i), DType: o.DType.String(), Shape: shapeText(o.Shape), Time: e.Time}
	if o.Scalar {
		n.value = o.Number
		r.Value = &n.value
		return r
	}
	n.min, n.max, n.mean, n.nan, n.inf = o.Min, o.Max, o.Mean, o.NaN, o.Inf
	if o.finite() > 0 {
		r.Min, r.Max, r.Mean = &n.min, &n.max, &n.mean
	}
	r.NaN, r.Inf = &n.nan, &n.inf
	return r
}

// The number of rows in a group. Rows that do not fill a group are written again with the next ones.
const (
	minGroup = 1 << 14
	maxGroup = 1 << 16
)

// Parquet writes a table with a row for each operand of each event.
//
// The footer of a Parquet file is at its end. Each flush writes new groups of rows to free places of the file and
// appends a footer that refers to them; the old footer and its last group are free places for the next flush. The file
// is therefore valid after every flush, and while a flush is under way its older footer is intact: see readParquet.
type Parquet struct {
	w       io.WriteCloser
	mu      sync.Mutex
	wake    sync.Cond // rows were taken
	rows    []row     // since the last flush
	numbers []numbers
	full    chan struct{} // asks for a flush
	stopped chan struct{}
	err     error

	flushing sync.Mutex // guards the rest
	last     []row      // the rows of the last group, which is not full
	meta     format.FileMetaData
	sealed   int64 // rows in full groups
	size     int64 // of the file
	holes    []extent
	used     []extent // freed by the next flush
	buffer   bytes.Buffer
	closed   bool
}

// extent is a part of a file.
type extent struct{ at, size int64 }

// NewParquet returns a sink that writes to w, which must be a file: an io.WriterAt. Close closes w.
func NewParquet(w io.WriteCloser) *Parquet {
	p := &Parquet{w: w, full: make(chan struct{}, 1), stopped: make(chan struct{})}
	p.wake.L = &p.mu
	go func() {
		defer close(p.stopped)
		for range p.full {
			_ = p.Flush() // it keeps the error
		}
	}()
	return p
}

func (*Parquet) concurrent() {}

// Write implements Sink. It waits for the file if that is slower than the program.
func (p *Parquet) Write(e *Event) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.rows) >= maxGroup && p.err == nil {
		p.wake.Wait()
	}
	for i := range e.Operands {
		if len(p.numbers) == cap(p.numbers) {
			p.numbers = make([]numbers, 0, 1024) // older rows keep the older memory
		}
		p.numbers = append(p.numbers, numbers{})
		p.rows = append(p.rows, rowOf(e, i, &p.numbers[len(p.numbers)-1]))
	}
	if len(p.rows) >= maxGroup/2 {
		select {
		case p.full <- struct{}{}:
		default:
		}
	}
	return p.err
}

// Flush implements Sink.
func (p *Parquet) Flush() error {
	p.flushing.Lock()
	defer p.flushing.Unlock()
	if p.closed {
		return nil
	}
	return p.flush()
}

func (p *Parquet) flush() error {
	p.mu.Lock()
	taken, err := p.rows, p.err
	p.rows = nil
	p.wake.Broadcast()
	p.mu.Unlock()
	if err != nil || len(taken) == 0 && p.size > 0 {
		return err
	}
	if err = p.append(taken); err != nil {
		p.mu.Lock()
		p.err = err
		p.wake.Broadcast()
		p.mu.Unlock()
	}
	return err
}

// Close implements Sink.
func (p *Parquet) Close() error {
	close(p.full)
	<-p.stopped
	p.flushing.Lock()
	defer p.flushing.Unlock()
	p.closed = true
	return errors.Join(p.flush(), p.w.Close())
}

const magic = "PAR1"

// append writes the last group again, with more rows, and a footer.
func (p *Parquet) append(more []row) error {
	file, ok := p.w.(io.WriterAt)
	if !ok {
		return errors.New("a Parquet file must be a file that can be written at any place")
	}
	if p.size == 0 {
		if _, err := file.WriteAt([]byte(magic), 0); err != nil {
			return err
		}
		p.size = int64(len(magic))
	}
	rows := append(p.last, more...)
	group, meta, err := encodeGroup(&p.buffer, rows)
	if err != nil {
		return err
	}
	free := p.used
	p.used = nil
	groups := p.meta.RowGroups
	if len(p.last) > 0 {
		groups = groups[:len(groups)-1]
	}
	sealed := len(rows) >= int(min(max(p.sealed/64, minGroup), maxGroup))
	p.last = rows
	if len(rows) > 0 {
		at := p.place(int64(len(group)))
		if _, err := file.WriteAt(group, at); err != nil {
			return err
		}
		g := meta.RowGroups[0]
		move(&g, at-int64(len(magic)))
		g.Ordinal = int16(min(len(groups), 1<<15-1))
		meta.RowGroups = append(groups, g)
		if sealed {
			p.sealed += int64(len(rows))
			p.last = nil
		} else {
			p.used = append(p.used, extent{at, int64(len(group))})
		}
	} else {
		meta.RowGroups = nil
	}
	meta.NumRows = p.sealed + int64(len(p.last))
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), meta)
	if err != nil {
		return err
	}
	footer = append(binary.LittleEndian.AppendUint32(footer, uint32(len(footer))), magic...)
	if _, err := file.WriteAt(footer, p.size); err != nil {
		return err
	}
	p.used = append(p.used, extent{p.size, int64(len(footer))})
	p.size += int64(len(footer))
	p.meta = *meta
	for _, f := range free {
		p.release(f)
	}
	return nil
}

// place returns where size bytes fit: in a hole, or at the end of the file.
func (p *Parquet) place(size int64) int64 {
	for i := range p.holes {
		if h := &p.holes[i]; h.size >= size {
			at := h.at
			h.at, h.size = h.at+size, h.size-size
			return at
		}
	}
	at := p.size
	p.size += size
	return at
}

// release adds a hole and joins it with its neighbours.
func (p *Parquet) release(h extent) {
	i, _ := slices.BinarySearchFunc(p.holes, h, func(a, b extent) int { return int(a.at - b.at) })
	p.holes = slices.Insert(p.holes, i, h)
	for j := max(i, 1); j <= i+1 && j < len(p.holes); {
		if before := &p.holes[j-1]; before.at+before.size == p.holes[j].at {
			before.size += p.holes[j].size
			p.holes = slices.Delete(p.holes, j, j+1)
			i--
		} else {
			j++
		}
	}
}

// encodeGroup returns the bytes of a group of rows, which start after the first bytes of a file, and a footer for it.
func encodeGroup(buf *bytes.Buffer, rows []row) ([]byte, *format.FileMetaData, error) {
	buf.Reset()
	w := parquet.NewGenericWriter[row](buf, parquet.MaxRowsPerRowGroup(1<<40), parquet.CreatedBy("hlocb", "", ""),
		parquet.ColumnIndexSizeLimit(func([]string) int { return 16 }))
	_, err := w.Write(rows)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, nil, err
	}
	file := buf.Bytes()
	meta := new(format.FileMetaData)
	start, err := footerOf(file, meta)
	if err == nil && len(meta.RowGroups) != 1 && len(rows) > 0 {
		err = fmt.Errorf("%d groups of rows, expected 1", len(meta.RowGroups))
	}
	if err != nil {
		return nil, nil, err
	}
	if len(rows) > 0 { // readers expect the indexes of pages, which follow the group, in the order of groups
		for i := range meta.RowGroups[0].Columns {
			c := &meta.RowGroups[0].Columns[i]
			for _, at := range []int64{c.ColumnIndexOffset, c.OffsetIndexOffset} {
				if at > 0 {
					start = min(start, int(at))
				}
			}
			c.ColumnIndexOffset, c.ColumnIndexLength, c.OffsetIndexOffset, c.OffsetIndexLength = 0, 0, 0, 0
		}
	}
	return file[len(magic):start], meta, nil
}

// footerOf reads the footer at the end of a file and returns its position.
func footerOf(file []byte, to *format.FileMetaData) (int, error) {
	end := len(file) - 4 - len(magic)
	if end < len(magic) || string(file[end+4:]) != magic {
		return 0, errors.New("the Parquet file has no footer")
	}
	start := end - int(binary.LittleEndian.Uint32(file[end:]))
	if start < len(magic) {
		return 0, errors.New("the Parquet file's footer is larger than the file")
	}
	return start, thrift.Unmarshal(new(thrift.CompactProtocol), file[start:end], to)
}

// move changes the positions of a group of rows.
func move(g *format.RowGroup, by int64) {
	shift := func(p *int64) {
		if *p != 0 {
			*p += by
		}
	}
	shift(&g.FileOffset)
	g.Columns = slices.Clone(g.Columns)
	for i := range g.Columns {
		c := &g.Columns[i]
		for _, p := range []*int64{&c.FileOffset, &c.MetaData.DataPageOffset, &c.MetaData.IndexPageOffset,
			&c.MetaData.DictionaryPageOffset, &c.MetaData.BloomFilterOffset} {
			shift(p)
		}
	}
}
