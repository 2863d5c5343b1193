//go:build cgo

package pjrt

// #include "calls.h"
import "C"

import (
	"errors"
	"fmt"
	"maps"
	goruntime "runtime"
	"slices"
	"sync"
	"unsafe"
)

// Client is a plugin's instance with its devices. It is safe for concurrent use.
type Client struct {
	plugin   *Plugin
	ptr      unsafe.Pointer
	platform string
	version  string
	devices  []Device
	memory   DeviceMemory // nil if the host cannot reach it

	trim bool // see Options.Trim

	mu        sync.Mutex
	spare     bool
	running   map[*session]struct{}
	abandoned int // compilations whose caller has returned
	closing   bool
}

// Device is one device of a client.
type Device struct {
	ID      int // unique among the client's devices
	LocalID int // the device's ordinal in handlers
	Kind    string
	Text    string // the plugin's description
	ptr     unsafe.Pointer
}

// NewClient creates a client with the given number of CPU devices, 2,048 at most. 0 is the plugin's default. The
// client of a GPU allocates memory when it needs it, because others use the GPU too: a client of XLA reserves three
// quarters of it by default.
func (p *Plugin) NewClient(devices int) (*Client, error) { return p.newClient(devices, nil) }

// newClient is NewClient with options of the user, which replace hlocb's own.
func (p *Plugin) newClient(devices int, options map[string]any) (*Client, error) {
	if devices < 0 || devices > maxDevices {
		return nil, fmt.Errorf("a client of %d devices is requested, expected 0 to %d", devices, maxDevices)
	}
	named := map[string]any{}
	switch {
	case C.hl_find_ext(p.api, C.HL_EXT_GPU) != nil:
		named["preallocate"] = false
	case devices > 0:
		named["cpu_device_count"] = int64(devices)
	}
	maps.Copy(named, options)
	args := C.hl_client_create_args{}
	var pin goruntime.Pinner
	defer pin.Unpin()
	if len(named) > 0 {
		list := make([]C.hl_named_value, 0, len(named))
		for _, name := range slices.Sorted(maps.Keys(named)) {
			v, err := namedOption(name, named[name], &pin)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		pin.Pin(&list[0])
		args.options, args.num_options = &list[0], C.size_t(len(list))
	}
	if err := invoke(p, "create client", C.HL_CLIENT_CREATE, &args); err != nil {
		return nil, err
	}
	if args.client == nil {
		return nil, p.invalid("create client", "nothing")
	}
	c := &Client{plugin: p, ptr: args.client, running: map[*session]struct{}{}}
	var err error
	if c.platform, err = p.text("platform name", C.HL_CLIENT_PLATFORM_NAME, c.ptr); err == nil {
		if c.version, err = p.text("platform version", C.HL_CLIENT_PLATFORM_VERSION, c.ptr); err == nil {
			if c.memory, err = p.Memory(c.platform); err == nil {
				err = c.findDevices()
			}
		}
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// namedOption returns an option as PJRT has it. Its texts and lists stay in place until pin ends.
func namedOption(name string, value any, pin *goruntime.Pinner) (C.hl_named_value, error) {
	o := *sized(&C.hl_named_value{value_size: 1})
	at := unsafe.Pointer(&o.value)
	text := func(s string) *C.char {
		b := append([]byte(s), 0)
		return pinned(pin, b)
	}
	o.name, o.name_size = text(name), C.size_t(len(name))
	switch v := value.(type) {
	case string:
		o._type, o.value_size = C.HL_VALUE_STRING, C.size_t(len(v))
		*(**C.char)(at) = text(v)
	case bool:
		o._type = C.HL_VALUE_BOOL
		*(*bool)(at) = v
	case int64:
		o._type = C.HL_VALUE_INT64
		*(*int64)(at) = v
	case []int64:
		o._type, o.value_size = C.HL_VALUE_INT64_LIST, C.size_t(len(v))
		if len(v) > 0 {
			pin.Pin(&v[0])
			*(**int64)(at) = &v[0]
		}
	case float32:
		o._type = C.HL_VALUE_FLOAT
		*(*float32)(at) = v
	default:
		return o, fmt.Errorf("option %s of the client is a %T, expected string, bool, int64, []int64 or float32", name, value)
	}
	return o, nil
}

func (c *Client) findDevices() error {
	items, err := c.plugin.list("devices", C.HL_CLIENT_ADDRESSABLE_DEVICES, c.ptr)
	if err != nil {
		return err
	}
	for _, ptr := range items {
		d, err := c.plugin.device(ptr)
		if err != nil {
			return err
		}
		c.devices = append(c.devices, d)
	}
	if len(c.devices) == 0 {
		return fmt.Errorf("%s has no devices", c.plugin.path)
	}
	return nil
}

func (p *Plugin) device(ptr unsafe.Pointer) (Device, error) {
	d := Device{ptr: ptr}
	description, err := p.object("device", C.HL_DEVICE_DESCRIPTION, ptr)
	if err != nil {
		return d, err
	}
	var errs [4]error
	d.ID, errs[0] = p.number("device id", C.HL_DESCRIPTION_ID, description)
	d.LocalID, errs[1] = p.number("device ordinal", C.HL_DEVICE_LOCAL_ID, ptr)
	d.Kind, errs[2] = p.text("device kind", C.HL_DESCRIPTION_KIND, description)
	d.Text, errs[3] = p.text("device description", C.HL_DESCRIPTION_DEBUG_STRING, description)
	return d, errors.Join(errs[:]...)
}

// Memory returns how the host reaches the values of the client's devices, nil if it cannot.
func (c *Client) Memory() DeviceMemory { return c.memory }

// Platform returns the platform's name: "cpu", "cuda", ...
func (c *Client) Platform() string { return c.platform }

// PlatformVersion returns the plugin's text about the platform's version.
func (c *Client) PlatformVersion() string { return c.version }

// Devices returns the devices that the client can run programs on.
func (c *Client) Devices() []Device { return c.devices }

// Close destroys the client, after the end of abandoned compilations. Its executables must be closed before. Close may
// be called again.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return nil
	}
	c.closing = true
	if c.abandoned > 0 {
		return nil // the last abandoned compilation destroys the client
	}
	return c.destroy()
}

// pending returns the number of abandoned compilations that still run.
func (c *Client) pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.abandoned
}

func (c *Client) destroy() error {
	release(c.memory)
	return c.plugin.check("destroy client", C.hl_object(c.plugin.api, C.HL_CLIENT_DESTROY, c.ptr))
}
