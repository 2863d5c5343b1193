package backends

import (
	"fmt"
	"strings"
)

// Info describes a backend. For the embedded engine only Backend is set.
type Info struct {
	Backend         string      `json:"backend"` // as returned by Describe
	Path            string      `json:"path,omitempty"`
	API             string      `json:"pjrt_api,omitempty"` // major.minor
	Platform        string      `json:"platform,omitempty"`
	PlatformVersion string      `json:"platform_version,omitempty"`
	Programs        string      `json:"programs,omitempty"` // the form in which the plugin gets programs
	Attributes      []Attribute `json:"attributes,omitempty"`
	Extensions      []string    `json:"extensions,omitempty"`
	Devices         []Device    `json:"devices,omitempty"`
	UserData        bool        `json:"user_data"`        // its FFI attaches data to executions
	Memory          string      `json:"memory,omitempty"` // how the host reaches values: "host" or "copied"; empty if it cannot
}

// Attribute is a property of a plugin, in its own words: stablehlo_current_version, ...
type Attribute struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Device is a device that the backend can run on.
type Device struct {
	ID   int    `json:"id"`
	Kind string `json:"kind"`
}

// Lines returns the properties to print, a name and a value each.
func (i *Info) Lines() [][2]string {
	if i.Path == "" {
		return [][2]string{{"backend", i.Backend}}
	}
	out := [][2]string{{"path", i.Path}, {"PJRT API", i.API}, {"platform", i.Platform}, {"platform version", i.PlatformVersion}, {"programs", i.Programs}}
	for _, a := range i.Attributes {
		out = append(out, [2]string{a.Name, a.Value})
	}
	memory := "out of the host's reach, so hooks do not run"
	switch i.Memory {
	case "host":
		memory = "the host's"
	case "copied":
		memory = "values are copied to the host"
	}
	out = append(out, [2]string{"memory", memory}, [2]string{"extensions", strings.Join(i.Extensions, ", ")})
	for k, d := range i.Devices {
		out = append(out, [2]string{fmt.Sprintf("device %d", k), fmt.Sprintf("id %d, %s", d.ID, d.Kind)})
	}
	return out
}
