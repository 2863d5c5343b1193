package interpose

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
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
	// Events are files that get each event: FILE.parquet, tb:DIRECTORY, trace:FILE, or a file of lines of JSON. Taps
	// without a PROBE then print nothing.
	Events []string `json:"events,omitempty"`
	// Metrics is an address, :PORT or HOST:PORT, at which counts and last values are served for Prometheus.
	Metrics string `json:"metrics,omitempty"`
	// View serves a page for each program that is observed, with its values.
	View bool `json:"view,omitempty"`
	// Dump is a directory that gets each program before and after, and its compile options.
	Dump string `json:"dump,omitempty"`
	// DumpArgs, if it is not 0, also writes the arguments of this run of each program to Dump. The first run is 1.
	DumpArgs int64 `json:"dump_args,omitempty"`
	// List writes the values of each program that can be tapped to standard error.
	List bool `json:"list,omitempty"`
	// Report is a file that gets each message as a line of JSON, a Message, instead of the text on standard error.
	Report string `json:"report,omitempty"`
	// Directory is where relative names of files and directories start, because a program may change its working
	// directory. Empty is the working directory.
	Directory string `json:"-"`
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

// variables returns the environment variables that hold a Config, with the fields of c. The variables of lists hold one
// item per line.
func (c *Config) variables() []variable {
	return []variable{
		{"HLOCB_TAP", &c.Taps}, {"HLOCB_EVERY", &c.Every}, {"HLOCB_FIRST", &c.First}, {"HLOCB_BISECT_NAN", &c.BisectNaN}, {"HLOCB_INF", &c.Inf},
		{"HLOCB_ON", &c.On}, {"HLOCB_PASSES", &c.Passes}, {"HLOCB_EVENTS", &c.Events}, {"HLOCB_METRICS", &c.Metrics}, {"HLOCB_VIEW", &c.View}, {"HLOCB_DUMP", &c.Dump}, {"HLOCB_DUMP_ARGS", &c.DumpArgs},
		{"HLOCB_LIST", &c.List}, {"HLOCB_REPORT", &c.Report}, {"HLOCB_STRICT", &c.Strict}, {"HLOCB_DIRECTORY", &c.Directory},
	}
}

type variable struct {
	name  string
	field any
}

// FromEnvironment reads a Config from variables. lookup is os.Getenv.
func FromEnvironment(lookup func(name string) string) (c Config) {
	for _, v := range c.variables() {
		text := lookup(v.name)
		switch f := v.field.(type) {
		case *[]string:
			*f = strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
		case *string:
			*f = text
		case *bool:
			*f = text != "" && text != "0"
		case *int64:
			var err error
			if *f, err = strconv.ParseInt(text, 10, 64); err != nil && text != "" {
				*f = -1 // Check refuses it
			}
		}
	}
	return c
}

// Environment returns c as variables, "NAME=VALUE". FromEnvironment reads them.
func (c Config) Environment() (out []string) {
	for _, v := range c.variables() {
		text := ""
		switch f := v.field.(type) {
		case *[]string:
			text = strings.Join(*f, "\n")
		case *string:
			text = *f
		case *bool:
			if *f {
				text = "1"
			}
		case *int64:
			if *f != 0 {
				text = strconv.FormatInt(*f, 10)
			}
		}
		if text != "" {
			out = append(out, v.name+"="+text)
		}
	}
	return out
}

// path returns the name of a file of the configuration.
func (c Config) path(name string) string {
	if c.Directory == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.Directory, name)
}

// Exit codes of a strict program, as those of hlocb run.
const (
	exitIdle    = 2 // nothing was observed
	ExitFailed  = 3
	exitTimeout = 4
)

// Observes reports whether c changes programs or observes their values.
func (c Config) Observes() bool {
	return len(c.Taps) > 0 || c.BisectNaN || len(c.On) > 0 || c.Passes != "" || c.sinks() || c.Dump != "" || c.List
}

// sinks reports whether events go to files or servers.
func (c Config) sinks() bool { return len(c.Events) > 0 || c.Metrics != "" || c.View }

// settings identifies the fields of c that change programs and their hooks.
func (c Config) settings() string {
	if !c.Observes() {
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
		if kind == "" && !c.sinks() {
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
