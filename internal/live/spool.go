package live

import (
	"errors"
	"os"
	"sync"
)

// spool is a file of events, each a JSON object and a comma, in segments. The oldest segment is removed when there are
// too many.
type spool struct {
	mu       sync.Mutex
	segments []*segment
	next     int64         // number of the next event
	more     chan struct{} // closed when there are more events
	pending  []byte
	failed   bool

	limit       int64 // bytes in a segment
	segmentsMax int
}

// segment is a file. Every indexEvery events, index has the position of an event.
type segment struct {
	file  *os.File
	first int64
	count int64
	size  int64
	index []int64
}

const (
	indexEvery  = 64
	maxSegment  = 128 << 20
	maxSegments = 8
	maxBatch    = 1 << 20 // bytes
)

func newSpool() (*spool, error) {
	s := &spool{more: make(chan struct{}), limit: maxSegment, segmentsMax: maxSegments}
	return s, s.add()
}

// add starts a segment. Its file has no name, so it is gone when the process ends.
func (s *spool) add() error {
	f, err := os.CreateTemp("", "hlocb-view-")
	if err != nil {
		return err
	}
	_ = os.Remove(f.Name()) // Windows removes it in close
	s.segments = append(s.segments, &segment{file: f, first: s.next})
	if len(s.segments) > s.segmentsMax {
		_ = s.segments[0].close()
		s.segments = s.segments[1:]
	}
	return nil
}

func (g *segment) close() error {
	err := g.file.Close()
	_ = os.Remove(g.file.Name())
	return err
}

// append adds an event. It reports whether there was space for it.
func (s *spool) append(event []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.segments[len(s.segments)-1]
	if g.size+int64(len(s.pending)) > s.limit && !s.failed {
		s.write()
		if s.add() != nil {
			s.failed = true
		}
		g = s.segments[len(s.segments)-1]
	}
	if s.failed {
		return false
	}
	if (s.next-g.first)%indexEvery == 0 {
		g.index = append(g.index, g.size+int64(len(s.pending)))
	}
	s.pending = append(append(s.pending, event...), ',')
	s.next++
	return true
}

// flush writes the events and tells readers. A full disk ends the spool.
func (s *spool) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write()
	close(s.more)
	s.more = make(chan struct{})
}

func (s *spool) write() {
	g := s.segments[len(s.segments)-1]
	if _, err := g.file.WriteAt(s.pending, g.size); err != nil {
		s.failed = true
		s.next = g.first + g.count
		g.index = g.index[:(g.count+indexEvery-1)/indexEvery]
	} else {
		g.size += int64(len(s.pending))
		g.count = s.next - g.first
	}
	s.pending = s.pending[:0]
}

// changed returns a channel that is closed when there are more events.
func (s *spool) changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.more
}

// end returns the number of the event after the last one.
func (s *spool) end() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.segments[len(s.segments)-1]
	return g.first + g.count
}

// read returns events from a number on, separated by commas: the number of the first one, which is larger if events are
// gone, and the number after the last one.
func (s *spool) read(from int64) (list []byte, first, next int64, err error) {
	s.mu.Lock()
	var g *segment
	for _, x := range s.segments {
		if g == nil || x.first <= from {
			g = x
		}
	}
	from = max(from, g.first)
	if from >= g.first+g.count { // at the end, or at the end of a segment
		end := s.segments[len(s.segments)-1]
		from = min(from, end.first+end.count)
		s.mu.Unlock()
		return nil, from, from, nil
	}
	k := (from - g.first) / indexEvery
	at, file, size := g.index[k], g.file, g.size
	skip, rest := (from-g.first)%indexEvery, g.count-(from-g.first)
	last := min(int64(len(g.index)), k+1)
	for last < int64(len(g.index)) && g.index[last]-at < maxBatch {
		last++
	}
	if last < int64(len(g.index)) {
		size, rest = g.index[last], (last-k)*indexEvery-skip
	}
	list = make([]byte, size-at)
	_, err = file.ReadAt(list, at) // under the lock: the segment may be removed
	s.mu.Unlock()
	if err != nil {
		return nil, from, from, err
	}
	for ; skip > 0; skip-- {
		n := objectEnd(list)
		if n < 0 {
			return nil, from, from, errors.New("the events are damaged")
		}
		list = list[n:]
	}
	return list[:len(list)-1], from, from + rest, nil
}

// objectEnd returns the position after the first object of a list and its comma, or -1.
func objectEnd(list []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == ',' && depth == 0:
			return i + 1
		}
	}
	return -1
}

func (s *spool) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, g := range s.segments {
		errs = append(errs, g.close())
	}
	return errors.Join(errs...)
}
