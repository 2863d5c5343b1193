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
	for _, f := range files {
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
			n, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			events += n
			withEvents++
		}
	}
	t.Logf("%d modules, %d events of %d of them equal as written and rewritten", len(files), events, withEvents)
	if withEvents < len(files)/2 {
		t.Errorf("only %d of %d modules had events", withEvents, len(files))
	}
}
