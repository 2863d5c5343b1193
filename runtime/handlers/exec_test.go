package handlers_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

// TestMain runs the child of the exec tests if the test binary's first argument says so.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "exec-child" {
		child(os.Args[2])
		return
	}
	os.Exit(m.Run())
}

// child doubles f32 operands in the mode "good"; other modes misbehave.
func child(mode string) {
	if mode == "sleep" {
		time.Sleep(time.Minute)
		return
	}
	in := bufio.NewReader(os.Stdin)
	if mode == "deaf" { // answers without reading the operands
		in.ReadString('\n')
		os.Stdout.WriteString("{\"ok\":true}\n")
		os.Stdout.Write(make([]byte, 8))
		time.Sleep(time.Hour)
	}
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var request struct {
			Hook     string
			Operands []struct{ Bytes int }
		}
		if err := json.Unmarshal(line, &request); err != nil {
			panic(err)
		}
		n := 0
		for _, o := range request.Operands {
			n += o.Bytes
		}
		data := make([]byte, n)
		io.ReadFull(in, data)
		switch mode {
		case "die":
			fmt.Fprintln(os.Stderr, "out of ideas")
			os.Exit(3)
		case "hang":
			time.Sleep(time.Hour)
		case "flood":
			for {
				os.Stdout.WriteString(strings.Repeat("x", 4096))
			}
		case "short":
			os.Stdout.WriteString("{\"ok\":true}\n1234")
			return
		case "garbage":
			os.Stdout.WriteString("hello\n")
		case "both":
			os.Stdout.WriteString("{\"ok\":true,\"error\":\"not today\"}\n")
			os.Stdout.Write(data)
		case "essay":
			fmt.Printf("{\"error\":%q}\n", strings.Repeat("x", 900_000))
		case "header":
			os.Stderr.Write(line)
			os.Stdout.WriteString("{\"ok\":true}\n")
		case "orphan":
			// Not peer.Command, whose command ends with its parent in any case.
			sleep := &exec.Cmd{Path: os.Args[0], Args: []string{os.Args[0], "exec-child", "sleep"}}
			if err := sleep.Start(); err != nil {
				panic(err)
			}
			fmt.Fprintln(os.Stderr, sleep.Process.Pid)
			os.Stdout.WriteString("{\"ok\":true}\n")
			os.Stdout.Write(data)
		case "refuse":
			os.Stdout.WriteString("{\"error\":\"not today\"}\n")
		case "empty":
			os.Stdout.WriteString("{}\n")
		case "chatty":
			os.Stdout.WriteString("{\"ok\":true}\n")
			os.Stdout.Write(data)
			os.Stdout.WriteString("more")
		default:
			v, _ := tensor.FromBytes(tensor.F32, tensor.Shape{int64(n / 4)}, append(make([]byte, 0, n), data...))
			for i, x := range tensor.View[float32](v) {
				tensor.View[float32](v)[i] = 2 * x
			}
			os.Stdout.WriteString("{\"ok\":true}\n")
			os.Stdout.Write(v.Bytes())
		}
	}
}

func execHandler(mode string, timeout time.Duration) *handlers.Exec {
	return handlers.NewExec([]string{os.Args[0], "exec-child", mode}, timeout, nil)
}

func TestExec(t *testing.T) {
	e := execHandler("good", 0)
	for i := range 3 {
		r := f32s(tensor.Shape{2})
		handle(t, e, call(site("h", hook.Call), []*tensor.Tensor{f32s(tensor.Shape{2}, 1, float32(i))}, []*tensor.Tensor{r}))
		if got := tensor.View[float32](r); got[0] != 2 || got[1] != float32(2*i) {
			t.Errorf("answer is %v", got)
		}
	}
	if err := e.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// TestExecPassesMoreThanPipesHold sends more than pipes hold, in both directions at once.
func TestExecPassesMoreThanPipesHold(t *testing.T) {
	e := execHandler("good", 0)
	defer e.Close()
	v := tensor.New(tensor.F32, tensor.Shape{1 << 20})
	tensor.View[float32](v)[1<<20-1] = 21
	r := tensor.New(tensor.F32, tensor.Shape{1 << 20})
	handle(t, e, call(site("h", hook.Call), []*tensor.Tensor{v}, []*tensor.Tensor{r}))
	if got := tensor.View[float32](r)[1<<20-1]; got != 42 {
		t.Errorf("last element is %v, want 42", got)
	}
}

func TestExecFailures(t *testing.T) {
	tests := []struct{ mode, want string }{
		{"die", `child ended (exit status 3): it gave no answer; it last wrote "out of ideas"`},
		{"hang", "child did not answer within 300ms"},
		{"flood", "no line break within"},
		{"short", "its answer is too short"},
		{"garbage", `starts with "hello", which is not a line of JSON`},
		{"empty", "neither"},
		{"both", `has both "ok":true and an "error"`},
		{"essay", "child says: " + strings.Repeat("x", 1000) + "... (900000 bytes)"},
		{"refuse", "child says: not today"},
	}
	for _, tt := range tests {
		timeout := 10 * time.Second
		if tt.mode == "hang" {
			timeout = 300 * time.Millisecond
		}
		e := execHandler(tt.mode, timeout)
		c := call(site("h", hook.Call), []*tensor.Tensor{f32s(tensor.Shape{2}, 1, 2)}, []*tensor.Tensor{f32s(tensor.Shape{2})})
		first := e.Handle(context.Background(), c)
		wantError(t, first, tt.want)
		if late := (*runtime.TimeoutError)(nil); errors.As(first, &late) != (tt.mode == "hang") {
			t.Errorf("%s: the error is %v, as a timeout %v", tt.mode, first, late)
		}
		if len(first.Error()) > 2000 {
			t.Errorf("%s: the error has %d bytes", tt.mode, len(first.Error()))
		}
		second := e.Handle(context.Background(), c)
		if first == nil || second == nil || first.Error() != second.Error() {
			t.Errorf("%s: first error is %v, second %v", tt.mode, first, second)
		}
		e.Close()
	}
}

// TestExecNamesOnTerminals: a program may print its requests, so no character of a name can steer a terminal.
func TestExecNamesOnTerminals(t *testing.T) {
	name := "\u009b31m\u202eevil\x1b[0m"
	var stderr bytes.Buffer
	e := handlers.NewExec([]string{os.Args[0], "exec-child", "header"}, 0, &stderr)
	handle(t, e, call(site(name, hook.Tap), nil, nil))
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	for _, c := range strings.TrimSuffix(stderr.String(), "\n") {
		if !unicode.IsPrint(c) {
			t.Errorf("the request holds %U", c)
		}
	}
	var request struct{ Hook string }
	if err := json.Unmarshal(stderr.Bytes(), &request); err != nil || request.Hook != name {
		t.Errorf("the name is read as %q (%v), expected %q", request.Hook, err, name)
	}
}

func TestExecRefusesUnaskedOutput(t *testing.T) {
	e := execHandler("chatty", 0)
	defer e.Close()
	c := call(site("h", hook.Call), []*tensor.Tensor{f32s(tensor.Shape{2}, 1, 2)}, []*tensor.Tensor{f32s(tensor.Shape{2})})
	handle(t, e, c)
	err := e.Handle(context.Background(), c)
	if err == nil { // the surplus may arrive late: then it precedes the next answer
		t.Fatal("an answer with surplus bytes went unnoticed")
	}
}

// TestExecRefusesSurplusBytes: bytes after the last answer are an error.
func TestExecRefusesSurplusBytes(t *testing.T) {
	e := execHandler("chatty", 0)
	handle(t, e, call(site("h", hook.Call), []*tensor.Tensor{f32s(tensor.Shape{2}, 1, 2)}, []*tensor.Tensor{f32s(tensor.Shape{2})}))
	wantError(t, e.Close(), "more than requested")
}

// TestExecEndsWithDeafChild: a child that answers without reading its request leaves no goroutine that writes operands.
func TestExecEndsWithDeafChild(t *testing.T) {
	e := execHandler("deaf", 500*time.Millisecond)
	defer e.Close()
	c := call(site("h", hook.Call), []*tensor.Tensor{tensor.New(tensor.F32, tensor.Shape{1 << 20})}, []*tensor.Tensor{f32s(tensor.Shape{2})})
	wantError(t, e.Handle(context.Background(), c), "did not read the")
}

func TestExecCancel(t *testing.T) {
	e := execHandler("hang", time.Hour)
	defer e.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	err := e.Handle(ctx, call(site("h", hook.Call), nil, nil))
	wantError(t, err, context.DeadlineExceeded.Error())
}

func TestExecReportsMissingCommand(t *testing.T) {
	e := handlers.NewExec([]string{"/nonexistent/program"}, 0, new(bytes.Buffer))
	wantError(t, e.Handle(context.Background(), call(site("h", hook.Call), nil, nil)), "cannot start")
}

// TestExecEndsTheGroup: the processes that a child started end with it.
func TestExecEndsTheGroup(t *testing.T) {
	var stderr bytes.Buffer
	e := handlers.NewExec([]string{os.Args[0], "exec-child", "orphan"}, 0, &stderr)
	handle(t, e, call(site("h", hook.Call), nil, nil))
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(stderr.String()))
	if err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		// A process whose parent does not wait for it stays in the table as a zombie.
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || bytes.Contains(status, []byte(") Z ")) {
			return
		}
		if time.Since(start) > 5*time.Second {
			t.Fatalf("process %d still runs: %s", pid, status)
		}
	}
}
