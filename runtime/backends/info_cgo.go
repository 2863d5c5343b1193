//go:build cgo

package backends

import (
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/pjrt"
)

// Properties returns what b tells of itself: for a plugin its file, API version, platform, attributes, extensions
// and devices, in that order.
func Properties(b runtime.Backend) ([]Property, error) {
	p, ok := b.(*pjrt.Backend)
	if !ok {
		return []Property{{"backend", b.Describe()}}, nil
	}
	client, err := p.Client()
	if err != nil {
		return nil, err
	}
	plugin := p.Plugin()
	major, minor := plugin.Version()
	out := []Property{
		{"path", plugin.Path()},
		{"PJRT API", fmt.Sprintf("%d.%d", major, minor)},
		{"platform", client.Platform()},
		{"platform version", client.PlatformVersion()},
	}
	for _, a := range plugin.Attributes() {
		text := fmt.Sprint(a.Value)
		if list, ok := a.Value.([]int64); ok {
			parts := make([]string, len(list))
			for i, v := range list {
				parts[i] = fmt.Sprint(v)
			}
			text = strings.Join(parts, ".")
		}
		out = append(out, Property{a.Name, text})
	}
	var names []string
	for _, e := range plugin.Extensions() {
		names = append(names, e.Name)
	}
	out = append(out, Property{"extensions", strings.Join(names, ", ")})
	for i, d := range client.Devices() {
		out = append(out, Property{fmt.Sprintf("device %d", i), fmt.Sprintf("id %d, %s", d.ID, d.Kind)})
	}
	return out, nil
}

// Traits returns the platform that b executes on and whether it can call handlers by the FFI extension.
func Traits(b runtime.Backend) (platform string, ffi bool) {
	p, ok := b.(*pjrt.Backend)
	if !ok {
		return b.Name(), true
	}
	if c, err := p.Client(); err == nil {
		platform = c.Platform()
	}
	for _, e := range p.Plugin().Extensions() {
		ffi = ffi || e.Name == "ffi"
	}
	return platform, ffi
}
