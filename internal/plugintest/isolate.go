package plugintest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/hlocb/hlocb/runtime"
)

// line is a line of the child process. It reports the start or the end of a case.
type line struct {
	Case    int           `json:"case"`
	Status  Status        `json:"status,omitempty"` // empty: the case starts
	Message string        `json:"message,omitempty"`
	Took    time.Duration `json:"took,omitempty"`
}

// Serve runs cases in the child process of RunIsolated. It writes a line of JSON when a case starts and when it ends.
func Serve(ctx context.Context, w io.Writer, b, ref runtime.Backend, cases []Case, from int) error {
	out := json.NewEncoder(w)
	for i := from; i < len(cases); i++ {
		if err := out.Encode(line{Case: i}); err != nil {
			return err
		}
		err := Run(ctx, b, ref, cases[i:i+1], func(r Result) {
			_ = out.Encode(line{i, r.Status, r.Message, r.Took})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// RunIsolated runs the cases in a child process. If a plugin crashes or hangs, one case fails and a new child continues
// with the next case. start makes the command whose standard output is the output of Serve. limit bounds the time of
// one case.
func RunIsolated(ctx context.Context, cases []Case, limit time.Duration, start func(from int) *exec.Cmd, each func(Result)) error {
	for from := 0; from < len(cases); {
		next, err := runChild(ctx, cases, from, limit, start(from), each)
		if err != nil {
			return err
		}
		from = next
	}
	return ctx.Err()
}

// runChild runs cases until the child ends. It returns the first case that the child did not run.
func runChild(ctx context.Context, cases []Case, from int, limit time.Duration, cmd *exec.Cmd, each func(Result)) (next int, err error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	var stderr tailWriter
	cmd.Stderr = &stderr
	cmd.WaitDelay = waitDelay
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	lines := make(chan line)
	go func() {
		defer close(lines)
		scan := bufio.NewScanner(out)
		scan.Buffer(nil, 16<<20)
		for scan.Scan() {
			var l line
			if json.Unmarshal(scan.Bytes(), &l) == nil && l.Case >= from && l.Case < len(cases) {
				lines <- l
			}
		}
	}()
	running, hung := -1, false
	timer := time.NewTimer(limit)
	defer timer.Stop()
	next = from
	for open := true; open; {
		var l line
		select {
		case l, open = <-lines:
		case <-timer.C:
			if hung { // a process that the child started holds the pipe
				_ = out.Close()
			}
			hung = true
			_ = cmd.Process.Kill()
			timer.Reset(waitDelay)
			continue
		case <-ctx.Done():
			_ = cmd.Process.Kill()
			_ = out.Close()
			for range lines {
			}
			_ = cmd.Wait()
			return 0, ctx.Err()
		}
		if !open {
			break
		}
		timer.Reset(limit)
		if l.Status == "" {
			running, next = l.Case, l.Case+1
			continue
		}
		running = -1
		each(Result{cases[l.Case], l.Status, l.Message, l.Took})
	}
	err = cmd.Wait()
	switch {
	case running >= 0 && hung:
		each(Result{Case: cases[running], Status: Failed, Message: fmt.Sprintf("it did not end within %v", limit), Took: limit})
	case running >= 0:
		reason := "it ended with exit code 0"
		if err != nil {
			reason = err.Error()
		}
		if m := lastWords.FindSubmatch(stderr.text); m != nil {
			reason = string(m[1])
		}
		each(Result{Case: cases[running], Status: Failed, Message: Crashed + reason + "\n" + stderr.end()})
	case next == from, err != nil && next < len(cases):
		reason := "it ended with exit code 0"
		if err != nil {
			reason = err.Error()
		}
		return 0, fmt.Errorf("the process that runs the cases ended: %s\n%s", reason, stderr.end())
	}
	return next, nil
}

// waitDelay is the time for which the pipes of a child that has ended are read: a process that the child started may
// hold them.
const waitDelay = 5 * time.Second

// Crashed is the start of the message of a case that ended its process. The reason follows in the same line.
const Crashed = "the process crashed: "

// lastWords matches the reason of a crash in the standard error of a process.
var lastWords = regexp.MustCompile(`(?m)^(?:F\d{4} .*?\] )?((?:.*Check failed: |error: the plugin .* crashed |error: the plugin .* ended the process |SIG[A-Z]+: |fatal error: |panic: ).*)$`)

// tailWriter keeps the last megabyte of a child's standard error: stacks may follow the reason of a crash.
type tailWriter struct{ text []byte }

func (w *tailWriter) Write(b []byte) (int, error) {
	w.text = append(w.text, b...)
	if n := len(w.text) - 1<<20; n > 0 {
		w.text = append(w.text[:0], w.text[n:]...)
	}
	return len(b), nil
}

// end returns the last kilobytes.
func (w *tailWriter) end() string {
	return strings.TrimSpace(string(w.text[max(0, len(w.text)-4096):]))
}
