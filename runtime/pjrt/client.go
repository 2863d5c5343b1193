//go:build cgo

package pjrt

// #include <stdlib.h>
// #include "calls.h"
import "C"

import (
	"fmt"
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

	mu        sync.Mutex
	running   map[*session]struct{} // programs with hooks
	abandoned int                   // compilations whose caller has returned
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

// NewClient creates a client with the given number of CPU devices, 2,048 at most. 0 is the plugin's default.
func (p *Plugin) NewClient(devices int) (*Client, error) {
	if devices < 0 || devices > maxDevices {
		return nil, fmt.Errorf("a client of %d devices is requested, expected 0 to %d", devices, maxDevices)
	}
	var option *C.char
	if devices > 0 {
		option = C.CString("cpu_device_count")
		defer C.free(unsafe.Pointer(option))
	}
	c := &Client{plugin: p, running: map[*session]struct{}{}}
	if err := p.check("create client", C.hl_client_create(p.api, option, C.int64_t(devices), &c.ptr)); err != nil {
		return nil, err
	}
	var err error
	if c.platform, err = p.text("platform name", C.HL_CLIENT_PLATFORM_NAME, c.ptr); err == nil {
		if c.version, err = p.text("platform version", C.HL_CLIENT_PLATFORM_VERSION, c.ptr); err == nil {
			c.memory = p.memoryOn(c.platform)
			err = c.findDevices()
		}
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (p *Plugin) text(op string, fn C.int, object unsafe.Pointer) (string, error) {
	var text *C.char
	var size C.size_t
	err := p.check(op, C.hl_text(p.api, fn, object, &text, &size))
	if err != nil {
		return "", err
	}
	return C.GoStringN(text, C.int(size)), nil
}

func (c *Client) findDevices() error {
	var items *unsafe.Pointer
	var n C.size_t
	if err := c.plugin.check("devices", C.hl_list(c.plugin.api, C.HL_CLIENT_ADDRESSABLE_DEVICES, c.ptr, &items, &n)); err != nil {
		return err
	}
	for _, ptr := range unsafe.Slice(items, int(n)) {
		d := Device{ptr: ptr}
		var description unsafe.Pointer
		var id, local C.int32_t
		if err := c.plugin.check("device", C.hl_get(c.plugin.api, C.HL_DEVICE_DESCRIPTION, ptr, &description)); err != nil {
			return err
		}
		if err := c.plugin.check("device id", C.hl_int(c.plugin.api, C.HL_DESCRIPTION_ID, description, &id)); err != nil {
			return err
		}
		if err := c.plugin.check("device ordinal", C.hl_int(c.plugin.api, C.HL_DEVICE_LOCAL_ID, ptr, &local)); err != nil {
			return err
		}
		d.ID, d.LocalID = int(id), int(local)
		var err error
		if d.Kind, err = c.plugin.text("device kind", C.HL_DESCRIPTION_KIND, description); err != nil {
			return err
		}
		if d.Text, err = c.plugin.text("device description", C.HL_DESCRIPTION_DEBUG_STRING, description); err != nil {
			return err
		}
		c.devices = append(c.devices, d)
	}
	if len(c.devices) == 0 {
		return fmt.Errorf("%s has no devices", c.plugin.path)
	}
	return nil
}

// Plugin returns the plugin that the client belongs to.
func (c *Client) Plugin() *Plugin { return c.plugin }

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
	return c.plugin.check("destroy client", C.hl_object(c.plugin.api, C.HL_CLIENT_DESTROY, c.ptr))
}
