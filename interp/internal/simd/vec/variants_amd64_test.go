package vec

import (
	"strings"

	"golang.org/x/sys/cpu"
)

// variants returns the function with every set of loops that the processor supports.
func variants(name string, f *Function) map[string]*Function {
	out := map[string]*Function{"Go": f.Portable()}
	l := loops[strings.ToUpper(name[:1])+name[1:]]
	if cpu.X86.HasAVX512F {
		g := *f
		g.lanes, g.f32, g.f64 = 8, l.wide32, l.wide64
		out["AVX-512"] = &g
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		g := *f
		g.lanes, g.f32, g.f64 = 4, l.narrow32, l.narrow64
		out["AVX2"] = &g
	}
	return out
}
