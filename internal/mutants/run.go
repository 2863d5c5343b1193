package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A test is a test of the package, with its duration and the mutants that it reaches.
type test struct {
	name    string
	took    duration
	reached map[int]bool
}

// A duration is the time that tests need.
type duration struct{ processor, wall time.Duration }

// limit is the time that tests get with a mutant. Its wall time is long, for a machine that becomes busy: only a mutant
// that waits forever needs it.
func (d duration) limit() duration {
	return duration{2*time.Second + 5*d.processor, 30*time.Second + 10*d.wall}
}

// memory limits the data of a test process, in kilobytes: a mutant may allocate without end.
const memory = 6 << 20

// start runs tests of the binary with a mutant and returns its output and the time that it needed. The error is
// context.DeadlineExceeded if the process needs more processor time than limit, as endless loops do, or does not end
// in its wall time. Its whole process group is killed then, and when a signal interrupts this program.
func (b *build) start(ctx context.Context, tests []string, limit duration, env ...string) (string, duration, error) {
	ctx, cancel := context.WithTimeout(ctx, limit.wall)
	defer cancel()
	for i, t := range tests {
		tests[i] = "^" + t + "$"
	}
	seconds := int(math.Ceil(limit.processor.Seconds()))
	script := fmt.Sprintf(`ulimit -d %d 2>/dev/null; ulimit -t %d; exec "$0" "$@"`, memory, seconds)
	cmd := exec.CommandContext(ctx, "sh", "-c", script, b.binary, "-test.v", "-test.failfast", "-test.short="+strconv.FormatBool(b.short), "-test.timeout", limit.wall.String(), "-test.run", strings.Join(tests, "|"))
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out := &failure{found: cancel}
	cmd.Stdout, cmd.Stderr = out, out
	began := time.Now()
	err := cmd.Run()
	took := duration{wall: time.Since(began)}
	if state := cmd.ProcessState; state != nil {
		took.processor = state.UserTime() + state.SystemTime()
		if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() && w.Signal() == syscall.SIGKILL {
			err = context.DeadlineExceeded
		}
	}
	switch {
	case out.failed:
		err = errFailed
	case err != nil && ctx.Err() != nil:
		err = ctx.Err()
	}
	return out.String(), took, err
}

var errFailed = errors.New("a test fails")

// failure is the output of tests. It calls found when a test or a part of one has failed: the others need not run.
type failure struct {
	bytes.Buffer
	failed bool
	found  func()
}

func (f *failure) Write(p []byte) (int, error) {
	old := max(0, f.Len()-len(failMark))
	n, err := f.Buffer.Write(p)
	if !f.failed && bytes.Contains(f.Bytes()[old:], []byte(failMark)) {
		f.failed = true
		f.found()
	}
	return n, err
}

const failMark = "--- FAIL: "

// tests lists the tests that match a pattern, and runs each once without a mutant. Tests that fail are an error.
func (b *build) tests(ctx context.Context, pattern string, workers int) ([]*test, error) {
	out, err := output(b.dir, b.binary, "-test.list", pattern)
	if err != nil {
		return nil, err
	}
	var tests []*test
	for name := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Example") || strings.HasPrefix(name, "Fuzz") {
			tests = append(tests, &test{name: name})
		}
	}
	errs := make([]error, len(tests))
	each(workers, len(tests), func(i int) { errs[i] = b.record(ctx, tests[i], i) })
	slices.SortStableFunc(tests, func(a, b *test) int { return cmp.Compare(a.took.processor, b.took.processor) })
	return tests, errors.Join(errs...)
}

// record runs a test without a mutant, and sets the mutants that it reaches.
func (b *build) record(ctx context.Context, t *test, i int) error {
	file := filepath.Join(filepath.Dir(b.binary), fmt.Sprintf("reached%d", i))
	out, took, err := b.start(ctx, []string{t.name}, duration{10 * time.Minute, 100 * time.Minute}, "HLOCB_MUTANT=-1", "HLOCB_MUTANTS_REACHED="+file)
	if err != nil {
		return fmt.Errorf("%s fails without a mutant: %w\n%s", t.name, err, out)
	}
	t.took = took
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	t.reached = map[int]bool{}
	for line := range strings.FieldsSeq(string(text)) {
		id, err := strconv.Atoi(line)
		if err != nil {
			return err
		}
		t.reached[id] = true
	}
	return nil
}

// The verdicts about mutants.
const (
	killed     = "killed"
	timeout    = "timeout"
	survived   = "survived"
	unreached  = "not reached"
	equivalent = "equivalent"
)

// batchTime is the processor time after which tests start in another process. A mutant that hangs costs several times
// the time of its batch, not of all its tests.
const batchTime = time.Second

// try runs the tests that reach a mutant, the short ones first, until one fails. It returns the verdict and, if the
// mutant is killed, the tests in whose run.
func (b *build) try(ctx context.Context, id int, tests []*test) (string, string) {
	tests = slices.Clone(tests)
	tests = slices.DeleteFunc(tests, func(t *test) bool { return !t.reached[id] })
	if len(tests) == 0 {
		return unreached, ""
	}
	for len(tests) > 0 {
		var names []string
		var took duration
		for len(tests) > 0 && took.processor < batchTime {
			names = append(names, tests[0].name)
			took.processor += tests[0].took.processor
			took.wall += tests[0].took.wall
			tests = tests[1:]
		}
		by := strings.Join(names, " ")
		_, _, err := b.start(ctx, names, took.limit(), "HLOCB_MUTANT="+strconv.Itoa(id))
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return timeout, by
		case err != nil:
			return killed, by
		}
	}
	return survived, ""
}

// each calls f for 0 to n-1 on several goroutines.
func each(workers, n int, f func(int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}
