package cli

import (
	"bytes"
	"io"
	"os"
	"strings"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/plugins"
)

// collectiveTimeout is XLA's option for the seconds that a device waits for other devices in a collective.
const collectiveTimeout = "xla_cpu_collective_call_terminate_timeout_seconds"

// xlaFlags returns flags, the value of XLA_FLAGS, with an option that lets the devices of p wait an hour for each
// other. By default XLA's CPU runtime ends the process after a minute, which a slow handler can take. XLA reads the
// variable when a plugin is first used, so a command must set it before it opens one.
//
// xlaFlags returns flags unchanged if p has no hooks, runs on one device or has the option already, or if the plugin
// does not know the option: XLA ends the process if an option is unknown.
func xlaFlags(p *hlocb.Program, flags, backend string, opts backends.Options) string {
	replicas, partitions := mhlo.Devices(p.Module())
	if len(p.Hooks()) == 0 || max(1, replicas)*max(1, partitions) < 2 || strings.Contains(flags, collectiveTimeout) {
		return flags
	}
	path := backend
	if !plugins.IsPath(backend) {
		if backend == "auto" {
			backend = "cpu"
		}
		if name, _, _ := strings.Cut(backend, "@"); name != "cpu" {
			return flags
		}
		found, err := opts.Plugins.Find(backend)
		if err != nil || len(found) == 0 {
			return flags
		}
		path = found[0].Path
	}
	if ok, err := fileContains(path, collectiveTimeout); !ok || err != nil {
		return flags
	}
	return strings.TrimSpace(flags + " --" + collectiveTimeout + "=3600")
}

// fileContains reports whether a file has text anywhere in it.
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
