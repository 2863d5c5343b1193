package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

//go:embed equivalent.txt
var equivalents string

type options struct {
	sample  int
	seed    uint64
	tests   string
	short   bool
	match   string
	workers int
	goal    float64
	asJSON  bool
	list    bool
}

func main() {
	var o options
	flag.IntVar(&o.sample, "sample", 100, "number of mutants per package, chosen at random; 0: all")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the choice")
	flag.StringVar(&o.tests, "run", ".", "regular expression of the tests to run")
	flag.BoolVar(&o.short, "short", true, "run the tests with -short")
	flag.StringVar(&o.match, "only", "", "only mutants whose file, function or change contains this text")
	flag.IntVar(&o.workers, "workers", runtime.NumCPU(), "processes at a time")
	flag.Float64Var(&o.goal, "goal", 90, "percentage of mutants that must be killed; equivalent ones do not count")
	flag.BoolVar(&o.asJSON, "json", false, "print a line of JSON per mutant")
	flag.BoolVar(&o.list, "list", false, "list the mutants and run none")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: mutants [flags] PACKAGE...")
		flag.PrintDefaults()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	known, err := readEquivalents(equivalents)
	for _, p := range flag.Args() {
		if err == nil {
			err = run(ctx, os.Stdout, p, known, o)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// readEquivalents reads the list of equivalent mutants: the reasons, by package and key. A paragraph begins with
// "PACKAGE FUNCTION: CHANGE"; its indented lines are the reason.
func readEquivalents(text string) (map[string]string, error) {
	known := map[string]string{}
	key := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		reason, indented := strings.CutPrefix(line, "\t")
		switch {
		case strings.HasPrefix(line, "#"), line == "":
		case indented && key == "":
			return nil, fmt.Errorf("equivalent.txt: a reason without a mutant: %s", reason)
		case indented:
			known[key] = strings.TrimSpace(known[key] + " " + reason)
		default:
			if key != "" && known[key] == "" {
				return nil, fmt.Errorf("equivalent.txt: no reason: %s", key)
			}
			if key = line; known[key] != "" {
				return nil, fmt.Errorf("equivalent.txt: listed twice: %s", key)
			}
			known[key] = ""
		}
	}
	if key != "" && known[key] == "" {
		return nil, fmt.Errorf("equivalent.txt: no reason: %s", key)
	}
	return known, nil
}

// A result is the verdict about a mutant, as --json prints it.
type result struct {
	Package string
	*mutant
	Verdict string
	Reason  string `json:",omitempty"` // of an equivalent mutant
	Tests   string `json:",omitempty"` // in whose run it was killed
}

// run tries mutants of a package and prints the survivors and a summary. It stops with an error when ctx ends.
func run(ctx context.Context, w io.Writer, pattern string, known map[string]string, o options) error {
	began, before := time.Now(), processorTime()
	temp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	b, err := newBuild(pattern, temp)
	if err != nil {
		return err
	}
	b.short = o.short
	built := processorTime()
	stale := unused(known, b)
	chosen := choose(b.mutants, o)
	results := make([]result, len(chosen))
	for i, m := range chosen {
		results[i] = result{Package: b.name, mutant: m}
	}
	if o.list {
		for _, r := range results {
			fmt.Fprintf(w, "%s/%s:%d: %s\n", b.name, r.File, r.Line, r.key)
		}
		return nil
	}
	tests, err := b.tests(ctx, o.tests, o.workers)
	if err != nil {
		return err
	}
	recorded := processorTime()
	counts := map[string]int{}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	report := func(r *result) error {
		counts[r.Verdict]++
		switch {
		case o.asJSON:
			return enc.Encode(r)
		case r.Verdict == survived || r.Verdict == unreached:
			_, err := fmt.Fprintf(w, "%s/%s:%d: %s: %s\n", b.name, r.File, r.Line, r.Verdict, r.key)
			return err
		}
		return nil
	}
	var mu sync.Mutex // guards the variables below
	next := 0         // result to report
	var failed error
	each(o.workers, len(results), func(i int) {
		if ctx.Err() != nil {
			return
		}
		var verdict, by string
		reason := known[b.name+" "+results[i].key]
		if reason != "" {
			verdict = equivalent
		} else {
			verdict, by = b.try(ctx, results[i].id, tests)
		}
		mu.Lock()
		defer mu.Unlock()
		results[i].Verdict, results[i].Reason, results[i].Tests = verdict, reason, by
		for ; next < len(results) && results[next].Verdict != "" && failed == nil; next++ {
			failed = report(&results[next])
		}
	})
	if err := cmp.Or(failed, ctx.Err()); err != nil {
		return err
	}
	dead := counts[killed] + counts[timeout]
	n := len(results) - counts[equivalent]
	percent := 100 * float64(dead) / float64(max(1, n))
	if !o.asJSON {
		fmt.Fprintf(w, "%s: %d of %d mutants killed (%.0f %%), %d of them by a time limit; %d survived, %d not reached, %d equivalent; "+
			"%.0f s, and %.0f s of processor time: %.0f to build, %.0f to run each test once, the rest for the mutants\n",
			b.name, dead, n, percent, counts[timeout], counts[survived], counts[unreached], counts[equivalent], time.Since(began).Seconds(),
			(processorTime() - before).Seconds(), (built - before).Seconds(), (recorded - built).Seconds())
	}
	if len(stale) > 0 {
		return fmt.Errorf("equivalent.txt lists mutants that do not exist:\n%s", strings.Join(stale, "\n"))
	}
	if n > 0 && percent < o.goal {
		return errors.New(b.name + ": too few mutants are killed")
	}
	return nil
}

// processorTime returns the processor time of the commands that have ended, with theirs.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// unused returns the entries of known for the package that name no mutant.
func unused(known map[string]string, b *build) []string {
	exists := map[string]bool{}
	for _, m := range b.mutants {
		exists[b.name+" "+m.key] = true
	}
	var out []string
	for key := range known {
		if name, _, _ := strings.Cut(key, " "); name == b.name && !exists[key] {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// choose returns the mutants to try, in the order of the source.
func choose(all []*mutant, o options) []*mutant {
	var out []*mutant
	for _, m := range all {
		if strings.Contains(m.File+" "+m.key, o.match) {
			out = append(out, m)
		}
	}
	if o.sample > 0 && o.sample < len(out) {
		r := rand.New(rand.NewPCG(o.seed, 0))
		r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		out = out[:o.sample]
		slices.SortFunc(out, func(a, b *mutant) int { return a.id - b.id })
	}
	return out
}
