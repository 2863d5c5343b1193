package interpose

import (
	"errors"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/probe"
)

// Message is a line of the file Config.Report.
type Message struct {
	Kind MessageKind `json:"kind"`
	Text string      `json:"text"` // in one line, for people
	NaN  *NaN        `json:"nan,omitempty"`
}

// MessageKind says what a Message reports.
type MessageKind string

// The kinds of messages.
const (
	Warning MessageKind = "warning" // the program runs, but not as the settings say
	Idle    MessageKind = "idle"    // a tap or handler matched nothing in the program
	Failure MessageKind = "failure" // a handler failed
	Origin  MessageKind = "nan"     // BisectNaN found the origin of a NaN
)

// NaN is the origin of a program's first NaN.
type NaN struct {
	Value    string   `json:"value"`    // its name
	Op       string   `json:"op"`       // empty for an argument of the program
	Loc      string   `json:"loc"`      // as MLIR text
	Place    string   `json:"place"`    // FILE:LINE:COLUMN FUNCTION, of the user's source
	Holds    string   `json:"holds"`    // nan, inf, or both
	Constant bool     `json:"constant"` // it comes from a literal
	Step     int64    `json:"step"`     // the run of the program, from 1
	Device   int      `json:"device"`
	Around   []Around `json:"around,omitempty"` // the loops and calls around the op, the innermost first
}

// Around is a loop or call around an op.
type Around struct {
	Op        string `json:"op"`
	Place     string `json:"place"`
	Iteration int64  `json:"iteration,omitempty"` // of a loop, from 1
}

// messageOf describes an error by its first line.
func messageOf(kind MessageKind, err error) *Message {
	m := &Message{Kind: kind, Text: diag.Escape(firstLine(err.Error()))}
	if e, ok := errors.AsType[*probe.OriginError](err); ok {
		m.Kind = Origin
		m.NaN = &NaN{Value: e.Name, Op: e.Op, Loc: e.Loc, Place: hook.Frame(e.Loc), Holds: e.Holds, Constant: e.Constant, Step: e.Run, Device: e.Device}
		for _, a := range e.Around {
			m.NaN.Around = append(m.NaN.Around, Around{Op: a.Op, Place: hook.Frame(a.Loc), Iteration: a.Iteration})
		}
	}
	return m
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
