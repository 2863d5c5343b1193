package entry

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/internal/jaxexport"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
)

// PlatformError says that a platform was named for a bare module, which does not list its platforms.
type PlatformError struct{ Name, Platform string }

func (e *PlatformError) Error() string {
	return fmt.Sprintf("%s: platform %q: only the container of jax.export lists platforms by name; a bare module needs the platform's index", e.Name, e.Platform)
}

// platformArgument is the name of the argument of main that chooses the platform.
const platformArgument = "_platform_index"

// platformOf returns the argument of main that chooses the platform, or -1.
func platformOf(m *ir.Module) int {
	if f, err := fn.Entry(m); err == nil {
		for i := range f.Type().Inputs() {
			if view.String(f.ArgAttrs(i).Get(fn.AttrGlobalConstant)) == platformArgument {
				return i
			}
		}
	}
	return -1
}

// Platform returns the number of the caller's argument that chooses the platform, or -1 if there is none. A module for
// several platforms has it before BindPlatform.
func (s Signature) Platform() int {
	if s.Main.Op == nil {
		return -1
	}
	return slices.IndexFunc(s.Arguments, func(i int) bool {
		return view.String(s.Main.ArgAttrs(i).Get(fn.AttrGlobalConstant)) == platformArgument
	})
}

// PlatformIndex returns the index of a platform in a container of jax.export, or -1 if the container is for this
// platform only.
func PlatformIndex(src *diag.Source, platform string) (int, error) {
	if !jaxexport.Sniff(src.Text()) {
		return 0, &PlatformError{src.Name(), platform}
	}
	f, err := artifact.Export(src)
	if err != nil {
		return 0, err
	}
	i := slices.Index(f.Platforms, platform)
	if i < 0 {
		return 0, fmt.Errorf("%s: the export is for %s, not for %q", src.Name(), strings.Join(f.Platforms, ", "), platform)
	}
	if len(f.Platforms) == 1 {
		return -1, nil
	}
	return i, nil
}

// BindPlatform replaces the index of the platform by a constant.
func BindPlatform(m *ir.Module, n int) error {
	i := platformOf(m)
	if i < 0 {
		return m.Errorf(m.Op(), "the module is not for several platforms: main has no argument that is the index of the platform")
	}
	f, _ := fn.Entry(m)
	literal := fmt.Sprintf("dense<%d> : %s", n, f.Type().Inputs()[i])
	return passes.BindArguments{Args: strings.Repeat("_;", i) + literal, Function: f.Symbol()}.Run(pass.NewContext(context.Background(), m), m)
}
