// Command testsummary summarizes the output of 'go test -json' as 'go test' prints it: a line per package, the output
// of failed tests, and at the end the slowest tests, the names of the skipped tests by reason, the names of the failed
// tests, and the counts of passed, failed and skipped tests.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"sort"
	"strings"
)

type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
}

// test returns the package and the name of the event's test.
func (e event) test() string { return short(e.Package) + "." + e.Test }

// timed is a test that ended, and its time.
type timed struct {
	seconds float64
	test    string
}

// slowest is the number of tests whose times are printed, if they took a second or more.
const slowest = 10

func main() { os.Exit(summarize(os.Stdin, os.Stdout)) }

// reason matches the line of t.Skip, and captures the reason without file and line number.
var reason = regexp.MustCompile(`^\s+\S+\.go:\d+: (?:skip: )?(.*)\n$`)

// summarize returns the exit code: 1 if something failed or no test ran.
func summarize(in io.Reader, out io.Writer) int {
	output := map[string][]string{} // by package and test
	skipped := map[string][]string{}
	var failed []string
	var times []timed
	running := map[string]bool{} // packages whose tests began and have not ended
	passed := 0
	broken := false
	sc := bufio.NewScanner(in)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var e event
		if json.Unmarshal(sc.Bytes(), &e) != nil {
			fmt.Fprintln(out, sc.Text()) // a message of the go command
			continue
		}
		if e.Package == "" {
			e.Package = e.ImportPath
		}
		key := e.Package + " " + e.Test
		switch e.Action {
		case "start":
			running[e.Package] = true
			continue
		case "output", "build-output":
			output[key] = append(output[key], e.Output)
			continue
		case "build-fail":
			broken = true
			fmt.Fprint(out, strings.Join(output[key], ""))
		case "pass":
			if e.Test != "" {
				passed++
				if !strings.Contains(e.Test, "/") {
					times = append(times, timed{e.Elapsed, e.test()})
				}
			} else {
				fmt.Fprintf(out, "ok  \t%s\t%.3fs\n", e.Package, e.Elapsed)
			}
		case "skip":
			if e.Test != "" {
				why := "no reason given"
				for _, line := range output[key] {
					if m := reason.FindStringSubmatch(line); m != nil {
						why = m[1]
					}
				}
				skipped[why] = append(skipped[why], e.test())
			}
		case "fail":
			broken = true
			fmt.Fprint(out, strings.Join(output[key], ""))
			if e.Test != "" {
				failed = append(failed, e.test())
				if !strings.Contains(e.Test, "/") {
					times = append(times, timed{e.Elapsed, e.test()})
				}
			} else {
				// If the process died, the output of the tests that neither passed nor failed says why.
				for _, key := range unfinished(output, e.Package) {
					fmt.Fprint(out, strings.Join(output[key], ""))
					delete(output, key)
				}
				fmt.Fprintf(out, "FAIL\t%s\t%.3fs\n", e.Package, e.Elapsed)
			}
		default:
			continue
		}
		if e.Test == "" {
			delete(running, e.Package)
		}
		delete(output, key)
	}
	if err := sc.Err(); err != nil {
		fmt.Fprintln(out, err)
		broken = true
	}
	if len(running) > 0 { // the go command was killed
		broken = true
		for _, p := range slices.Sorted(maps.Keys(running)) {
			fmt.Fprintf(out, "FAIL\t%s: its tests did not end\n", p)
		}
	}
	slices.SortStableFunc(times, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
	for _, t := range times[:min(slowest, len(times))] {
		if t.seconds >= 1 {
			fmt.Fprintf(out, "slow: %6.1f s %s\n", t.seconds, t.test)
		}
	}
	whys := make([]string, 0, len(skipped))
	n := 0
	for why, tests := range skipped {
		whys = append(whys, why)
		n += len(tests)
	}
	sort.Strings(whys)
	for _, why := range whys {
		tests := skipped[why]
		fmt.Fprintf(out, "skipped %d: %s: %s\n", len(tests), why, strings.Join(tests, " "))
	}
	if len(failed) > 0 {
		fmt.Fprintf(out, "failed %d: %s\n", len(failed), strings.Join(failed, " "))
	}
	fmt.Fprintf(out, "tests: %d passed, %d failed, %d skipped\n", passed, len(failed), n)
	if broken || passed == 0 {
		return 1
	}
	return 0
}

// unfinished returns the keys of a package's tests whose outcome is unknown, sorted.
func unfinished(output map[string][]string, pkg string) []string {
	var keys []string
	for key := range output {
		if p, test, _ := strings.Cut(key, " "); p == pkg && test != "" {
			keys = append(keys, key)
		}
	}
	sort.Strings(keys)
	return keys
}

func short(pkg string) string {
	_, rest, ok := strings.Cut(pkg, "/hlocb/hlocb/")
	if !ok {
		return pkg
	}
	return rest
}
