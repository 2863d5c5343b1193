// Command corpusreport reports on the tests that compare hlocb with other systems over whole corpora. For each part it
// prints the counts and the failures. Without arguments it runs the tests; an argument is a file with the output of
// 'go test -json', which it reads instead.
//
//	go run ./internal/corpusreport [RESULTS]
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// part is one property of hlocb and the tests that check it.
type part struct {
	title string
	pkg   string
	tests string // the tests' names, joined by |
}

var parts = []part{
	{"Read, verify, print and read again, in both forms: files of StableHLO's tests", "./internal/conformance", "TestUpstreamFiles"},
	{"Print byte for byte unchanged: the files of print_identical.txt", "./internal/conformance", "TestPrintIdentical"},
	{"Print as jaxlib prints (pretty, generic, with locations, local, elided): chunks of StableHLO's tests that jaxlib reads", "./internal/conformance", "TestUpstreamAsMLIR"},
	{"Print as jaxlib prints: modules that real systems wrote", "./internal/conformance", "TestPrintsAsMLIR"},
	{"Refuse what is expected to be refused: expected-error comments of StableHLO's tests", "./internal/conformance", "TestExpectedErrors"},
	{"Check every numbered constraint of the specification", "./internal/conformance", "TestClauses|TestClausesAsMLIR"},
	{"Refuse what jaxlib refuses, in its words: operations, Shardy's modules and broken texts changed at random", "./internal/conformance", "TestVerifierOnMutants|TestShardingsAsMLIR|TestErrorsAsMLIR"},
	{"Deliver the events and results that JAX delivered, on both backends, in every order", "./internal/endtoend", "TestRecordedEvents|TestCommandDeliversRecordedEvents|TestCorpusOrder"},
	{"Find the same hooks, rewrite to the same events: modules that real systems wrote", "./passes", "TestCorpusHooks|TestCorpusInMHLO|TestRewriteTwice|TestPeerParses"},
	{"Read and print HLO text and protos as XLA, and refuse what XLA refuses", "./hlo", "TestCorpus"},
	{"Read bytecode of every version and write it again byte for byte", "./artifact", "TestBytecode|TestArtifacts"},
	{"Compute on the engine what the files of StableHLO's tests expect of themselves", "./interp", "TestUpstream"},
}

func main() {
	var all results
	if len(os.Args) > 1 {
		text, err := os.ReadFile(os.Args[1])
		if err != nil {
			fmt.Fprintln(os.Stderr, "corpusreport:", err)
			os.Exit(1)
		}
		all = read(text)
	}
	failed := 0
	for _, p := range parts {
		r := all
		if r == nil {
			text, err := exec.Command("go", "test", "-count", "1", "-json", "-run", "^("+p.tests+")$", p.pkg).CombinedOutput()
			if r = read(text); err != nil && len(r) == 0 {
				fmt.Fprintf(os.Stderr, "%s", text)
			}
		}
		if !report(p, r, os.Stdout) {
			failed++
		}
	}
	if failed > 0 {
		fmt.Printf("\n%d of %d parts failed\n", failed, len(parts))
		os.Exit(1)
	}
	fmt.Printf("\nall %d parts passed\n", len(parts))
}

// result is the last outcome of a test, and what the test and its subtests logged until then.
type result struct {
	action  string // pass, fail or skip; empty if the test did not end
	seconds float64
	output  []string
}

// results holds results by package and test.
type results map[string]*result

// read reads the output of 'go test -json'. A test that runs again, because the first run left a part of it out,
// replaces its result. A second run that is skipped counts for nothing.
func read(text []byte) results {
	all := results{}
	running := map[string]*result{}
	for line := range bytes.Lines(text) {
		var e struct {
			Action, Package, Test, Output string
			Elapsed                       float64
		}
		if json.Unmarshal(line, &e) != nil || e.Test == "" {
			continue
		}
		test, _, sub := strings.Cut(e.Test, "/")
		key := strings.TrimPrefix(e.Package, "github.com/hlocb/hlocb") + " " + test
		r := running[key]
		if r == nil {
			r = &result{}
			running[key] = r
		}
		switch e.Action {
		case "output":
			r.output = append(r.output, e.Output)
		case "pass", "fail", "skip":
			if sub {
				continue
			}
			r.action, r.seconds = e.Action, e.Elapsed
			delete(running, key)
			if old := all[key]; old == nil || old.action != "fail" && r.action != "skip" {
				all[key] = r
			}
		}
	}
	for key, r := range running { // the process died
		all[key] = r
	}
	return all
}

// logged matches a line that a test logged. The other lines of a message start with more spaces.
var logged = regexp.MustCompile(`^ +\w+_test\.go:\d+: (.*)$`)

// report prints the log of the tests of one part. It returns whether they passed.
func report(p part, all results, out io.Writer) bool {
	fmt.Fprintf(out, "\n%s\n", p.title)
	passed, seconds := true, 0.0
	for name := range strings.SplitSeq(p.tests, "|") {
		r := all[strings.TrimPrefix(p.pkg, ".")+" "+name]
		if r == nil || r.action != "pass" && r.action != "skip" {
			fmt.Fprintf(out, "  FAILED: %s failed or did not run\n", name)
			passed = false
		}
		if r == nil {
			continue
		}
		seconds += r.seconds
		more := false
		for l := range strings.SplitSeq(strings.Join(r.output, ""), "\n") {
			m := logged.FindStringSubmatch(l)
			switch {
			case m != nil:
				fmt.Fprintf(out, "  %s\n", m[1])
				more = true
			case more && strings.HasPrefix(l, "        "):
				fmt.Fprintf(out, "  %s\n", strings.TrimPrefix(l, "    "))
			default:
				more = false
			}
		}
	}
	if passed {
		fmt.Fprintf(out, "  ok %s %.3fs\n", p.pkg, seconds)
	}
	return passed
}
