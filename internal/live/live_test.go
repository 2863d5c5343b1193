package live

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/events"
	"github.com/hlocb/hlocb/internal/label"
	call "github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

func listen(t testing.TB, opts Options) *Server {
	t.Helper()
	if opts.Page == nil {
		opts.Page = func(w io.Writer, live, program string, _ func(string) string) error {
			_, err := fmt.Fprintf(w, "page of %q, events at %s", program, live)
			return err
		}
	}
	s, err := Listen(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	return s
}

// event returns event n of a hook.
func event(n int64) *events.Event {
	site := &events.Site{Hook: "</script><b>", ID: "01", Kind: "tap"}
	return &events.Event{Site: site, Run: 1, Seq: n, Step: n, Operands: []events.Operand{{DType: tensor.F32, Scalar: true, Number: float64(n)}}}
}

// got is what a browser has received.
type got struct {
	events  []int64 // their sequence numbers
	lastID  string
	dropped int64
	ended   bool
	batches int
}

// receive reads events until enough says so, as an EventSource does.
func receive(t testing.TB, s *Server, from string, enough func(g *got) bool) *got {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", strings.Replace(s.URL(), "/?", "/events?", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if from != "" {
		r.Header.Set("Last-Event-ID", from)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Fatalf("%s with %v", resp.Status, resp.Header)
	}
	g, kind := &got{}, ""
	in := bufio.NewReader(resp.Body)
	for !enough(g) {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatalf("after %d events: %v", len(g.events), err)
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "event":
			kind = value
		case "id":
			g.lastID = value
		case "":
			kind = ""
		case "data":
			switch kind {
			case "end":
				g.ended = true
			case "dropped":
				var x struct{ Events int64 }
				if err := json.Unmarshal([]byte(value), &x); err != nil {
					t.Fatal(err)
				}
				g.dropped = x.Events
			default:
				var list []struct {
					Seq      int64
					Hook     string
					Operands []struct {
						Data   []float64
						Stats  map[string]any
						Sample []any
					}
				}
				if err := json.Unmarshal([]byte(value), &list); err != nil || strings.Contains(value, "<") {
					t.Fatalf("%v: %s", err, value)
				}
				g.batches++
				for _, e := range list {
					if e.Hook != "</script><b>" {
						t.Fatalf("an event of %q", e.Hook)
					}
					g.events = append(g.events, e.Seq)
				}
			}
		}
	}
	return g
}

func inOrder(t testing.TB, list []int64, from, to int64) {
	t.Helper()
	if int64(len(list)) != to-from {
		t.Fatalf("%d events, expected those from %d to %d", len(list), from, to)
	}
	for i, n := range list {
		if n != from+int64(i) {
			t.Fatalf("event %d is number %d, expected %d", i, n, from+int64(i))
		}
	}
}

// TestEvents: a browser gets the events before and after it connects, in batches. One that returns reads on.
func TestEvents(t *testing.T) {
	s := listen(t, Options{})
	write := func(from, to int64) {
		for n := from; n < to; n++ {
			if err := s.Write(event(n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(0, 5000)
	first := receive(t, s, "", func(g *got) bool { return len(g.events) >= 5000 })
	inOrder(t, first.events, 0, 5000)
	if first.batches > 1000 || first.lastID != "5000" {
		t.Errorf("%d batches, the last id is %s", first.batches, first.lastID)
	}
	write(5000, 9000) // nobody looks
	second := receive(t, s, first.lastID, func(g *got) bool { return len(g.events) >= 4000 })
	inOrder(t, second.events, 5000, 9000)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	third := receive(t, s, "8000", func(g *got) bool { return g.ended })
	inOrder(t, third.events, 8000, 9000)
	if first.dropped+second.dropped+third.dropped > 0 {
		t.Error("events were dropped")
	}
}

// TestStatistics: a large value is sent as statistics and a sample.
func TestStatistics(t *testing.T) {
	s := listen(t, Options{})
	v := tensor.New(tensor.F32, []int64{1000, 1000})
	tensor.View[float32](v)[7] = 3
	e := event(0)
	e.Operands = []events.Operand{{DType: v.DType(), Shape: v.Shape(), Value: v, Statistics: events.Statistics{Count: 1e6, Max: 3, Zero: 1e6 - 1, Positive: 1, Signs: true}}}
	if err := s.Write(e); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	list, _, _, err := s.log.read(0)
	want := `"operands":[{"dtype":"f32","shape":[1000,1000],"stats":{"n":1000000,"min":0,"max":3,"mean":0,"nan":0,"inf":0,"ninf":0,"neg":0,"zero":999999,"pos":1},"sample":[0,0`
	if err != nil || !strings.Contains(string(list), want) || strings.Count(string(list), ",0") < 250 || len(list) > 2000 {
		t.Errorf("%v: %s", err, list)
	}
}

// TestGuard: without the token nobody gets anything, and neither does a page of another site, also not one whose name
// resolves to this machine.
func TestGuard(t *testing.T) {
	tapped := ""
	s := listen(t, Options{Tap: func(pattern string) (string, error) {
		if pattern == "(" {
			return "", errors.New("no pattern")
		}
		tapped = pattern
		return TapFlag(pattern), nil
	}})
	s.Write(event(0))
	u, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	if ip := u.Hostname(); ip != "127.0.0.1" || len(u.Query().Get("token")) != 32 {
		t.Errorf("the address is %s", u)
	}
	token := "token=" + u.Query().Get("token")
	own := "http://" + u.Host
	for _, c := range []struct {
		method, path, host, origin, body string
		code                             int
		want                             string
	}{
		{"GET", "/?" + token, "", "", "", 200, `page of "", events at events?` + token},
		{"GET", "/?program=x&" + token, "localhost:" + u.Port(), "", "", 200, `page of "x"`},
		{"GET", "/", "", "", "", 403, "token"},
		{"GET", "/?token=", "", "", "", 403, "token"},
		{"GET", "/?" + token + "0", "", "", "", 403, "token"},
		{"GET", "/events", "", "", "", 403, "token"},
		{"GET", "/?" + token, "evil.example", "", "", 403, "own address"},
		{"GET", "/?" + token, "evil.example:" + u.Port(), "http://evil.example:" + u.Port(), "", 403, "own address"},
		{"GET", "/?" + token, "", "http://evil.example", "", 403, "another site"},
		{"GET", "/events?" + token, "", "null", "", 403, "another site"},
		{"GET", "/events?" + token, "", "https://" + u.Host, "", 403, "another site"},
		{"POST", "/tap?" + token, "", own, `{"at":"it's"}`, 200, `--tap 'it'\''s'`},
		{"POST", "/tap?" + token, "", "", `{"at":"forged"}`, 403, "another site"},
		{"POST", "/tap?" + token, "", "http://evil.example", `{"at":"forged"}`, 403, "another site"},
		{"POST", "/tap", "", own, `{"at":"forged"}`, 403, "token"},
		{"POST", "/tap?" + token, "", own, `{"at":"("}`, 400, "no pattern"},
		{"POST", "/tap?" + token, "", own, `x`, 400, "expected"},
		{"POST", "/tap?" + token, "", own, `{"at":"` + strings.Repeat("x", 1<<13) + `"}`, 400, "expected"},
		{"OPTIONS", "/tap?" + token, "", "http://evil.example", "", 403, "another site"},
		{"GET", "/tap?" + token, "", "", "", 405, ""},
		{"GET", "/x?" + token, "", "", "", 404, ""},
	} {
		r := httptest.NewRequest(c.method, own+c.path, strings.NewReader(c.body))
		if c.host != "" {
			r.Host = c.host
		}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		s.server.Handler.ServeHTTP(w, r)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.want) || w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s %s of host %q and origin %q: %d %s", c.method, c.path, c.host, c.origin, w.Code, w.Body)
		}
	}
	if tapped != "it's" {
		t.Errorf("%q was tapped", tapped)
	}
}

// TestSpoolKeepsTheNewest: if the file is full, the oldest events go, and a browser learns how many.
func TestSpoolKeepsTheNewest(t *testing.T) {
	s := listen(t, Options{})
	s.log.limit, s.log.segmentsMax = 10000, 3
	for n := range int64(3000) {
		s.Write(event(n))
		for n%100 == 0 && s.buffered() > 0 {
			time.Sleep(time.Millisecond)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	g := receive(t, s, "", func(g *got) bool { return g.ended })
	if g.dropped == 0 || len(g.events) == 0 {
		t.Fatalf("%d events, %d dropped", len(g.events), g.dropped)
	}
	inOrder(t, g.events, g.dropped, 3000)
}

func (s *Server) buffered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// TestAMillionEventsAreFlat: memory does not grow with the events, also with a browser that does not read.
func TestAMillionEventsAreFlat(t *testing.T) {
	label.Once(t)
	s := listen(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", strings.Replace(s.URL(), "/?", "/events?", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	slow, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Body.Close()
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	e := event(0)
	var after int64
	for n := range int64(1000000) {
		e.Seq = n
		if err := s.Write(e); err != nil {
			t.Fatal(err)
		}
		if n == 100000 {
			after = heap()
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	end := heap()
	t.Logf("heap after 100,000 events: %d bytes, after 1,000,000: %d; %d dropped", after, end, s.dropped)
	if end-after > 4<<20 {
		t.Errorf("the heap grew by %d bytes", end-after)
	}
	if allocs := testing.AllocsPerRun(1000, func() { s.Write(e) }); allocs > 0 {
		t.Errorf("an event costs %.1f allocations", allocs)
	}
}

// BenchmarkEvent measures what an event costs the program.
func BenchmarkEvent(b *testing.B) {
	s := listen(b, Options{})
	o := events.NewObserver(s, "")
	site := &hook.Site{ID: 1, Name: "loss", Loc: `"train.py":31:5`}
	c := &call.Call{Site: site, Run: 1, Operands: []*tensor.Tensor{tensor.New(tensor.F32, nil)}}
	for b.Loop() {
		if err := o.Handle(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkJSON measures what an event costs the goroutine that writes it.
func BenchmarkJSON(b *testing.B) {
	e, buf := event(0), []byte(nil)
	for b.Loop() {
		buf = events.AppendJSON(buf[:0], e, nil)
	}
}
