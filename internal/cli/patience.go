package cli

import (
	"bytes"
	"io"
	"os"
	"strings"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime/plugins"
)

// collectiveTimeout is XLA's option of how long a device may wait for the others in a collective before the process is
// ended.
const collectiveTimeout = "xla_cpu_collective_call_terminate_timeout_seconds"

// waitForSlowHandlers lets the devices of a program wait an hour for each other, as handlers may be slow. XLA's CPU runtime ends
// the process where a device waits in a collective for a minute, and only XLA_FLAGS changes that, which is read when a
// plugin is first used. A name that a plugin does not know ends the process as well, so it is set only for plugins whose
// file has it. A failure to find that out leaves everything as it is.
func (a *app) waitForSlowHandlers(backend string, m *ir.Module, hooks int) {
	flags := os.Getenv("XLA_FLAGS")
	if hooks == 0 || devicesOf(m) < 2 || strings.Contains(flags, collectiveTimeout) {
		return
	}
	path := backend
	if !plugins.IsPath(backend) {
		if backend != "auto" && backend != "cpu" {
			return
		}
		found, err := a.env.Find("cpu")
		if err != nil || len(found) == 0 {
			return
		}
		path = found[0].Path
	}
	if ok, err := fileContains(path, collectiveTimeout); ok && err == nil {
		_ = os.Setenv("XLA_FLAGS", strings.TrimSpace(flags+" --"+collectiveTimeout+"=3600"))
	}
}

// devicesOf returns on how many devices the module says that it runs.
func devicesOf(m *ir.Module) int64 {
	n := int64(1)
	for _, name := range []string{"num_replicas", "num_partitions"} {
		for _, dialect := range []string{"mhlo.", "stablehlo."} {
			if a, ok := m.Op().Attr(dialect + name).(*ir.IntegerAttr); ok && a.Value() > 1 && a.Value() < 1<<20 {
				n *= a.Value()
				break
			}
		}
	}
	return n
}

func fileContains(path, text string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	buf := make([]byte, 1<<20)
	kept := 0
	for {
		n, err := io.ReadFull(f, buf[kept:])
		if bytes.Contains(buf[:kept+n], []byte(text)) {
			return true, nil
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		kept = copy(buf, buf[len(buf)-len(text):])
	}
}
