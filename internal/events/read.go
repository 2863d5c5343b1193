package events

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/hlocb/hlocb/internal/parquet"
	"github.com/hlocb/hlocb/internal/tensorio"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

// Read calls f with each event of a file: JSON lines, a recording, or the Parquet that this package writes. process
// names the events of a file that names no process.
func Read(path, process string, f func(e *Event) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	head := make([]byte, len(parquet.Magic))
	if n, _ := file.ReadAt(head, 0); string(head[:n]) == parquet.Magic {
		err = readParquet(file, process, f)
	} else {
		err = readLines(file, path+handlers.DataSuffix, process, f)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// reader counts the steps of hooks and shares their descriptions.
type siteKey struct{ hook, id, loc, of string }

type siteReader struct {
	sites map[siteKey]*counted
}

func (r *siteReader) site(s Site) *counted {
	key := siteKey{s.Hook, s.ID, s.Loc, s.Of}
	if c := r.sites[key]; c != nil {
		return c
	}
	if r.sites == nil {
		r.sites = map[siteKey]*counted{}
	}
	r.sites[key] = &counted{newSite(s), map[int]int64{}}
	return r.sites[key]
}

// next returns the step of an event of c on a device.
func (c *counted) next(device int) int64 {
	n := c.steps[device]
	c.steps[device]++
	return n
}

// line is a line of JSON: an event, a recording's header or its results.
type line struct {
	Recording          int
	Start              int64
	Outputs            json.RawMessage
	Process            string
	Seq, Run           int64
	Step               *int64
	Time, NS           int64
	Device             int
	Replica, Partition int
	Hook, Loc, Place   string
	ID                 *string
	Kind               string
	Function, Callback string
	Probe, Of          string
	Operands           []lineOperand
}

type lineOperand struct {
	DType string          `json:"dtype"`
	Shape tensor.Shape    `json:"shape"`
	At    *int64          `json:"at"`
	Data  json.RawMessage `json:"data"`
	Stats *lineStatistics `json:"stats"`
}

func readLines(r io.Reader, dataPath, process string, f func(e *Event) error) error {
	in := bufio.NewReaderSize(r, 1<<18)
	var data *os.File
	defer func() {
		if data != nil {
			data.Close()
		}
	}()
	var sites siteReader
	var e Event
	var start int64
	for number := 1; ; number++ {
		text, err := in.ReadBytes('\n')
		whole := err == nil
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(bytes.TrimSpace(text)) > 0 {
			var l line
			if bad := json.Unmarshal(text, &l); bad != nil {
				if !whole {
					return nil // a process that was killed left a part of a line
				}
				return fmt.Errorf("line %d: expected an event as a line of JSON: %w", number, bad)
			}
			switch {
			case l.Recording != 0:
				start = l.Start
			case l.Outputs != nil:
			case l.ID == nil:
				return fmt.Errorf("line %d: neither an event nor the header or results of a recording", number)
			default:
				site := sites.site(Site{Hook: l.Hook, ID: *l.ID, Kind: l.Kind, Loc: l.Loc, Place: l.Place, Function: l.Function, Callback: l.Callback,
					Probe: l.Probe, Of: l.Of})
				e = Event{Site: site.Site, Process: cmp.Or(l.Process, process), Run: l.Run, Seq: l.Seq, Step: site.next(l.Device), Device: l.Device, Replica: l.Replica,
					Partition: l.Partition, Time: l.Time, Operands: e.Operands[:0]}
				if l.Step != nil {
					e.Step = *l.Step
				}
				if e.Time == 0 && l.NS != 0 {
					e.Time = start + l.NS
				}
				for i := range l.Operands {
					if l.Operands[i].At != nil && data == nil {
						if data, err = os.Open(dataPath); err != nil {
							return fmt.Errorf("line %d: %w", number, err)
						}
					}
					o, bad := l.Operands[i].operand(site.Site, data)
					if bad != nil {
						return fmt.Errorf("line %d: value %d: %w", number, i, bad)
					}
					e.Operands = append(e.Operands, o)
				}
				if err := f(&e); err != nil {
					return err
				}
			}
		}
		if !whole {
			return nil
		}
	}
}

// operand returns a value of a line.
func (l *lineOperand) operand(s *Site, data *os.File) (o Operand, err error) {
	d, ok := tensor.ParseDType(l.DType)
	if !ok {
		return o, fmt.Errorf("unknown element type %q", l.DType)
	}
	if l.Shape == nil {
		l.Shape = tensor.Shape{}
	}
	n := l.Shape.NumElements()
	switch {
	case l.Stats != nil:
		return Operand{DType: d, Shape: l.Shape, Statistics: l.Stats.statistics()}, nil
	case l.At != nil:
		if n < 0 || *l.At < 0 || n > math.MaxInt64/16-*l.At {
			return o, fmt.Errorf("shape %v at %d is not a value", []int64(l.Shape), *l.At)
		}
		info, err := data.Stat()
		if err != nil {
			return o, err
		}
		if end := *l.At + n*int64(d.Size()); end > info.Size() {
			return o, fmt.Errorf("the file of large values ends before byte %d", end)
		}
		t := tensor.New(d, l.Shape)
		if _, err := data.ReadAt(t.Bytes(), *l.At); err != nil && !errors.Is(err, io.EOF) {
			return o, err
		}
		return operandOf(s, t), nil
	}
	text, err := json.Marshal(struct {
		DType string          `json:"dtype"`
		Shape tensor.Shape    `json:"shape"`
		Data  json.RawMessage `json:"data"`
	}{l.DType, l.Shape, l.Data})
	if err != nil {
		return o, err
	}
	t, err := tensorio.FromJSON(text)
	if err != nil {
		return o, err
	}
	return operandOf(s, t), nil
}

// readParquet reads a table.
func readParquet(file *os.File, process string, f func(e *Event) error) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	in, err := parquet.Open(file, info.Size(), fields())
	if err != nil {
		return err
	}
	var sites siteReader
	var e Event
	shapes := map[string]tensor.Shape{}
	for g := range in.Groups() {
		columns, rows, err := in.Read(g)
		if err != nil {
			return err
		}
		t := table{columns, rows}
		for i := range rows {
			row := t.row(i)
			site := sites.site(Site{Hook: row.Hook, ID: row.ID, Kind: row.Kind, Loc: row.Location, Place: row.Location, Function: row.Function})
			d, ok := tensor.ParseDType(row.DType)
			if !ok {
				return fmt.Errorf("unknown element type %q", row.DType)
			}
			o := Operand{DType: d}
			if o.Shape, ok = shapes[row.Shape]; !ok {
				if err := json.Unmarshal([]byte(row.Shape), &o.Shape); err != nil {
					return fmt.Errorf("shape %q: %w", row.Shape, err)
				}
				shapes[row.Shape] = o.Shape
			}
			if row.scalar {
				o.Scalar, o.Number = true, row.Value
				o.Statistics.add(o.Number)
				o.Statistics.end()
			} else {
				o.Statistics = row.statistics(o.Shape)
			}
			owner := cmp.Or(row.Process, process)
			same := row.Operand > 0 && e.Site == site.Site && e.Process == owner && e.Run == row.Run && e.Seq == row.Seq && e.Device == row.Device
			if !same {
				if e.Site != nil {
					if err := f(&e); err != nil {
						return err
					}
				}
				e = Event{Site: site.Site, Process: owner, Run: row.Run, Seq: row.Seq, Step: row.Step, Device: row.Device, Time: row.Time,
					Operands: e.Operands[:0]}
			}
			e.Operands = append(e.Operands, o)
		}
	}
	if e.Site == nil {
		return nil
	}
	return f(&e)
}

// statistics returns the statistics that a row holds.
func (r *row) statistics(shape tensor.Shape) Statistics {
	s := Statistics{Count: shape.NumElements(), Min: math.NaN(), Max: math.NaN(), Mean: math.NaN(), Squares: math.NaN(), NaN: r.NaN, Inf: r.Inf}
	if r.ranged {
		s.Min, s.Max, s.Mean = r.Min, r.Max, r.Mean
	}
	return s
}

// ProcessOf returns the name of the process of a file: its name without directory and ending.
func ProcessOf(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	return name
}
