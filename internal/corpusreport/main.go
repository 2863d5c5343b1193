// Command corpusreport runs the tests that compare hlocb with other systems over whole corpora. For each part it prints
// the counts and the failures.
//
//	go run ./internal/corpusreport
package main

import (
	"bytes"
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
	{"Read bytecode of every version and write it again byte for byte", "./bytecode", "TestCorpus"},
	{"Compute on the engine what the files of StableHLO's tests expect of themselves", "./interp", "TestUpstream"},
}

func main() {
	failed := 0
	for _, p := range parts {
		if !report(p, os.Stdout) {
			failed++
		}
	}
	if failed > 0 {
		fmt.Printf("\n%d of %d parts failed\n", failed, len(parts))
		os.Exit(1)
	}
	fmt.Printf("\nall %d parts passed\n", len(parts))
}

// logged matches a line that a test logged. The other lines of a message start with more spaces.
var logged = regexp.MustCompile(`^ +\w+_test\.go:\d+: (.*)$`)

// report runs one part and prints the log of its tests. It returns whether they passed.
func report(p part, out io.Writer) bool {
	fmt.Fprintf(out, "\n%s\n", p.title)
	cmd := exec.Command("go", "test", "-count", "1", "-v", "-run", "^("+p.tests+")$", p.pkg)
	text, err := cmd.CombinedOutput()
	lines, more := 0, false
	for _, l := range strings.Split(string(text), "\n") {
		m := logged.FindStringSubmatch(l)
		switch {
		case m != nil:
			fmt.Fprintf(out, "  %s\n", m[1])
			lines, more = lines+1, true
		case more && strings.HasPrefix(l, "        "):
			fmt.Fprintf(out, "  %s\n", strings.TrimPrefix(l, "    "))
		default:
			more = false
		}
	}
	if end := bytes.Split(bytes.TrimSpace(text), []byte("\n")); err == nil {
		fmt.Fprintf(out, "  %s\n", end[len(end)-1]) // the summary line of 'go test'
	} else {
		if lines == 0 { // no test ran
			fmt.Fprintf(out, "%s", bytes.TrimRight(text, "\n"))
		}
		fmt.Fprintf(out, "  FAILED: %v\n", err)
	}
	return err == nil
}
