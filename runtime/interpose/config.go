package interpose

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/internal/probe"
)

// Config configures the changes to the programs of a framework. The zero value changes nothing; JAX's callbacks still
// work.
type Config struct {
	// Taps select the values to observe: REGEX or REGEX=PROBE. REGEX selects values by name, op, location or function;
	// PROBE is print, stats, finite or record.
	Taps []string `json:"taps,omitempty"`
	// Every and First select executions of the tapped values, for each program: every Nth, and at most First of them. 0
	// selects all.
	Every int64 `json:"every,omitempty"`
	First int64 `json:"first,omitempty"`
	// BisectNaN reports the first op of each program whose result has a NaN while its operands have none; Inf counts
	// infinite elements, too.
	BisectNaN bool `json:"bisect_nan,omitempty"`
	Inf       bool `json:"inf,omitempty"`
	// On binds handlers to hooks: NAME=HANDLER.
	On []string `json:"on,omitempty"`
	// Passes is a pipeline that runs over each program before probes are added.
	Passes string `json:"passes,omitempty"`
	// Events is a file that gets a line of JSON for each event. Taps without a PROBE then print nothing.
	Events string `json:"events,omitempty"`
	// Dump is a directory that gets each program before and after, and its compile options.
	Dump string `json:"dump,omitempty"`
	// DumpArgs, if it is not 0, also writes the arguments of this run of each program to Dump. The first run is 1.
	DumpArgs int64 `json:"dump_args,omitempty"`
	// List writes the values of each program that can be tapped to standard error.
	List bool `json:"list,omitempty"`
	// Strict ends the program when a handler fails, instead of reporting it.
	Strict bool `json:"strict,omitempty"`
}

// The files of a dumped program, after NUMBER_NAME.
const (
	DumpedBefore  = ".before.mlir"
	DumpedAfter   = ".after.mlir"
	DumpedOptions = ".options.pb" // an xla.CompileOptionsProto
	DumpedArgs    = ".args.npz"
)

// The environment variables that hold a Config. The variables of lists hold one item per line.
const (
	envTap    = "HLOCB_TAP"
	envEvery  = "HLOCB_EVERY"
	envFirst  = "HLOCB_FIRST"
	envBisect = "HLOCB_BISECT_NAN"
	envInf    = "HLOCB_INF"
	envOn     = "HLOCB_ON"
	envPasses = "HLOCB_PASSES"
	envEvents = "HLOCB_EVENTS"
	envDump   = "HLOCB_DUMP"
	envArgs   = "HLOCB_DUMP_ARGS"
	envList   = "HLOCB_LIST"
	envStrict = "HLOCB_STRICT"
)

// FromEnvironment reads a Config from variables. lookup is os.Getenv.
func FromEnvironment(lookup func(name string) string) Config {
	lines := func(name string) []string {
		return strings.FieldsFunc(lookup(name), func(r rune) bool { return r == '\n' })
	}
	set := func(name string) bool { v := lookup(name); return v != "" && v != "0" }
	number := func(name string) int64 {
		n, err := strconv.ParseInt(lookup(name), 10, 64)
		if err != nil && lookup(name) != "" {
			return -1 // Check refuses it
		}
		return n
	}
	return Config{Taps: lines(envTap), Every: number(envEvery), First: number(envFirst), BisectNaN: set(envBisect), Inf: set(envInf),
		On: lines(envOn), Passes: lookup(envPasses), Events: lookup(envEvents), Dump: lookup(envDump), DumpArgs: number(envArgs), List: set(envList), Strict: set(envStrict)}
}

// Environment returns c as variables, "NAME=VALUE". FromEnvironment reads them.
func (c Config) Environment() []string {
	flag := func(b bool) string {
		if b {
			return "1"
		}
		return ""
	}
	number := func(n int64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	var out []string
	for _, v := range []struct{ name, value string }{
		{envTap, strings.Join(c.Taps, "\n")}, {envEvery, number(c.Every)}, {envFirst, number(c.First)},
		{envBisect, flag(c.BisectNaN)}, {envInf, flag(c.Inf)}, {envOn, strings.Join(c.On, "\n")}, {envPasses, c.Passes}, {envEvents, c.Events},
		{envDump, c.Dump}, {envArgs, number(c.DumpArgs)}, {envList, flag(c.List)}, {envStrict, flag(c.Strict)},
	} {
		if v.value != "" {
			out = append(out, v.name+"="+v.value)
		}
	}
	return out
}

// Exit codes of a strict program, as those of hlocb run.
const (
	ExitFailed  = 3
	exitTimeout = 4
)

// active reports whether c changes programs or observes their values.
func (c Config) active() bool {
	return len(c.Taps) > 0 || c.BisectNaN || len(c.On) > 0 || c.Passes != "" || c.Events != "" || c.Dump != "" || c.List
}

// settings identifies the fields of c that change programs and their hooks.
func (c Config) settings() string {
	if !c.active() {
		return ""
	}
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // strings and booleans
	}
	sum := sha256.Sum256(text)
	return "; hlocb " + hex.EncodeToString(sum[:8])
}

// Check returns the first mistake in c.
func (c Config) Check() error {
	_, err := c.taps()
	return err
}

func (c Config) taps() ([]probe.Tap, error) {
	var out []probe.Tap
	if c.DumpArgs < 0 || c.DumpArgs > 0 && c.Dump == "" {
		return nil, errors.New("dump-args: expected the number of a run, 1 or more, and a directory for dump")
	}
	if c.Every < 0 || c.First < 0 {
		return nil, errors.New("every and first: expected a positive number")
	}
	if c.Inf && !c.BisectNaN {
		return nil, errors.New("inf: needs bisect-nan")
	}
	for _, spec := range c.Taps {
		pattern, kind := probe.Split(spec)
		if kind == "" && c.Events == "" {
			kind = probe.Print
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("tap %s: %w", spec, err)
		}
		out = append(out, probe.Tap{Patterns: []*regexp.Regexp{re}, Kind: kind, Sample: probe.Sample{Every: c.Every, First: c.First}})
	}
	return out, nil
}
