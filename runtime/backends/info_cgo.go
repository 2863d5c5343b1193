//go:build cgo

package backends

import (
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/pjrt"
)

// InfoOf describes b.
func InfoOf(b runtime.Backend) (*Info, error) {
	out := &Info{Backend: b.Describe()}
	p, ok := b.(*pjrt.Backend)
	if !ok {
		return out, nil
	}
	client, err := p.Client()
	if err != nil {
		return nil, err
	}
	plugin := p.Plugin()
	major, minor := plugin.Version()
	out.Path, out.API = plugin.Path(), fmt.Sprintf("%d.%d", major, minor)
	out.Platform, out.PlatformVersion = client.Platform(), client.PlatformVersion()
	out.Programs = plugin.Programs()
	for _, a := range plugin.Attributes() {
		text := fmt.Sprint(a.Value)
		if list, ok := a.Value.([]int64); ok {
			parts := make([]string, len(list))
			for i, v := range list {
				parts[i] = fmt.Sprint(v)
			}
			text = strings.Join(parts, ".")
		}
		out.Attributes = append(out.Attributes, Attribute{a.Name, text})
	}
	for _, e := range plugin.Extensions() {
		out.Extensions = append(out.Extensions, e.Name)
	}
	out.UserData = plugin.UserData()
	switch memory := client.Memory(); {
	case memory == nil:
	case memory.Readable():
		out.Memory = "host"
	default:
		out.Memory = "copied"
	}
	for _, d := range client.Devices() {
		out.Devices = append(out.Devices, Device{int(d.ID), d.Kind})
	}
	return out, nil
}

// Traits returns the platform of b and whether b can call handlers by the FFI extension.
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
