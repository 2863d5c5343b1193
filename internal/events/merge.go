package events

import (
	"errors"
	"iter"
	"regexp"
)

// Filter selects events. The zero value selects all.
type Filter struct {
	Hooks    []*regexp.Regexp // match the name, id or location; one is enough
	Device   int              // -1 or less: all
	From, To int64            // the steps from From, before To; 0: to the end
	Bad      bool             // only events with a NaN or an infinity
}

// Selects reports whether f selects an event.
func (f *Filter) Selects(e *Event) bool {
	if f.Device >= 0 && e.Device != f.Device || e.Step < f.From || f.To > 0 && e.Step >= f.To {
		return false
	}
	found := len(f.Hooks) == 0
	for _, re := range f.Hooks {
		found = found || re.MatchString(e.Hook) || re.MatchString(e.ID) || re.MatchString(e.location())
	}
	if !found || !f.Bad {
		return found
	}
	for i := range e.Operands {
		if e.Operands[i].NaN+e.Operands[i].Inf > 0 {
			return true
		}
	}
	return false
}

// Merge calls f with the events of files in the order of their times; events without a time come as they stand in the
// file. The events of a file that names no process get the file's name as their process, if there are several files.
func Merge(files []string, f func(e *Event) error) error {
	errStopped := errors.New("stopped")
	type source struct {
		next func() (*Event, error, bool)
		e    *Event
	}
	var list []*source
	for i, path := range files {
		process := ""
		if len(files) > 1 {
			process = ProcessOf(path)
			for _, other := range files[:i] {
				if ProcessOf(other) == process {
					process = path
				}
			}
		}
		next, stop := iter.Pull2(func(yield func(*Event, error) bool) {
			err := Read(path, process, func(e *Event) error {
				if !yield(e, nil) {
					return errStopped
				}
				return nil
			})
			if err != nil && !errors.Is(err, errStopped) {
				yield(nil, err)
			}
		})
		defer stop()
		list = append(list, &source{next: next})
	}
	advance := func(s *source) error {
		e, err, ok := s.next()
		if !ok {
			e = nil
		}
		s.e = e
		return err
	}
	for _, s := range list {
		if err := advance(s); err != nil {
			return err
		}
	}
	for {
		var first *source
		for _, s := range list {
			if s.e != nil && (first == nil || s.e.Time < first.e.Time) {
				first = s
			}
		}
		if first == nil {
			return nil
		}
		if err := f(first.e); err != nil {
			return err
		}
		if err := advance(first); err != nil {
			return err
		}
	}
}
