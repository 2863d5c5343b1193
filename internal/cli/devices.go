package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
)

// deviceFlags choose devices, and set options of a plugin's client and compiler.
type deviceFlags struct {
	devices   []int
	clientSet []string
	compiler  []string
}

func (f *deviceFlags) add(c *cobra.Command) {
	c.Flags().IntSliceVar(&f.devices, "device", nil, "`N[,N...]` run on these devices of the plugin: of each replica in turn, its partitions")
	c.Flags().StringArrayVar(&f.clientSet, "client-option", nil, "`NAME=VALUE` set an option of the plugin's client, such as memory_fraction=0.5; may be repeated")
	c.Flags().StringArrayVar(&f.compiler, "compiler-option", nil, "`NAME=VALUE` set an option of the plugin's compiler, as in XLA_FLAGS; may be repeated")
}

// client returns the options of the client.
func (f *deviceFlags) client() (map[string]any, error) {
	out := map[string]any{}
	for _, spec := range f.clientSet {
		name, value, ok := strings.Cut(spec, "=")
		if !ok || name == "" {
			return nil, usagef("--client-option %s: expected NAME=VALUE", spec)
		}
		v := optionValue(value)
		if real, ok := v.(float64); ok {
			v = float32(real)
		}
		if list, ok := strings.CutPrefix(value, "["); ok {
			var err error
			if v, err = intList(strings.TrimSuffix(list, "]")); err != nil {
				return nil, usagef("--client-option %s: %w", spec, err)
			}
		}
		out[name] = v
	}
	return out, nil
}

// options returns the options of the compilation.
func (f *deviceFlags) options() ([]hlocb.CompileOption, error) {
	var out []hlocb.CompileOption
	for i, d := range f.devices {
		if d < 0 || slices.Contains(f.devices[:i], d) {
			return nil, usagef("--device: device %d is negative or named twice", d)
		}
	}
	if len(f.devices) > 0 {
		out = append(out, hlocb.DeviceAssignment(f.devices...))
	}
	for _, spec := range f.compiler {
		name, value, ok := strings.Cut(spec, "=")
		if name = strings.TrimLeft(name, "-"); !ok || name == "" {
			return nil, usagef("--compiler-option %s: expected NAME=VALUE", spec)
		}
		out = append(out, hlocb.CompilerOption(name, optionValue(value)))
	}
	return out, nil
}

// optionValue returns a value as a bool, int64 or float64, if it is one, else as a string.
func optionValue(s string) any {
	switch s {
	case "true":
		return true
	case "false":
		return false
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	if v, err := strconv.ParseFloat(s, 64); err == nil {
		return v
	}
	return s
}

// intList reads numbers that commas separate.
func intList(s string) ([]int64, error) {
	list := []int64{}
	for item := range strings.SplitSeq(s, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(item), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("expected a number, found %q", item)
		}
		list = append(list, n)
	}
	return list, nil
}
