package ops

import (
	"fmt"
	"strings"
)

// PluginError reports a custom call that the engine cannot compute. Either only libraries of other devices implement
// its target, or hlocb knows no library that does.
type PluginError struct{ Target string }

func (e *PluginError) Error() string {
	if b := e.Backend(); b != "" {
		return fmt.Sprintf("custom call target %q needs a plugin for %s", e.Target, b)
	}
	return fmt.Sprintf("custom call target %q is not implemented by the embedded engine", e.Target)
}

// Backend returns the platform whose plugin has the target, by the names of its libraries, or "".
func (e *PluginError) Backend() string {
	for _, l := range libraries {
		for _, prefix := range l.prefixes {
			if strings.HasPrefix(e.Target, prefix) {
				return l.platform
			}
		}
	}
	return ""
}

var libraries = [...]struct {
	platform string
	prefixes []string
}{
	{"cuda", []string{"cu_", "cublas", "cudnn", "cufft", "cusolver", "cusparse", "__cublas", "__cudnn", "__gpu$", "mosaic_gpu", "triton"}},
	{"rocm", []string{"hip", "magma"}},
	{"tpu", []string{"tpu_", "LuDecomposition", "PartialReduce"}},
}
