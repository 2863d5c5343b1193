package events

import (
	"encoding/csv"
	"io"
	"strconv"
	"time"
)

// CSV writes the table that Parquet writes as text. A missing number is empty; a time is in RFC 3339.
type CSV struct {
	w *csv.Writer
	c io.Closer
}

// Columns returns the names of the columns of the table.
func Columns() []string {
	return []string{"process", "run", "seq", "step", "device", "hook", "id", "kind", "location", "function", "operand", "dtype", "shape",
		"value", "min", "max", "mean", "nan", "inf", "time"}
}

// NewCSV returns a sink that writes to w. Close closes w.
func NewCSV(w io.WriteCloser) *CSV {
	c := &CSV{csv.NewWriter(w), w}
	_ = c.w.Write(Columns()) // Flush returns the error
	return c
}

// Write implements Sink.
func (c *CSV) Write(e *Event) error {
	for i := range e.Operands {
		r := rowOf(e, i)
		whole := func(n int64) string { return strconv.FormatInt(n, 10) }
		float := func(v float64, known bool) string {
			if !known {
				return ""
			}
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
		count := func(n int64) string {
			if r.scalar {
				return ""
			}
			return whole(n)
		}
		at := ""
		if r.Time != 0 {
			at = time.Unix(0, r.Time).UTC().Format("2006-01-02T15:04:05.000000000Z")
		}
		err := c.w.Write([]string{r.Process, whole(r.Run), whole(r.Seq), whole(r.Step), whole(int64(r.Device)), r.Hook, r.ID, r.Kind, r.Location,
			r.Function, whole(int64(r.Operand)), r.DType, r.Shape, float(r.Value, r.scalar), float(r.Min, r.ranged), float(r.Max, r.ranged),
			float(r.Mean, r.ranged), count(r.NaN), count(r.Inf), at})
		if err != nil {
			return err
		}
	}
	return nil
}

// Flush implements Sink.
func (c *CSV) Flush() error {
	c.w.Flush()
	return c.w.Error()
}

// Close implements Sink.
func (c *CSV) Close() error {
	err := c.Flush()
	if closed := c.c.Close(); err == nil {
		err = closed
	}
	return err
}
