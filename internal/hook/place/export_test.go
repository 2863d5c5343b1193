package place

import (
	"fmt"

	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// Shardings returns a function that describes the sharding of a value of m and the type of a shard, and the meshes.
func Shardings(m *ir.Module) (describe func(*ir.Value) string, meshes string) {
	p := newPlacer(m, hook.PerDeviceEach)
	p.findShardings()
	return func(v *ir.Value) string {
		text, local := "none", v.Type()
		if p.mesh == nil {
			text, local = p.shardOf(v)
		} else if s := p.shardingOf(v); s != nil {
			text, local = sdy.ShardingAttr.New(s).String(), p.localType(v.Type(), s)
		}
		if local != v.Type() {
			text += fmt.Sprintf(" %v", local)
		}
		return text
	}, fmt.Sprintf("%d replicas, %d partitions, mesh %q, devices %v", p.replicas, p.devices, p.meshName, p.maximal)
}

// ReshapeSources calls reshapeSources.
func ReshapeSources(to, from []int64) []int {
	out := make([]int, len(to))
	for i := range out {
		out[i] = -1
	}
	return reshapeSources(to, from, out)
}
