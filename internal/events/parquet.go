package events

import (
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/hlocb/hlocb/internal/parquet"
)

// row is an operand of an event in a table. A scalar has a Value; any other value has NaN and Inf, and the range if it
// has a finite element.
type row struct {
	Process                            string
	Run, Seq, Step                     int64
	Device                             int
	Hook, ID, Kind, Location, Function string
	Operand                            int
	DType, Shape                       string
	scalar, ranged                     bool
	Value, Min, Max, Mean              float64
	NaN, Inf                           int64
	Time                               int64
}

// rowOf returns operand i of e as a row.
func rowOf(e *Event, i int) row {
	o := &e.Operands[i]
	r := row{Process: e.Process, Run: e.Run, Seq: e.Seq, Step: e.Step, Device: e.Device, Hook: e.Hook, ID: e.ID, Kind: e.Kind,
		Location: e.location(), Function: e.Function, Operand: i, DType: o.DType.String(), Shape: shapeText(o.Shape), scalar: o.Scalar, Time: e.Time}
	if o.Scalar {
		r.Value = o.Number
		return r
	}
	r.NaN, r.Inf = o.NaN, o.Inf
	if r.ranged = o.finite() > 0; r.ranged {
		r.Min, r.Max, r.Mean = o.Min, o.Max, o.Mean
	}
	return r
}

// The columns of a table by number, in the order of Columns.
const (
	columnProcess = iota
	columnRun
	columnSeq
	columnStep
	columnDevice
	columnHook
	columnID
	columnKind
	columnLocation
	columnFunction
	columnOperand
	columnDType
	columnShape
	columnValue
	columnMin
	columnMax
	columnMean
	columnNaN
	columnInf
	columnTime
)

// fields returns the columns of a table in a Parquet file.
func fields() []parquet.Field {
	out := make([]parquet.Field, len(Columns()))
	for i, name := range Columns() {
		out[i] = parquet.Field{Name: name, Kind: parquet.String}
		switch i {
		case columnRun, columnSeq, columnStep:
			out[i].Kind = parquet.Int64
		case columnDevice, columnOperand:
			out[i].Kind = parquet.Int32
		case columnValue, columnMin, columnMax, columnMean:
			out[i].Kind, out[i].Optional = parquet.Double, true
		case columnNaN, columnInf:
			out[i].Kind, out[i].Optional = parquet.Int64, true
		case columnTime:
			out[i].Kind = parquet.Time
		}
	}
	return out
}

// table holds rows by columns.
type table struct {
	columns []parquet.Column
	rows    int
}

// add appends a row.
func (t *table) add(r *row) {
	if t.columns == nil {
		t.columns = make([]parquet.Column, len(Columns()))
	}
	t.rows++
	text := func(column int, s string) { t.columns[column].Strings = append(t.columns[column].Strings, s) }
	whole := func(column int, v int64) { t.columns[column].Ints = append(t.columns[column].Ints, v) }
	float := func(column int, v float64, known bool) {
		c := &t.columns[column]
		c.Doubles, c.Null = append(c.Doubles, v), append(c.Null, !known)
	}
	count := func(column int, v int64) {
		whole(column, v)
		t.columns[column].Null = append(t.columns[column].Null, r.scalar)
	}
	text(columnProcess, r.Process)
	whole(columnRun, r.Run)
	whole(columnSeq, r.Seq)
	whole(columnStep, r.Step)
	whole(columnDevice, int64(r.Device))
	text(columnHook, r.Hook)
	text(columnID, r.ID)
	text(columnKind, r.Kind)
	text(columnLocation, r.Location)
	text(columnFunction, r.Function)
	whole(columnOperand, int64(r.Operand))
	text(columnDType, r.DType)
	text(columnShape, r.Shape)
	float(columnValue, r.Value, r.scalar)
	float(columnMin, r.Min, r.ranged)
	float(columnMax, r.Max, r.ranged)
	float(columnMean, r.Mean, r.ranged)
	count(columnNaN, r.NaN)
	count(columnInf, r.Inf)
	whole(columnTime, r.Time)
}

// row returns row i of a group.
func (t *table) row(i int) row {
	text := func(column int) string { return t.columns[column].Strings[i] }
	whole := func(column int) int64 { return t.columns[column].Ints[i] }
	float := func(column int) float64 { return t.columns[column].Doubles[i] }
	return row{Process: text(columnProcess), Run: whole(columnRun), Seq: whole(columnSeq), Step: whole(columnStep), Device: int(whole(columnDevice)),
		Hook: text(columnHook), ID: text(columnID), Kind: text(columnKind), Location: text(columnLocation), Function: text(columnFunction),
		Operand: int(whole(columnOperand)), DType: text(columnDType), Shape: text(columnShape), scalar: !t.columns[columnValue].Null[i],
		ranged: !t.columns[columnMin].Null[i], Value: float(columnValue), Min: float(columnMin), Max: float(columnMax), Mean: float(columnMean),
		NaN: whole(columnNaN), Inf: whole(columnInf), Time: whole(columnTime)}
}

// A group of fewer than minGroup rows is written again with the next rows.
const (
	minGroup = 1 << 14
	maxGroup = parquet.MaxRows
)

// Parquet writes a table with a row for each operand of each event.
//
// The footer of a Parquet file is at its end. Each flush writes new groups of rows to free places of the file and
// appends a footer that refers to them; the old footer and its last group are free places for the next flush. The file
// is therefore valid after every flush, and while a flush is under way its older footer is intact: see parquet.Open.
type Parquet struct {
	w       io.WriteCloser
	mu      sync.Mutex
	wake    sync.Cond     // rows were taken
	rows    table         // since the last flush
	full    chan struct{} // asks for a flush
	stopped chan struct{}
	err     error

	flushing sync.Mutex // guards the rest
	last     table      // the rows of the last group, which is not full
	encoder  *parquet.Encoder
	groups   []parquet.Group
	sealed   int   // rows in full groups
	size     int64 // of the file
	holes    []extent
	used     []extent // freed by the next flush
	closed   bool
}

// extent is a part of a file.
type extent struct{ at, size int64 }

// NewParquet returns a sink that writes to w, which must be a file: an io.WriterAt. Close closes w.
func NewParquet(w io.WriteCloser) *Parquet {
	p := &Parquet{w: w, full: make(chan struct{}, 1), stopped: make(chan struct{})}
	p.wake.L = &p.mu
	p.encoder, p.err = parquet.NewEncoder(fields())
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
	for p.rows.rows >= maxGroup && p.err == nil {
		p.wake.Wait()
	}
	for i := range e.Operands {
		r := rowOf(e, i)
		p.rows.add(&r)
	}
	if p.rows.rows >= maxGroup/2 {
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
	p.rows = table{}
	p.wake.Broadcast()
	p.mu.Unlock()
	if err != nil || taken.rows == 0 && p.size > 0 {
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

// append writes the last group again, with more rows, and a footer.
func (p *Parquet) append(more table) error {
	file, ok := p.w.(io.WriterAt)
	if !ok {
		return errors.New("a Parquet file must be a file that can be written at any place")
	}
	if p.size == 0 {
		// A file needs a footer at all times, also while its first group is written.
		empty := append([]byte(parquet.Magic), p.encoder.Footer(nil)...)
		if _, err := file.WriteAt(empty, 0); err != nil {
			return err
		}
		p.size = int64(len(empty))
		p.used = []extent{{int64(len(parquet.Magic)), p.size - int64(len(parquet.Magic))}}
	}
	if p.last.rows > 0 {
		p.groups = p.groups[:len(p.groups)-1]
		parquet.Append(p.last.columns, more.columns)
		more = table{p.last.columns, p.last.rows + more.rows}
		p.last = table{}
	}
	free := p.used
	p.used = nil
	for from := 0; from < more.rows; from += maxGroup {
		part := table{more.columns, more.rows}
		if more.rows > maxGroup {
			part.rows = min(more.rows-from, maxGroup)
			part.columns = parquet.Slice(more.columns, from, from+part.rows)
		}
		at, size, err := p.group(file, &part)
		if err != nil {
			return err
		}
		if part.rows >= min(max(p.sealed/64, minGroup), maxGroup) {
			p.sealed += part.rows
		} else {
			p.last = part
			p.used = append(p.used, extent{at, size})
		}
	}
	footer := p.encoder.Footer(p.groups)
	if _, err := file.WriteAt(footer, p.size); err != nil {
		return err
	}
	p.used = append(p.used, extent{p.size, int64(len(footer))})
	p.size += int64(len(footer))
	for _, f := range free {
		p.release(f)
	}
	return nil
}

// group writes a group to a free place and returns the place.
func (p *Parquet) group(file io.WriterAt, t *table) (at, size int64, err error) {
	data, group, err := p.encoder.Encode(t.columns, t.rows)
	if err != nil {
		return 0, 0, err
	}
	size = int64(len(data))
	group.Offset = p.place(size)
	p.groups = append(p.groups, *group)
	_, err = file.WriteAt(data, group.Offset)
	return group.Offset, size, err
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
