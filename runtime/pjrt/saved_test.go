//go:build cgo

package pjrt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// savedInput names the file for the child process of TestSavedInAnotherProcess.
const savedInput = "HLOCB_TEST_SAVED_PROGRAM"

func saveTo(t *testing.T, p *runtime.Program) []byte {
	t.Helper()
	s, err := compile(t, p, nil).Save()
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func loadAndRun(t *testing.T, file []byte) string {
	t.Helper()
	s, err := runtime.DecodeSaved(file)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	e, err := backend(t).Load(context.Background(), s, runtime.CompileOptions{Handlers: observe(func(c *runtime.Call) {
		got = append(got, fmt.Sprintf("%s=%v", c.Site.Name, tensor.View[float32](c.Operands[0])[0]))
	})})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r, err := e.Run(context.Background(), []*tensor.Tensor{f32(nil, 0.5)})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(got, tensor.View[float32](r[0]))
}

func TestSaveAndLoad(t *testing.T) {
	for name, p := range programs() {
		t.Run(name, func(t *testing.T) {
			if got := loadAndRun(t, saveTo(t, p)); name == "small" && got != "[h0=0.5 h1=0.5 h2=0.5] [0.5]" {
				t.Errorf("the loaded program gives %s", got)
			}
		})
	}
}

func TestSavedInAnotherProcess(t *testing.T) {
	if file := os.Getenv(savedInput); file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("child:", loadAndRun(t, b))
		return
	}
	file := filepath.Join(t.TempDir(), "prog.hlocb")
	if err := os.WriteFile(file, saveTo(t, smallProgram()), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := peer.Command(os.Args[0], "-test.run", "^TestSavedInAnotherProcess$", "-test.v")
	cmd.Env = append(os.Environ(), savedInput+"="+file)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "child: [h0=0.5 h1=0.5 h2=0.5] [0.5]\n") {
		t.Errorf("the other process says (%v):\n%s", err, out)
	}
}

// TestStaleCode refuses code of another plugin, processor or platform before the plugin sees it.
func TestStaleCode(t *testing.T) {
	file := saveTo(t, smallProgram())
	for name, change := range map[string]func(*runtime.Saved){
		"builder":  func(s *runtime.Saved) { s.Builder = "PJRT API 0.1 build 0000000000000000" },
		"machine":  func(s *runtime.Saved) { s.Machine = "amd64-0000000000000000" },
		"platform": func(s *runtime.Saved) { s.Backend = "cuda" },
	} {
		s, err := runtime.DecodeSaved(file)
		if err != nil {
			t.Fatal(err)
		}
		change(s)
		_, err = backend(t).Load(context.Background(), s, runtime.CompileOptions{})
		var stale *runtime.StaleError
		if !errors.As(err, &stale) {
			t.Errorf("%s: error is %v, expected a StaleError", name, err)
		}
	}
}
