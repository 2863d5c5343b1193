// Package live serves the page of a running program: a server on this machine that sends events to browsers while they
// happen.
//
// The program only copies an event into a buffer of fixed size. A goroutine writes the buffered events as JSON to a
// temporary file, and each browser reads from there at its own speed. So a slow browser, or none, does not slow the
// program, memory does not grow, and a browser that returns reads on where it stopped. If the file or the buffer is
// full, events are dropped and counted.
package live

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hlocb/hlocb/internal/events"
)

// Options describe a server.
type Options struct {
	// Page writes the page of a program, whose events come from the URL live. program is "" for the page that opens first.
	// link returns the address of another program's page.
	Page func(w io.Writer, live, program string, link func(program string) string) error
	// Tap is called with the pattern of a value that the user of the page wants to tap, and returns a line for the page.
	Tap func(pattern string) (string, error)
}

// Server is a Sink of events and an HTTP server on 127.0.0.1.
type Server struct {
	opts   Options
	token  string
	listen net.Listener
	server *http.Server
	log    *spool

	mu      sync.Mutex
	ring    []slot
	first   int // of ring
	count   int // in ring
	dropped int64
	closed  bool
	idle    bool          // the goroutine that empties the ring waits for wake
	wake    chan struct{} // the ring has events after a pause, is half full, or is closed
	done    chan struct{} // the spool has all events
	watched int           // clients now
	reading int           // of these: clients that do not have all events yet
}

// The capacity of the buffer between the program and the spool.
const capacity = 1 << 15

// Listen starts a server at a free port.
func Listen(opts Options) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	var secret [16]byte
	rand.Read(secret[:])
	log, err := newSpool()
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	s := &Server{opts: opts, token: hex.EncodeToString(secret[:]), listen: l, log: log, wake: make(chan struct{}, 1), done: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page)
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("POST /tap", s.tap)
	s.server = &http.Server{Handler: events.OnlyHosts(l.Addr(), s.guard(mux)), ReadHeaderTimeout: 10 * time.Second}
	go s.server.Serve(l)
	go s.write()
	return s, nil
}

// URL returns the address of the page, with the token.
func (s *Server) URL() string { return "http://" + s.listen.Addr().String() + "/?token=" + s.token }

// guard answers only requests with the token, and no request of a page of another site.
func (s *Server) guard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		switch {
		case subtle.ConstantTimeCompare([]byte(r.URL.Query().Get("token")), []byte(s.token)) != 1:
			http.Error(w, "the token in the address is missing or wrong", http.StatusForbidden)
			return
		case origin != "" && origin != "http://"+r.Host, origin == "" && r.Method != http.MethodGet:
			http.Error(w, "a page of another site may not ask this server", http.StatusForbidden)
			return
		}
		head := w.Header()
		head.Set("Cache-Control", "no-store")
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("X-Frame-Options", "DENY")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.ServeHTTP(w, r)
	})
}

func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	link := func(program string) string { return "?token=" + s.token + "&program=" + url.QueryEscape(program) }
	_ = s.opts.Page(w, "events?token="+s.token, r.URL.Query().Get("program"), link) // a browser may go away
}

// maxPattern limits the pattern of a tap.
const maxPattern = 1 << 12

func (s *Server) tap(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		At string `json:"at"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxPattern)).Decode(&ask); err != nil || ask.At == "" || s.opts.Tap == nil {
		http.Error(w, `expected {"at": PATTERN}`, http.StatusBadRequest)
		return
	}
	answer, err := s.opts.Tap(ask.At)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, answer)
}

// pace is the time between two batches of events for a browser, and alive that between two signs of life.
const (
	pace  = 50 * time.Millisecond
	alive = 15 * time.Second
)

// events sends events from a number on: of the header Last-Event-ID, which browsers send when they come back, or of the
// parameter from, or the oldest one.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	from := int64(0)
	for _, text := range []string{r.URL.Query().Get("from"), r.Header.Get("Last-Event-ID")} {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
			from = n
		}
	}
	s.mu.Lock()
	s.watched++
	s.reading++
	s.mu.Unlock()
	reading := true
	read := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if reading {
			reading = false
			s.reading--
		}
	}
	defer func() {
		read()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.watched--
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	if _, err := io.WriteString(w, "retry: 1000\n\n"); err != nil || out.Flush() != nil {
		return
	}
	var buf []byte
	var told, skipped int64 // dropped events: that the browser knows, and that were gone before it came
	last := time.Now()
	for {
		more := s.log.changed()
		list, at, next, err := s.log.read(from)
		if err != nil {
			return
		}
		buf = buf[:0]
		s.mu.Lock()
		dropped := s.dropped
		s.mu.Unlock()
		skipped += at - from
		if lost := dropped + skipped; lost > told {
			told = lost
			buf = fmt.Appendf(buf, "event: dropped\ndata: {\"events\":%d}\n\n", lost)
		}
		if len(list) > 0 {
			buf = append(fmt.Appendf(buf, "id: %d\ndata: [", next), list...)
			buf = append(buf, "]\n\n"...)
		}
		from = next
		if len(buf) == 0 && time.Since(last) > alive {
			buf = append(buf, ":\n\n"...)
		}
		if len(buf) > 0 {
			last = time.Now()
			_ = out.SetWriteDeadline(last.Add(2 * alive))
			if _, err := w.Write(buf); err != nil || out.Flush() != nil {
				return
			}
		}
		if len(list) == 0 {
			select {
			case <-s.done:
				if s.log.end() == from {
					_, _ = io.WriteString(w, "event: end\ndata: {}\n\n")
					_ = out.Flush()
					read()
					<-r.Context().Done() // the browser closes the connection
					return
				}
				continue
			case <-more:
			case <-time.After(alive):
			case <-r.Context().Done():
				return
			}
		}
		select {
		case <-time.After(pace):
		case <-r.Context().Done():
			return
		}
	}
}

// Watched reports whether a browser shows the page now.
func (s *Server) Watched() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watched > 0
}

// Wait waits until no browser shows the page, or until ctx ends.
func (s *Server) Wait(ctx context.Context) {
	for s.Watched() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pace):
		}
	}
}

// Close implements events.Sink: it writes the remaining events. The server answers until Stop.
func (s *Server) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if !closed {
		s.signal()
	}
	<-s.done
	return nil
}

// Finish writes the remaining events, waits a while until the browsers have them, and ends the server.
func (s *Server) Finish(wait time.Duration) error {
	_ = s.Close()
	for end := time.Now().Add(wait); time.Now().Before(end); time.Sleep(pace / 10) {
		s.mu.Lock()
		done := s.reading == 0
		s.mu.Unlock()
		if done {
			break
		}
	}
	return s.Stop()
}

// Stop ends the server.
func (s *Server) Stop() error { return errors.Join(s.Close(), s.server.Close(), s.log.close()) }

func (s *Server) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Flush implements events.Sink.
func (s *Server) Flush() error { return nil }

// slot is a copy of an event.
type slot struct {
	e       events.Event
	samples [][]float64
}

// sample returns the sample of an operand of the event.
func (x *slot) sample(o *events.Operand) []float64 {
	for i := range x.e.Operands {
		if &x.e.Operands[i] == o {
			return x.samples[i]
		}
	}
	return nil
}

// Write implements events.Sink. It never waits.
func (s *Server) Write(e *events.Event) error {
	s.mu.Lock()
	if s.closed || s.count == capacity {
		s.dropped++
		s.mu.Unlock()
		return nil
	}
	at := (s.first + s.count) % capacity
	if at == len(s.ring) {
		s.ring = append(s.ring, slot{})
	}
	x := &s.ring[at]
	operands := x.e.Operands[:0]
	x.e = *e
	for i := range e.Operands {
		o := e.Operands[i]
		if i == len(x.samples) {
			x.samples = append(x.samples, nil)
		}
		x.samples[i] = o.AppendSample(x.samples[i][:0])
		o.Value = nil
		operands = append(operands, o)
	}
	x.e.Operands = operands
	s.count++
	wake := s.idle || s.count == capacity/2
	s.idle = false
	s.mu.Unlock()
	if wake { // rarely: it takes longer than the copy
		s.signal()
	}
	return nil
}

// collect is the time that events wait in the ring for more events.
const collect = 10 * time.Millisecond

// write moves events from the buffer to the spool.
func (s *Server) write() {
	defer close(s.done)
	var list []slot // copies of slots, with memory of their own
	var buf []byte
	moved := 0 // since the last pause
	for {
		s.mu.Lock()
		n, closed := min(s.count, 256), s.closed
		s.idle = n == 0 && moved == 0 && !closed
		for len(list) < n {
			list = append(list, slot{})
		}
		for i := range n { // swap the memory of slots
			k := (s.first + i) % capacity
			list[i], s.ring[k] = s.ring[k], list[i]
		}
		if n > 0 {
			s.first, s.count = (s.first+n)%capacity, s.count-n
		}
		s.mu.Unlock()
		switch {
		case n == 0 && closed:
			return
		case n == 0 && moved == 0:
			<-s.wake
			continue
		case n == 0:
			moved = 0
			select {
			case <-s.wake:
			case <-time.After(collect):
			}
			continue
		}
		moved += n
		for i := range n {
			x := &list[i]
			buf = events.AppendJSON(buf[:0], &x.e, x.sample)
			if !s.log.append(buf) {
				s.mu.Lock()
				s.dropped++
				s.mu.Unlock()
			}
		}
		s.log.flush()
	}
}

// TapFlag returns the flag that taps the values that a pattern selects, quoted for a shell.
func TapFlag(pattern string) string {
	return "--tap '" + strings.ReplaceAll(pattern, "'", `'\''`) + "'"
}
