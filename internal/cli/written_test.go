package cli_test

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/testkit"
)

// notRunAsWritten lists the modules of the corpus that the embedded engine does not run, written or rewritten, each
// with a part of the error.
var notRunAsWritten = map[string]string{
	"t14_badalias.mlir": "output_operand_alias attribute", // not valid, on purpose
}

// TestCorpusAsWritten: programs that real systems wrote deliver the same events with the same values, and return the
// same results, as written and rewritten.
func TestCorpusAsWritten(t *testing.T) {
	label.Once(t)
	files := testkit.Glob(t, "hooks/*.mlir", "order/*.mlir")
	count := regexp.MustCompile(`events: (\d+) equal`)
	events, withEvents := 0, 0
	n := 0
	for i, f := range files {
		if !label.Part(i%9 == 0) {
			continue
		}
		n++
		code, out, errs := runCLI(t, time.Minute, "verify", f, f, "--as-written", "--hook-target", "probe_cb", "--hook-target", "my_hook", "--hook-target", "hook", "--hook-target", "report")
		if part := notRunAsWritten[filepath.Base(f)]; part != "" {
			if code == 0 || !strings.Contains(errs, part) {
				t.Errorf("%s: expected an error with %q, got code %d: %s", f, part, code, errs)
			}
			continue
		}
		if code != 0 {
			t.Errorf("%s: code %d\n%s%s", f, code, out, errs)
		}
		if m := count.FindStringSubmatch(out); m != nil {
			k, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			events += k
			withEvents++
		}
	}
	t.Logf("%d modules, %d events of %d of them equal as written and rewritten", n, events, withEvents)
	if withEvents < n/2 {
		t.Errorf("only %d of %d modules had events", withEvents, n)
	}
}
