package events

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// TensorBoard writes files of events for TensorBoard: a scalar for each scalar operand and for each number of a "stats"
// probe, and a histogram for each other operand. A tag is the hook's name. Devices after the first, and processes, are
// runs of TensorBoard: directories.
type TensorBoard struct {
	dir, process string
	files        map[string]*eventFile // by directory
	message      []byte
	value        []byte
	histogram    []byte
}

// NewTensorBoard returns a sink that writes into a directory, which it makes.
func NewTensorBoard(dir, process string) (*TensorBoard, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	return &TensorBoard{dir: dir, process: process, files: map[string]*eventFile{}}, nil
}

// eventFile is a file of records: TFRecord.
type eventFile struct {
	f *os.File
	w *bufio.Writer
}

// file returns the file of an event's run.
func (t *TensorBoard) file(e *Event) (*eventFile, error) {
	dir := t.dir
	if e.Process != t.process {
		dir = filepath.Join(dir, safeName(e.Process))
	}
	if e.Device != 0 {
		dir = filepath.Join(dir, "device-"+strconv.Itoa(e.Device))
	}
	if f := t.files[dir]; f != nil {
		return f, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	now := time.Now()
	for n := 0; ; n++ { // TensorBoard reads the files of a directory in the order of their names
		name := fmt.Sprintf("events.out.tfevents.%010d.%s.%d.%d", now.Unix(), safeName(host), os.Getpid(), n)
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		file := &eventFile{f, bufio.NewWriterSize(f, 1<<16)}
		t.files[dir] = file
		b := protowire.AppendTag(nil, fieldTime, protowire.Fixed64Type)
		b = protowire.AppendFixed64(b, math.Float64bits(float64(now.UnixNano())/1e9))
		b = protowire.AppendTag(b, fieldVersion, protowire.BytesType)
		return file, file.record(protowire.AppendString(b, "brain.Event:2"))
	}
}

// safeName replaces the characters that a name of a file lacks.
func safeName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
	if strings.Trim(s, ".") == "" {
		return "_" + s
	}
	return s
}

// record writes a record: its length, a checksum of the length, the data, and a checksum of the data.
func (f *eventFile) record(data []byte) error {
	var head [12]byte
	binary.LittleEndian.PutUint64(head[:], uint64(len(data)))
	binary.LittleEndian.PutUint32(head[8:], maskedSum(head[:8]))
	var sum [4]byte
	binary.LittleEndian.PutUint32(sum[:], maskedSum(data))
	_, err1 := f.w.Write(head[:])
	_, err2 := f.w.Write(data)
	_, err3 := f.w.Write(sum[:])
	return errors.Join(err1, err2, err3)
}

// maskedSum is the checksum of TFRecord: CRC-32C, rotated and with a constant added.
func maskedSum(b []byte) uint32 {
	sum := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
	return (sum>>15 | sum<<17) + 0xa282ead8
}

// The fields of TensorFlow's messages Event, Summary, Summary.Value and HistogramProto.
const (
	fieldTime    = 1 // Event
	fieldStep    = 2
	fieldVersion = 3
	fieldSummary = 5

	fieldValue     = 1 // Summary
	fieldTag       = 1 // Summary.Value
	fieldSimple    = 2
	fieldHistogram = 5

	fieldMin     = 1 // HistogramProto
	fieldMax     = 2
	fieldNum     = 3
	fieldSum     = 4
	fieldSquares = 5
	fieldLimits  = 6
	fieldCounts  = 7
)

// Write implements Sink.
func (t *TensorBoard) Write(e *Event) error {
	f, err := t.file(e)
	if err != nil {
		return err
	}
	when := e.Time
	if when == 0 {
		when = time.Now().UnixNano()
	}
	summary := t.message[:0]
	scalar := func(tag string, v float64) {
		t.value = protowire.AppendString(protowire.AppendTag(t.value[:0], fieldTag, protowire.BytesType), tag)
		t.value = protowire.AppendTag(t.value, fieldSimple, protowire.Fixed32Type)
		t.value = protowire.AppendFixed32(t.value, math.Float32bits(float32(v)))
		summary = protowire.AppendBytes(protowire.AppendTag(summary, fieldValue, protowire.BytesType), t.value)
	}
	for i := range e.Operands {
		o, tag := &e.Operands[i], e.tag(i, len(e.Operands))
		switch {
		case o.Scalar:
			scalar(tag, o.Number)
		case o.Value == nil:
			scalar(tag+"/min", o.Min)
			scalar(tag+"/max", o.Max)
			scalar(tag+"/mean", o.Mean)
			scalar(tag+"/nan", float64(o.NaN))
			scalar(tag+"/inf", float64(o.Inf))
		default:
			t.histogram = appendHistogram(t.histogram[:0], o)
			t.value = protowire.AppendString(protowire.AppendTag(t.value[:0], fieldTag, protowire.BytesType), tag)
			t.value = protowire.AppendBytes(protowire.AppendTag(t.value, fieldHistogram, protowire.BytesType), t.histogram)
			summary = protowire.AppendBytes(protowire.AppendTag(summary, fieldValue, protowire.BytesType), t.value)
			if o.NaN+o.Inf > 0 { // a histogram has no place for them
				scalar(tag+"/nan", float64(o.NaN))
				scalar(tag+"/inf", float64(o.Inf))
			}
		}
	}
	t.message = summary
	b := protowire.AppendTag(nil, fieldTime, protowire.Fixed64Type)
	b = protowire.AppendFixed64(b, math.Float64bits(float64(when)/1e9))
	b = protowire.AppendTag(b, fieldStep, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(e.Step))
	b = protowire.AppendBytes(protowire.AppendTag(b, fieldSummary, protowire.BytesType), summary)
	return f.record(b)
}

// bins is the number of bins of a histogram.
const bins = 30

// appendHistogram appends a histogram of the finite elements, in bins of equal width.
func appendHistogram(b []byte, o *Operand) []byte {
	low, high, n := o.Min, o.Max, o.finite()
	if n == 0 {
		low, high = 0, 0
	}
	counts := make([]float64, bins)
	width := high/bins - low/bins // no overflow
	elements(o.Value, func(v float64) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return
		}
		k := 0
		if width > 0 {
			k = min(int((v/bins-low/bins)/width*bins), bins-1)
		}
		counts[max(k, 0)]++
	})
	double := func(field protowire.Number, v float64) {
		b = protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), math.Float64bits(v))
	}
	packed := func(field protowire.Number, list []float64) {
		b = protowire.AppendVarint(protowire.AppendTag(b, field, protowire.BytesType), uint64(8*len(list)))
		for _, v := range list {
			b = protowire.AppendFixed64(b, math.Float64bits(v))
		}
	}
	limits := make([]float64, bins)
	for i := range limits {
		limits[i] = low + width*float64(i+1)
	}
	limits[bins-1] = high
	if width == 0 {
		limits, counts = []float64{high}, counts[:1]
	}
	mean, squares := o.Mean, o.Squares
	if n == 0 {
		mean, squares = 0, 0
	}
	double(fieldMin, low)
	double(fieldMax, high)
	double(fieldNum, float64(n))
	double(fieldSum, mean*float64(n))
	double(fieldSquares, squares)
	packed(fieldLimits, limits)
	packed(fieldCounts, counts)
	return b
}

// Flush implements Sink.
func (t *TensorBoard) Flush() error {
	var errs []error
	for _, f := range t.files {
		errs = append(errs, f.w.Flush())
	}
	return errors.Join(errs...)
}

// Close implements Sink.
func (t *TensorBoard) Close() error {
	var errs []error
	for _, f := range t.files {
		errs = append(errs, f.w.Flush(), f.f.Close())
	}
	return errors.Join(errs...)
}
