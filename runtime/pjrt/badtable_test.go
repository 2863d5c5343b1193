//go:build cgo

package pjrt

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// refused is an Interposer whose programs the plugin refuses, so that it compiles the original.
type refused struct{ warnings []string }

func (*refused) Settings() string { return "; test" }

func (*refused) Compile([]byte, string, []byte) (*Replacement, error) {
	return &Replacement{Code: []byte("no program"), Manifest: &hook.Manifest{}, Handlers: &runtime.Bindings{}, Replicas: 1, Partitions: 1}, nil
}

func (*refused) Load([]byte) (*Replacement, error) { return nil, errors.New("not expected") }
func (*refused) Targets() map[string]Target        { return nil }
func (r *refused) Warn(err error)                  { r.warnings = append(r.warnings, err.Error()) }

// badTable tells the test to run one of its cases in this process.
const badTable = "HLOCB_TEST_BAD_TABLE"

// TestInterposedBadTables: a table that lacks functions, or whose errors say nothing, does not end a program whose
// plugin hlocb wraps. Before, each case was a jump to address 0.
func TestInterposedBadTables(t *testing.T) {
	if library := os.Getenv(badTable); library != "" {
		badTableCase(t, library)
		return
	}
	real := cpuPlugin(t)
	library := sharedLibrary(t, "cc", "testdata/bad_plugin.c", "-ldl")
	for _, bad := range []string{"", "no callback", "no error message", "no error code", "no destroy of events"} {
		cmd := peer.Command(os.Args[0], "-test.run=^TestInterposedBadTables$", "-test.v")
		cmd.Env = append(slices.Clip(os.Environ()), badTable+"="+library, "BAD="+bad, "REAL_PLUGIN="+real)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%s: %v\n%.3000s", bad, err, out)
		}
	}
}

func badTableCase(t *testing.T, library string) {
	if _, err := Load(library); err != nil { // initializes the plugin
		t.Fatal(err)
	}
	i := &refused{}
	address, err := InterposePlugin(library, i)
	if err != nil {
		t.Fatal(err)
	}
	p := &Plugin{path: library, registered: map[string]registration{}}
	*(*uintptr)(unsafe.Pointer(&p.api)) = address
	b := &Backend{plugin: p, delays: defaultDelays, gone: make(chan struct{}), clients: map[clientKey]*Client{}, executables: map[*Executable]struct{}{}}
	b.changed.L = &b.mu
	e, err := b.Compile(context.Background(), program("(%x: tensor<f32>) -> tensor<f32>", "return %x : tensor<f32>\n"), runtime.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.New(tensor.F32, tensor.Shape{})
	if _, err := e.Run(context.Background(), []*tensor.Tensor{x}); err != nil {
		t.Error(err)
	}
	if os.Getenv("BAD") == "" && (len(i.warnings) == 0 || strings.Contains(i.warnings[0], "says nothing more")) {
		t.Errorf("warnings are %q, expected the plugin's reason", i.warnings)
	}
	if len(i.warnings) == 0 || !strings.Contains(i.warnings[len(i.warnings)-1], "refuses the program with probes") {
		t.Errorf("warnings are %q, expected the refusal", i.warnings)
	}
	if err := errors.Join(e.Close(), b.Close()); err != nil {
		t.Error(err)
	}
}

// TestManyAttachments: attaching a program costs the same however many are attached.
func TestManyAttachments(t *testing.T) {
	s := func(id hook.ID) *session {
		return &session{sites: &siteTable{all: []*site{{id: uint64(id)}}}}
	}
	const n = 100_000
	var all []*session
	for id := range hook.ID(n) {
		all = append(all, s(id+1))
		if err := attach(all[id], false); err != nil {
			t.Fatal(err)
		}
	}
	if findAttached(n/2) != all[n/2-1] {
		t.Error("a session is not found by its hook")
	}
	for _, s := range all {
		detach(s)
	}
	if findAttached(n/2) != nil {
		t.Error("a detached session is found")
	}
}
