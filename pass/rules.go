package pass

import (
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/rewrite"
)

// Rules are the options of a pass that applies patterns. The pass embeds Rules, and applies its patterns with Greedy.
type Rules struct {
	Enable  []string `pass:"enable-patterns" doc:"apply only these rules"`
	Disable []string `pass:"disable-patterns" doc:"do not apply these rules"`
}

// Greedy applies patterns to scope by rewrite.Greedy, without the rules that the options switch off. It stops when ctx
// ends. The driver counts the changes and the applications of each rule.
func (r Rules) Greedy(ctx *Context, scope *ir.Op, patterns []*rewrite.Pattern, o rewrite.Options) (*rewrite.Result, error) {
	if err := r.check(ctx.Module(), patterns); err != nil {
		return &rewrite.Result{}, err
	}
	o.Context = ctx
	if len(r.Enable)+len(r.Disable) > 0 {
		of := o.Enabled
		o.Enabled = func(rule string) bool {
			return (of == nil || of(rule)) && (len(r.Enable) == 0 || slices.Contains(r.Enable, rule)) && !slices.Contains(r.Disable, rule)
		}
	}
	o.Applied = ctx.Applied
	if ctx.onRule != nil {
		made := func(op *ir.Op) { ctx.made = append(ctx.made, op) }
		o.Listeners = append(slices.Clip(o.Listeners), &rewrite.Listener{Created: made, Changed: made})
	}
	res, err := rewrite.Greedy(scope, patterns, o)
	ctx.Changes(res.Statistics)
	return res, err
}

// Driver returns a driver for functions that apply patterns of their own.
func (r Rules) Driver(ctx *Context) rewrite.Driver {
	return func(scope *ir.Op, patterns []*rewrite.Pattern, o rewrite.Options) (*rewrite.Result, error) {
		return r.Greedy(ctx, scope, patterns, o)
	}
}

// check returns an error if an option names no rule of patterns and no fold of m's dialects.
func (r Rules) check(m *ir.Module, patterns []*rewrite.Pattern) error {
	if len(r.Enable)+len(r.Disable) == 0 {
		return nil
	}
	names := []string{rewrite.ConstantsLast}
	for _, p := range patterns {
		names = append(names, p.Name)
	}
	if m.Registry() != nil {
		for _, d := range m.Registry().Dialects() {
			for _, row := range d.Ops {
				if row.Fold != nil {
					names = append(names, rewrite.FoldRule(row))
				}
			}
		}
	}
	for _, name := range slices.Concat(r.Enable, r.Disable) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("no rule is named %q%s", name, among(name, names))
		}
	}
	return nil
}

// Applied counts an application of a rule, and informs the instruments. Rules.Greedy calls it.
func (c *Context) Applied(rule string) {
	c.Count("rule "+rule, 1)
	if c.onRule != nil {
		c.onRule(rule, c.made)
		c.made = c.made[:0]
	}
}

// Changes adds the changes of a rewrite to the statistics of the pass.
func (c *Context) Changes(s rewrite.Statistics) {
	c.Count("ops created", s.Created)
	c.Count("ops changed", s.Changed)
	c.Count("ops moved", s.Moved)
	c.Count("ops erased", s.Erased)
}

// Patterns is a pass that applies a list of patterns and has no other options than Rules.
type Patterns struct {
	About   *Info
	List    []*rewrite.Pattern
	Options rewrite.Options
	Rules
}

// Info returns About.
func (p Patterns) Info() *Info { return p.About }

// Run applies the patterns to scope and everything inside it.
func (p Patterns) Run(ctx *Context, scope *ir.Op) error {
	_, err := p.Greedy(ctx, scope, p.List, p.Options)
	return err
}
