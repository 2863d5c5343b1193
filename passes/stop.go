package passes

import "context"

// stopper tells a pass when its context ended. It asks the context once for many ops, since that takes a lock.
type stopper struct {
	ctx   context.Context
	ops   int // since the context was asked
	ended bool
}

// opsBetween is the number of ops between two questions: a pass works on as many in far less than a second.
const opsBetween = 256

// now counts an op and reports whether the context has ended.
func (s *stopper) now() bool { return s.passed(1) }

// passed is like now for n ops.
func (s *stopper) passed(n int) bool {
	if s.ops += n; s.ops >= opsBetween && !s.ended {
		s.ops, s.ended = 0, s.ctx.Err() != nil
	}
	return s.ended
}
