package view

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hlocb/hlocb/ir"
)

// ReadOverlays reads numbers of ops: an object of JSON from op or location to number, a list of objects {"at": op,
// "value": number}, CSV with the op in the first column and the number in the last one, or the report of a profile. A
// first line of CSV without a number is a title.
func ReadOverlays(name string, text []byte) ([]Overlay, error) {
	text = bytes.TrimSpace(text)
	if list := readProfile(text); list != nil {
		return list, nil
	}
	o := Overlay{Name: name}
	var err error
	switch {
	case bytes.HasPrefix(text, []byte("{")):
		err = o.readObject(text)
	case bytes.HasPrefix(text, []byte("[")):
		err = json.Unmarshal(text, &o.Numbers)
	default:
		return o.readTable(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(o.Numbers) == 0 {
		return nil, fmt.Errorf("%s: no numbers", name)
	}
	return []Overlay{o}, nil
}

// readObject reads {"op": number, ...} in the order of the text.
func (o *Overlay) readObject(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		var value float64
		if err == nil {
			err = d.Decode(&value)
		}
		if kind := (*json.UnmarshalTypeError)(nil); errors.As(err, &kind) {
			return fmt.Errorf("byte %d: expected a number, found a %s", d.InputOffset(), kind.Value)
		}
		if err != nil {
			return fmt.Errorf("byte %d: %w", d.InputOffset(), err)
		}
		o.Numbers = append(o.Numbers, Number{At: fmt.Sprint(key), Value: value})
	}
	_, err := d.Token()
	return err
}

// readTable reads CSV.
func (o Overlay) readTable(text []byte) ([]Overlay, error) {
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord, r.TrimLeadingSpace, r.LazyQuotes = -1, true, true
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
		line, _ := r.FieldPos(0)
		if len(record) < 2 {
			return nil, fmt.Errorf("%s:%d: expected an op or a location, and a number", o.Name, line)
		}
		last := record[len(record)-1]
		value, err := strconv.ParseFloat(last, 64)
		if err != nil {
			if len(o.Numbers) == 0 && o.Unit == "" {
				o.Unit = last
				continue
			}
			return nil, fmt.Errorf("%s:%d: %q is not a number", o.Name, line, last)
		}
		o.Numbers = append(o.Numbers, Number{At: record[0], Value: value})
	}
	if len(o.Numbers) == 0 {
		return nil, fmt.Errorf("%s: no numbers", o.Name)
	}
	return []Overlay{o}, nil
}

// readProfile reads the report of 'hlocb run --profile': lines of a time, a share, a count, and an op with its place.
// It returns nil for other text.
func readProfile(text []byte) []Overlay {
	times, counts := Overlay{Name: "time", Unit: "µs"}, Overlay{Name: "executions"}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 5 || !strings.HasSuffix(f[1], "%") {
			continue
		}
		took, err := time.ParseDuration(f[0])
		count, err2 := strconv.ParseFloat(f[2], 64)
		open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
		if err != nil || err2 != nil || open < 0 || end < open {
			continue
		}
		at := line[open+1 : end]
		times.Numbers = append(times.Numbers, Number{At: at, Value: float64(took.Microseconds())})
		counts.Numbers = append(counts.Numbers, Number{At: at, Value: count})
	}
	if len(times.Numbers) == 0 {
		return nil
	}
	return []Overlay{times, counts}
}

// overlays finds the ops of the numbers. An op's own value adds up if several numbers select it.
func (e *encoder) overlays(d *Document) {
	if len(d.Overlays) == 0 {
		return
	}
	index := e.index()
	for _, o := range d.Overlays {
		out := overlayData{Name: o.Name, Unit: o.Unit, Items: []int32{}, Value: []float64{}}
		at := map[int32]int{}
		for _, n := range o.Numbers {
			items := index[n.At]
			if n.Op != nil {
				items = e.itemsOf(n.Op)
			}
			if items == nil || math.IsNaN(n.Value) || math.IsInf(n.Value, 0) {
				out.Lost++
				continue
			}
			for _, i := range items {
				k, ok := at[i]
				if !ok {
					k = len(out.Items)
					at[i] = k
					out.Items, out.Value = append(out.Items, i), append(out.Value, 0)
				}
				out.Value[k] += n.Value
			}
		}
		e.data.Overlays = append(e.data.Overlays, out)
	}
}

// itemsOf returns the item of an op of a step.
func (e *encoder) itemsOf(op *ir.Op) []int32 {
	for _, s := range e.u.steps {
		if i, ok := s.items[op]; ok {
			return []int32{i}
		}
	}
	return nil
}

// index returns the items by what a number may name. The steps agree in the names of locations; value names are those
// in the file of the last step, and if a name is not there, in the page's text.
func (e *encoder) index() map[string][]int32 {
	out := map[string][]int32{}
	type entry struct {
		key  string
		item int32
	}
	seen := map[entry]bool{}
	put := func(key string, i int32) {
		if x := (entry{key, i}); key != "" && !seen[x] {
			seen[x] = true
			out[key] = append(out[key], i)
		}
	}
	last := e.u.steps[len(e.u.steps)-1]
	shown := map[string][]int32{} // names in the page's text only
	for _, s := range e.u.steps {
		var t *text
		if s == last {
			t = e.u.textOf(s, func(string) int32 { return 0 })
		}
		s.step.Module.Walk(func(op *ir.Op) bool {
			i := s.items[op]
			if src := s.step.Module.Source(); src != nil && op.Pos().IsValid() && !src.Binary() {
				line, column := src.LineColumn(op.Pos())
				place := fmt.Sprintf(":%d:%d", line, column)
				put(src.Name()+place, i)
				if base := filepath.Base(src.Name()); base != src.Name() { // as reports write it
					put(base+place, i)
				}
			}
			if n := e.loc(op.Loc()); n > 0 {
				place, text := e.data.Strings[e.data.Locs.Place[n]], e.data.Strings[e.data.Locs.Text[n]]
				put(place, i)
				put(text, i)
				put("loc("+text+")", i)
				if file, line, ok := cutColumn(place); ok {
					put(file+":"+line, i)
				}
			}
			if s != last {
				return true
			}
			put(op.Name(), i)
			if name, ok := op.Attr(ir.SymbolName).(*ir.StringAttr); ok {
				put("@"+name.Value(), i)
			}
			return true
		})
		if s != last {
			continue
		}
		owner := map[int32]int32{}
		for _, i := range s.items {
			for k := range e.u.items[i].numValues {
				owner[e.u.items[i].values+k] = i
			}
		}
		for v, name := range e.writtenNames(s) {
			if i, ok := owner[v]; ok {
				put(name, i)
			}
		}
		for v, name := range t.names { // of values that have no name in the file
			if i, ok := owner[v]; ok && len(out[name]) == 0 {
				shown[name] = append(shown[name], i)
			}
		}
	}
	for name, items := range shown {
		slices.Sort(items)
		out[name] = items
	}
	return out
}

// cutColumn splits FILE:LINE:COLUMN.
func cutColumn(place string) (file, line string, ok bool) {
	c := strings.LastIndexByte(place, ':')
	if c < 0 {
		return "", "", false
	}
	l := strings.LastIndexByte(place[:c], ':')
	if l < 0 {
		return "", "", false
	}
	return place[:l], place[l+1 : c], true
}
