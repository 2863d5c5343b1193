package peer

import (
	"strings"
	"testing"
)

// TestServe: scripts have processes of their own, which share one Python that imported numpy. A script sees its input,
// its arguments and this process's variables; one that fails or dies says so, and harms no later script.
func TestServe(t *testing.T) {
	p := Python(t)
	serve := func(script, stdin string, args ...string) (string, error) {
		t.Helper()
		out, ok, err := p.serve("import numpy, os, sys\n"+script, []byte(stdin), args)
		if !ok {
			t.Fatal("not served")
		}
		return string(out), err
	}
	if out, err := serve("numpy.mark = 1; print(sys.argv[1:], sys.stdin.read(), os.getppid())", "in", "a b", ""); err != nil || !strings.HasPrefix(out, "['a b', ''] in ") {
		t.Errorf("%q, %v", out, err)
	}
	first, err := serve("print(os.getppid(), hasattr(numpy, 'mark'))", "")
	if err != nil || !strings.HasSuffix(first, " False\n") {
		t.Errorf("%q, %v", first, err)
	}
	for script, want := range map[string]string{
		"sys.exit(3)":                 "exit code 3\n",
		"sys.exit('message')":         "exit code 1\nmessage",
		"1 / 0":                       "ZeroDivisionError",
		"x = (":                       "SyntaxError",
		"import numpy.nothing":        "ModuleNotFoundError",
		"import signal; os.abort()":   "exit code -6\n",
		"print('out'); sys.exit(256)": "",
		"os._exit(7)":                 "exit code 7\n",
	} {
		if _, err := serve(script, ""); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", script, err, want)
		}
	}
	if again, err := serve("print(os.getppid(), hasattr(numpy, 'mark'))", ""); again != first {
		t.Errorf("another Python: %q, %v; %q before", again, err, first)
	}
	t.Setenv("HLOCB_TEST_SERVE", "set")
	if out, err := serve("print(getattr(os, 'env' + 'iron')['HLOCB_TEST_SERVE'])", ""); out != "set\n" {
		t.Errorf("%q, %v", out, err)
	}
	if _, ok, _ := p.serve("import os\nos.environ['JAX_PLATFORMS'] = 'cpu'\nimport jax", nil, nil); ok {
		t.Error("a script that sets a variable before it imports JAX is served")
	}
}
