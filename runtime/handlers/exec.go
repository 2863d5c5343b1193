package handlers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/hlocb/hlocb/internal/tensorio"
	"github.com/hlocb/hlocb/internal/words"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// ExecTimeout is how long an exec handler waits for an answer by default.
const ExecTimeout = time.Minute

// maxReplyHeader limits the first line of a child's answer.
const maxReplyHeader = 1 << 20

// maxErrorText limits how much of a child's text an error message repeats.
const maxErrorText = 1000

// Exec answers through a child process. The child starts at the first event and ends at Close, with all processes of
// its process group. Exec sends it one call at a time.
//
// A frame is one line of JSON and then raw bytes, row-major and little-endian, as many as the sizes in the line say. A
// request, on one line:
//
//	{"hook":"loss","id":"…","kind":"call","loc":"…","run":1,"seq":0,"device":0,"replica":0,"partition":0,
//	 "operands":[{"dtype":"f32","shape":[2],"bytes":8}],"results":[{"dtype":"f32","shape":[2],"bytes":8}]}
//
// The bytes of the operands follow. The answer is {"ok":true}, a line break and the bytes of all results; or
// {"error":"why"} and a line break, which ends the run. The child must write nothing else to its standard output.
type Exec struct {
	command []string
	timeout time.Duration
	stderr  io.Writer

	group  sync.Mutex // guards reaped: the child's group has been killed, and its number may be another's
	reaped bool
	mu     sync.Mutex
	cmd    *exec.Cmd
	in     io.WriteCloser
	pipe   io.Closer // the child's standard output
	out    *bufio.Reader
	failed error // why the child is no longer used
	last   *tail
}

// NewExec returns a handler that runs command (not through a shell). The child's standard error goes to stderr, which
// may be nil. timeout bounds each answer; 0 means ExecTimeout.
func NewExec(command []string, timeout time.Duration, stderr io.Writer) *Exec {
	if timeout == 0 {
		timeout = ExecTimeout
	}
	return &Exec{command: command, timeout: timeout, stderr: stderr}
}

func newExec(args string, env *Env) (runtime.Handler, error) {
	timeout := time.Duration(0)
	if rest, ok := strings.CutPrefix(args, "timeout="); ok {
		value, more, _ := strings.Cut(rest, ",")
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return nil, fmt.Errorf("timeout=%s: expected a duration such as 5s", value)
		}
		timeout, args = d, more
	}
	command, err := words.Split(args)
	if err != nil {
		return nil, err
	}
	if len(command) == 0 {
		return nil, errors.New("needs a command: exec:python3 handler.py")
	}
	return NewExec(command, timeout, env.Err), nil
}

// tail keeps the last bytes of a child's standard error, for error messages.
type tail struct {
	mu   sync.Mutex
	buf  []byte
	next io.Writer // gets all bytes; may be nil
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if n := len(t.buf) - 2048; n > 0 {
		t.buf = append(t.buf[:0], t.buf[n:]...)
	}
	if t.next != nil {
		t.next.Write(p)
	}
	return len(p), nil
}

func (t *tail) lastLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(t.buf), []byte("\n"))
	return string(lines[len(lines)-1])
}

func (e *Exec) start() error {
	cmd := exec.Command(e.command[0], e.command[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	e.last = &tail{next: e.stderr}
	cmd.Stderr = e.last
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot start %q: %w", e.command[0], err)
	}
	e.cmd, e.in, e.pipe, e.out = cmd, in, out, bufio.NewReaderSize(out, 1<<16)
	return nil
}

// kill ends the child and the processes that it started. It closes the pipes too, in case a process that has left the
// child's group holds their other ends.
func (e *Exec) kill() {
	e.group.Lock()
	if !e.reaped {
		killGroup(e.cmd)
	}
	e.group.Unlock()
	e.in.Close()
	e.pipe.Close()
}

// reap waits for the end of the child, kills the rest of its group and returns the child's status. The group is killed
// before the system may give the child's number to another process.
func (e *Exec) reap() error {
	if awaitExit(e.cmd) {
		e.group.Lock()
		killGroup(e.cmd)
		e.reaped = true
		e.group.Unlock()
	}
	err := e.cmd.Wait()
	e.group.Lock()
	defer e.group.Unlock()
	e.reaped = true
	return err
}

// Handle sends a call to the child and waits for the answer. A failure ends the child, and every later call fails for
// the same reason.
func (e *Exec) Handle(ctx context.Context, c *runtime.Call) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failed != nil {
		return e.failed
	}
	if e.cmd == nil {
		if err := e.start(); err != nil {
			e.failed = err
			return err
		}
	}
	if e.out.Buffered() > 0 {
		return e.fail(errors.New("child wrote to its standard output without a request"))
	}
	request, size := frame(c)
	// The child may answer before it has read everything, so write and read at the same time. Killing the child ends
	// both.
	answered := make(chan error, 1)
	results := make([][]byte, len(c.Results))
	go func() { answered <- e.read(c, results) }()
	written := make(chan error, 1)
	go func() { written <- e.write(request, c) }()
	timer := time.NewTimer(e.timeout)
	defer timer.Stop()
	var err error
	select {
	case err = <-answered:
	case <-timer.C:
		err = &answerTimeout{"child did not answer", e.timeout}
		e.kill()
		<-answered
	case <-ctx.Done():
		err = ctx.Err()
		e.kill()
		<-answered
	}
	if err != nil && !errors.As(err, new(*refusedError)) {
		e.in.Close() // the writer may still wait for the child to read
		<-written
		return e.fail(err)
	}
	// The operands are views of the program's memory, which must not be read after Handle returns.
	select {
	case <-written:
	case <-timer.C:
		e.kill()
		<-written
		return e.fail(&answerTimeout{fmt.Sprintf("child answered, but did not read the %d bytes of its request", size), e.timeout})
	}
	if err != nil {
		return err
	}
	for i, r := range c.Results {
		copy(r.Bytes(), results[i])
	}
	return nil
}

// fail ends the child and returns err, which later calls return too.
func (e *Exec) fail(err error) error {
	// Give a child that closed its output a moment to exit with a status that says why.
	late := time.AfterFunc(200*time.Millisecond, e.kill)
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		e.kill()
	}
	wait := e.reap()
	late.Stop()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		end := "ended"
		if wait != nil {
			end = "ended (" + wait.Error() + ")"
		}
		err = fmt.Errorf("child %s: %w", end, errShort(err))
		if line := e.last.lastLine(); line != "" {
			err = fmt.Errorf("%w; it last wrote %q", err, line)
		}
	}
	e.failed = err
	return err
}

func errShort(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("its answer is too short")
	}
	return errors.New("it gave no answer")
}

// answerTimeout is the error of a child that was too slow. It wraps a *runtime.TimeoutError.
type answerTimeout struct {
	event string
	after time.Duration
}

func (e *answerTimeout) Error() string { return e.event + " within " + e.after.String() }

// Unwrap returns the timeout in the form that every handler's timeout has.
func (e *answerTimeout) Unwrap() error { return &runtime.TimeoutError{After: e.after.String()} }

type refusedError struct{ text string }

func (e *refusedError) Error() string { return "child says: " + words.Shorten(e.text, maxErrorText) }

// frame returns the request's header, and the size of the whole request.
func frame(c *runtime.Call) (header []byte, size int) {
	b := appendJSONString([]byte(`{"hook":`), c.Site.Name)
	b = appendJSONString(append(b, `,"id":`...), c.Site.ID.String())
	b = appendJSONString(append(b, `,"kind":`...), c.Site.Kind.String())
	b = appendPlace(b, c.Site)
	b = fmt.Appendf(b, `,"run":%d,"seq":%d,"device":%d,"replica":%d,"partition":%d`, c.Run, c.Seq, c.Device, c.Replica, c.Partition)
	b = appendTypes(append(b, `,"operands":[`...), c.Operands)
	b = appendTypes(append(b, `],"results":[`...), c.Results)
	b = append(b, "]}\n"...)
	size = len(b)
	for _, t := range c.Operands {
		size += len(t.Bytes())
	}
	return b, size
}

func appendTypes(b []byte, list []*tensor.Tensor) []byte {
	for i, t := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(tensorio.AppendJSONType(b, t), `,"bytes":%d}`, len(t.Bytes()))
	}
	return b
}

func (e *Exec) write(header []byte, c *runtime.Call) error {
	if _, err := e.in.Write(header); err != nil {
		return err
	}
	for _, t := range c.Operands {
		if _, err := e.in.Write(t.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func (e *Exec) read(c *runtime.Call, results [][]byte) error {
	var line []byte
	for {
		part, err := e.out.ReadSlice('\n')
		line = append(line, part...)
		if err == nil {
			break
		}
		if err != bufio.ErrBufferFull {
			if len(line) > 0 && err == io.EOF {
				return io.ErrUnexpectedEOF
			}
			return err
		}
		if len(line) > maxReplyHeader {
			return fmt.Errorf("child's answer has no line break within %d bytes", maxReplyHeader)
		}
	}
	var reply struct {
		OK    bool   `json:"ok"`
		Error string `json:"error"`
	}
	if err := json.Unmarshal(line, &reply); err != nil {
		return fmt.Errorf("child's answer starts with %q, which is not a line of JSON", words.Shorten(strings.TrimSpace(string(line)), 60))
	}
	switch {
	case reply.OK && reply.Error != "":
		return fmt.Errorf(`child's answer %q has both "ok":true and an "error"`, words.Shorten(strings.TrimSpace(string(line)), maxErrorText))
	case !reply.OK && reply.Error == "":
		return fmt.Errorf(`child's answer %q has neither "ok":true nor an "error"`, words.Shorten(strings.TrimSpace(string(line)), 60))
	case !reply.OK:
		return &refusedError{reply.Error}
	}
	for i, r := range c.Results {
		results[i] = make([]byte, len(r.Bytes()))
		if _, err := io.ReadFull(e.out, results[i]); err != nil {
			return io.ErrUnexpectedEOF
		}
	}
	return nil
}

// Close closes the child's standard input and waits at most two seconds for the child to end. Then it kills the
// remaining processes of the child's group.
func (e *Exec) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cmd == nil || e.failed != nil {
		return nil
	}
	e.failed = errors.New("handler is closed")
	e.in.Close()
	kill := time.AfterFunc(2*time.Second, func() { e.kill() })
	defer kill.Stop()
	surplus, _ := io.Copy(io.Discard, e.out)
	err := e.reap()
	if surplus > 0 && err == nil {
		return fmt.Errorf("child of exec wrote %d bytes more than requested", surplus)
	}
	if errors.As(err, new(*exec.ExitError)) {
		return fmt.Errorf("child of exec ended with %w", err)
	}
	return err
}
