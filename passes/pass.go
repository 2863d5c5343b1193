package passes

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// Pass transforms or inspects a module. A Pass is immutable once made and may run on several modules at once.
type Pass interface {
	// Info says what the pass is; it is the same for every pass of a kind.
	Info() *Info
	// Run transforms m. After an error the module may be in any state and must not be used. Errors that
	// concern the module are *diag.Diagnostic or diag.List.
	Run(ctx *Context, m *ir.Module) error
}

// Info documents one kind of pass.
type Info struct {
	Name    string // as pipelines spell it: "raise-hooks"
	Doc     string // the first sentence says what the pass does
	Options []Option
	// ReadOnly says that the pass changes nothing, so that a driver need not verify after it.
	ReadOnly bool
}

// Option documents one option of a pass.
type Option struct {
	Name    string
	Default string
	Doc     string
}

// Context is what a driver gives the passes of one run.
type Context struct {
	context.Context
	// Report takes remarks and warnings; nil drops them.
	Report func(*diag.Diagnostic)
	// Results collects what passes found out besides the module, such as alias reports, keyed by pass.
	results map[string]any
}

// NewContext returns a context for one run of a pipeline.
func NewContext(ctx context.Context) *Context {
	return &Context{Context: ctx, results: map[string]any{}}
}

// SetResult stores what the pass named name found out.
func (c *Context) SetResult(name string, v any) {
	if c.results == nil {
		c.results = map[string]any{}
	}
	c.results[name] = v
}

// Result returns what the pass named name found out, nil where it did not run.
func (c *Context) Result(name string) any { return c.results[name] }

// Options holds the options of one pass in a pipeline, as written.
type Options map[string]string

// Get returns the option, or def where it is not given.
func (o Options) Get(name, def string) string {
	if v, ok := o[name]; ok {
		return v
	}
	return def
}

// List returns a comma-separated option as a list, nil where it is not given.
func (o Options) List(name string) []string {
	if o[name] == "" {
		return nil
	}
	return strings.Split(o[name], ",")
}

// Kind is a row of the pass table: what a pass is and how one is made.
type Kind struct {
	Info *Info
	New  func(Options) (Pass, error)
}

// Table finds kinds of passes by name.
type Table struct {
	kinds map[string]Kind
	names []string
}

// NewTable returns a table of the given kinds. A name that comes twice is an error.
func NewTable(kinds ...Kind) (*Table, error) {
	t := &Table{kinds: map[string]Kind{}}
	for _, k := range kinds {
		if _, ok := t.kinds[k.Info.Name]; ok {
			return nil, fmt.Errorf("pass %q is listed twice", k.Info.Name)
		}
		t.kinds[k.Info.Name] = k
		t.names = append(t.names, k.Info.Name)
	}
	return t, nil
}

// Kinds returns the kinds in the order they were given.
func (t *Table) Kinds() []Kind {
	out := make([]Kind, len(t.names))
	for i, n := range t.names {
		out[i] = t.kinds[n]
	}
	return out
}

// New makes the pass named name. An unknown pass or option is an error that lists what there is.
func (t *Table) New(name string, opts Options) (Pass, error) {
	k, ok := t.kinds[name]
	if !ok {
		return nil, fmt.Errorf("unknown pass %q; there are: %s", name, strings.Join(t.names, ", "))
	}
	given := make([]string, 0, len(opts))
	for o := range opts {
		given = append(given, o)
	}
	sort.Strings(given)
	for _, o := range given {
		if !k.has(o) {
			return nil, fmt.Errorf("pass %q has no option %q%s", name, o, k.optionList())
		}
	}
	return k.New(opts)
}

func (k Kind) has(option string) bool {
	for _, o := range k.Info.Options {
		if o.Name == option {
			return true
		}
	}
	return false
}

func (k Kind) optionList() string {
	if len(k.Info.Options) == 0 {
		return ""
	}
	names := make([]string, len(k.Info.Options))
	for i, o := range k.Info.Options {
		names[i] = o.Name
	}
	return "; there are: " + strings.Join(names, ", ")
}

// simple is a pass that is a function.
type simple struct {
	info *Info
	run  func(*Context, *ir.Module) error
}

func (p simple) Info() *Info                        { return p.info }
func (p simple) Run(c *Context, m *ir.Module) error { return p.run(c, m) }
