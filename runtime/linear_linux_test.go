package runtime_test

import (
	"context"
	goruntime "runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// manyArguments is an executable with any number of arguments that does nothing.
type manyArguments struct {
	runtime.Executable
	signature runtime.Signature
}

func (m *manyArguments) Signature() *runtime.Signature { return &m.signature }

func (m *manyArguments) RunMemory(context.Context, []runtime.Memory, []bool) ([]runtime.Memory, error) {
	return nil, nil
}

// TestExecuteIsLinear: the work of Execute grows with its arguments, not with their square. The work is the time that
// this thread computes, so other processes do not count. With a search per argument the ratio is near 64.
func TestExecuteIsLinear(t *testing.T) {
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	ctx := context.Background()
	b := &fakeBackend{}
	work := func(n int) time.Duration {
		e := &manyArguments{signature: runtime.Signature{Backend: b}}
		args := make([]*runtime.Buffer, n)
		for i := range args {
			buf, err := runtime.Put(ctx, b, tensor.New(tensor.F32, nil), runtime.Placement{})
			if err != nil {
				t.Fatal(err)
			}
			defer buf.Close()
			args[i] = buf
			e.signature.Arguments = append(e.signature.Arguments, runtime.Value{Type: buf.Type()})
		}
		least := time.Hour
		for range 10 {
			before := computed(t)
			if _, err := runtime.Execute(ctx, e, args, runtime.ExecuteOptions{}); err != nil {
				t.Fatal(err)
			}
			least = min(least, computed(t)-before)
		}
		return least
	}
	few, many := work(4_000), work(32_000)
	if ratio := float64(many) / float64(few); ratio > 24 {
		t.Errorf("4,000 arguments take %v, 32,000 take %v: %.0f times as long", few, many, ratio)
	}
}

// computed returns how long this thread has computed.
func computed(t *testing.T) time.Duration {
	t.Helper()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		t.Skipf("skip: %v", err)
	}
	return time.Duration(now.Nano())
}
