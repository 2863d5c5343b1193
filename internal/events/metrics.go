package events

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Metrics serves the last values and the counts of hooks in Prometheus' text format. It is a Sink and an http.Handler.
type Metrics struct {
	server *http.Server // nil without
	mu     sync.Mutex
	series map[seriesKey]*series
}

// seriesKey is a hook on a device. Hooks of several programs may have one name.
type seriesKey struct {
	hook, id, process string
	device            int
}

type series struct {
	events, step, run int64
	seconds           float64
	operands          []Operand
}

// NewMetrics returns metrics without events.
func NewMetrics() *Metrics { return &Metrics{series: map[seriesKey]*series{}} }

// ServeMetrics returns metrics that a server at address serves at /metrics: HOST:PORT, or :PORT for this machine only.
// Close ends the server. url is the address to scrape.
func ServeMetrics(address string) (m *Metrics, url string, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, "", fmt.Errorf("expected :PORT or HOST:PORT: %w", err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port))
	if err != nil {
		return nil, "", err
	}
	m = NewMetrics()
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m)
	m.server = &http.Server{Handler: OnlyHosts(l.Addr(), mux), ReadHeaderTimeout: 10 * time.Second}
	go m.server.Serve(l)
	return m, "http://" + l.Addr().String() + "/metrics", nil
}

// OnlyHosts answers requests to a server of this machine only if they name this machine: a page of another site may
// have let its own name resolve to this machine's address.
func OnlyHosts(at net.Addr, h http.Handler) http.Handler {
	listens, ok := at.(*net.TCPAddr)
	if !ok || !listens.IP.IsLoopback() {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			name = r.Host
		}
		if ip := net.ParseIP(strings.Trim(name, "[]")); name != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "this server answers only to its own address", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func (*Metrics) timed() {}

// maxSeries limits the hooks, by device, that have metrics.
const maxSeries = 10000

// Write implements Sink.
func (m *Metrics) Write(e *Event) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := seriesKey{e.Hook, e.ID, e.Process, e.Device}
	s := m.series[key]
	if s == nil {
		if len(m.series) >= maxSeries {
			return nil
		}
		s = new(series)
		m.series[key] = s
	}
	s.events++
	s.run, s.step = e.Run, e.Step
	s.seconds += time.Duration(e.Took).Seconds()
	for i := range e.Operands {
		if i == len(s.operands) {
			s.operands = append(s.operands, Operand{})
		}
		nan, inf := s.operands[i].NaN, s.operands[i].Inf
		o := e.Operands[i]
		o.Value = nil
		o.NaN, o.Inf = o.NaN+nan, o.Inf+inf // counters
		s.operands[i] = o
	}
	return nil
}

// Flush implements Sink.
func (m *Metrics) Flush() error { return nil }

// Close implements Sink.
func (m *Metrics) Close() error {
	if m.server == nil {
		return nil
	}
	return m.server.Close()
}

// labelText returns s as the value of a label.
func labelText(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(s, "\uFFFD"))
}

// ServeHTTP implements http.Handler.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte(m.text()))
}

// text returns all metrics.
func (m *Metrics) text() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := slices.SortedFunc(maps.Keys(m.series), func(a, b seriesKey) int {
		return cmp.Or(cmp.Compare(a.hook, b.hook), cmp.Compare(a.id, b.id), cmp.Compare(a.process, b.process), cmp.Compare(a.device, b.device))
	})
	var b strings.Builder
	family := func(name, kind, help string, each func(s *series, add func(operand int, v float64))) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
		for _, k := range keys {
			each(m.series[k], func(operand int, v float64) {
				fmt.Fprintf(&b, `%s{hook="%s",id="%s",device="%d"`, name, labelText(k.hook), k.id, k.device)
				if operand >= 0 {
					fmt.Fprintf(&b, `,operand="%d"`, operand)
				}
				b.WriteString("} " + strconv.FormatFloat(v, 'g', -1, 64) + "\n")
			})
		}
	}
	whole := func(value func(*series) float64) func(*series, func(int, float64)) {
		return func(s *series, add func(int, float64)) { add(-1, value(s)) }
	}
	operand := func(scalar bool, value func(o *Operand) float64) func(*series, func(int, float64)) {
		return func(s *series, add func(int, float64)) {
			for i := range s.operands {
				if o := &s.operands[i]; !scalar || o.Scalar {
					add(i, value(o))
				}
			}
		}
	}
	family("hlocb_events_total", "counter", "Events of a hook.", whole(func(s *series) float64 { return float64(s.events) }))
	family("hlocb_handler_seconds_total", "counter", "Seconds in the handlers of a hook.", whole(func(s *series) float64 { return s.seconds }))
	family("hlocb_run", "gauge", "Number of the run of the last event.", whole(func(s *series) float64 { return float64(s.run) }))
	family("hlocb_value", "gauge", "Last value of a scalar.", operand(true, func(o *Operand) float64 { return o.Number }))
	family("hlocb_min", "gauge", "Smallest finite element of the last value.", operand(false, func(o *Operand) float64 { return o.Min }))
	family("hlocb_max", "gauge", "Largest finite element of the last value.", operand(false, func(o *Operand) float64 { return o.Max }))
	family("hlocb_mean", "gauge", "Mean of the finite elements of the last value.", operand(false, func(o *Operand) float64 { return o.Mean }))
	family("hlocb_nan_total", "counter", "Elements that were NaN.", operand(false, func(o *Operand) float64 { return float64(o.NaN) }))
	family("hlocb_inf_total", "counter", "Elements that were infinite.", operand(false, func(o *Operand) float64 { return float64(o.Inf) }))
	return b.String()
}
