//go:build cgo

package pjrt

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/peer"
)

// probeInput names the variable with path, platform and layout for the child process of TestLayoutIsFoundInAChild.
const probeInput = "HLOCB_TEST_PROBE"

// oldPlugin compiles testdata/old_plugin.c.
func oldPlugin(t *testing.T) string { return sharedLibrary(t, "cc", "testdata/old_plugin.c") }

func TestLayoutIsFoundInAChild(t *testing.T) {
	if input := os.Getenv(probeInput); input != "" {
		parts := strings.Split(input, "|")
		if err := TryRegistration(parts[0], parts[1], parts[2] == "true"); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	p, err := Load(oldPlugin(t))
	if err != nil {
		t.Fatal(err)
	}
	var refused *NoFFIError
	if err := p.register("a", nil, "cpu", p.registrationLayout()); !errors.As(err, &refused) {
		t.Errorf("registering without knowing the layout: %v", err)
	}
	var tried []string
	probe := func(path, platform string, versioned bool) error {
		cmd := peer.Command(os.Args[0], "-test.run", "^TestLayoutIsFoundInAChild$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%s|%t", probeInput, path, platform, versioned))
		err := cmd.Run()
		tried = append(tried, fmt.Sprint(versioned, err == nil))
		return err
	}
	if err := p.FindLayout("cpu", probe); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(tried); got != "[false false true true]" {
		t.Errorf("tried %s, expected the plain layout to fail and the versioned one to work", got)
	}
	if err := p.RegisterHooks("cpu"); err != nil {
		t.Errorf("RegisterHooks: %v", err)
	}
	if err := p.FindLayout("cpu", probe); err != nil || len(tried) != 2 {
		t.Errorf("a second FindLayout: %v, tried %v", err, tried)
	}
}

func TestLayoutOfTheCPUPluginIsKnown(t *testing.T) {
	p := backend(t).Plugin()
	for _, versioned := range []bool{false, true} {
		cmd := peer.Command(os.Args[0], "-test.run", "^TestLayoutIsFoundInAChild$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|cpu|%t", probeInput, p.Path(), versioned))
		if out, err := cmd.CombinedOutput(); (err == nil) == versioned {
			t.Errorf("versioned %t: %v\n%s", versioned, err, out)
		}
	}
	err := p.FindLayout("cpu", func(string, string, bool) error { t.Error("probed"); return nil })
	if err != nil {
		t.Error(err)
	}
}

func TestSecondHandlerIsAnError(t *testing.T) {
	p := backend(t).Plugin()
	list, err := p.RegisterYardsticks("cpu")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.RegisterYardsticks("cpu"); err != nil {
		t.Errorf("the same handlers again: %v", err)
	}
	if err := p.RegisterHandler(list[0].Target, nil, "cpu"); err == nil {
		t.Error("another handler for a registered target was accepted")
	}
}
