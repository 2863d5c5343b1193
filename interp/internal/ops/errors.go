package ops

import (
	"fmt"
	"strings"
)

// PluginError reports that a custom call needs a plugin, because only XLA's own libraries implement it.
type PluginError struct{ Target string }

func (e *PluginError) Error() string {
	return fmt.Sprintf("custom call target %q is implemented by no engine of this module and needs a plugin for %s", e.Target, e.Backend())
}

// Backend returns the plugin to try. It recognizes the targets of CUDA's libraries by their names.
func (e *PluginError) Backend() string {
	for _, prefix := range []string{"cu_", "cublas", "cudnn", "cufft", "cusolver", "cusparse", "__cublas", "__cudnn", "__gpu$", "mosaic_gpu", "triton"} {
		if strings.HasPrefix(e.Target, prefix) {
			return "cuda"
		}
	}
	return "cpu"
}
