package endtoend

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/label"

	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
)

//go:embed testdata/jax_programs.py
var jaxScript string

// jaxProgram is a program that JAX made from a Python function, with the events and results of JAX's run.
type jaxProgram struct {
	recordedEvents
	Name, Text, Located string
}

// jaxPrograms runs JAX to write and execute programs.
func jaxPrograms(t *testing.T, python *peer.Interpreter, args ...string) []jaxProgram {
	t.Helper()
	lines := bufio.NewScanner(bytes.NewReader(python.Run(t, jaxScript, nil, args...)))
	lines.Buffer(nil, 64<<20)
	var list []jaxProgram
	for lines.Scan() {
		var p jaxProgram
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatalf("%v: %.200s", err, lines.Text())
		}
		list = append(list, p)
	}
	if err := lines.Err(); err != nil || len(list) < 30 {
		t.Fatalf("%d programs of JAX (%v)", len(list), err)
	}
	return list
}

// checkJAXText reads JAX's text and checks that printing it again yields the same text, with and without locations.
func checkJAXText(t *testing.T, p *jaxProgram) {
	t.Helper()
	for _, c := range []struct {
		text string
		opts print.Options
	}{{p.Text, print.Options{}}, {p.Located, print.Options{DebugInfo: true}}} {
		m, err := testkit.TryParse(p.Name, []byte(c.text))
		if err != nil {
			t.Fatalf("%v\n%s", err, c.text)
		}
		if got := print.String(m, c.opts); strings.TrimSpace(got) != strings.TrimSpace(c.text) {
			t.Errorf("printed\n%s\nJAX wrote\n%s", got, c.text)
		}
	}
}

// TestJAXCallbacks: programs with callbacks in every kind of control flow must deliver to handlers the events that
// JAX delivered to Python, in JAX's order, and return JAX's results.
func TestJAXCallbacks(t *testing.T) {
	peer.EachPart(t, label.Part, checkJAXCallbacks)
}

func checkJAXCallbacks(t *testing.T, python *peer.Interpreter, part func(first bool) bool) {
	for i, p := range jaxPrograms(t, python, "callbacks") {
		t.Run(p.Name, func(t *testing.T) {
			checkJAXText(t, &p)
			for _, backend := range []string{"interp", "cpu"} {
				t.Run(backend, func(t *testing.T) {
					b := open(t, backend)
					for k, chain := range []hook.Chain{hook.ChainState, hook.ChainToken} {
						if !part(i%2 == k && (backend == "interp" || i%4 < 2)) {
							continue
						}
						program, err := rewrite(p.Name, []byte(p.Text), passes.RewriteHooks{Chain: chain})
						if err != nil {
							t.Fatal(err)
						}
						compareRecording(t, b, program, &p.recordedEvents, handlers.Echo(), 3)
					}
				})
			}
		})
	}
}

// wrongOnXLA lists functions whose results on XLA, which executes JAX's programs, contradict the program. The engine's
// results are right.
var wrongOnXLA = map[string]string{
	"scipy.special.exp1/10": "XLA keeps more precision than f16 between two operations, which overflow",
}

// TestJAXFunctions: the engine must return JAX's results for the functions of JAX's libraries.
func TestJAXFunctions(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	peer.Each(t, nil, func(t *testing.T, python *peer.Interpreter) {
		step := "12"
		switch {
		case long():
			step = "1"
		case python.Version() == peer.MainVersion:
			step = "72" // today's JAX has the larger sample
		}
		checkJAXFunctions(t, python, step)
	})
}

func checkJAXFunctions(t *testing.T, python *peer.Interpreter, step string) {
	b := open(t, "interp")
	for _, p := range jaxPrograms(t, python, "functions", step) {
		t.Run(p.Name, func(t *testing.T) {
			checkJAXText(t, &p)
			program, err := rewrite(p.Name, []byte(p.Text), passes.RewriteHooks{})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(p.Text, "@lapack_") {
				return // TestLinearAlgebra compares these, whose results are unique only up to a phase
			}
			if why := wrongOnXLA[p.Name]; why != "" {
				if agrees(t, b, program, &p.recordedEvents) {
					t.Error("it is not so any more that " + why)
				}
				return
			}
			compareRecording(t, b, program, &p.recordedEvents, handlers.Echo(), 1)
		})
	}
}

// agrees reports whether the results of p equal the recorded results.
func agrees(t *testing.T, b runtime.Backend, p *runtime.Program, want *recordedEvents) bool {
	t.Helper()
	e, err := b.Compile(context.Background(), p, runtime.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	results, err := e.Run(context.Background(), want.args(t))
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Results {
		if !near(results[i], want.Results[i].tensor(t)) {
			return false
		}
	}
	return true
}
