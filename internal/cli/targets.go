package cli

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/internal/lapack"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime/handlers"
)

// unknownTargets names the custom calls of a module that are neither hooks nor implemented by a backend, and says how
// to make them hooks. A target with a dot is a compiler's.
func unknownTargets(m *ir.Module) string {
	var found []string
	m.Walk(func(op *ir.Op) bool {
		call, ok := stablehlo.AsCustomCall(op)
		if !ok {
			return true
		}
		target := call.CallTargetName()
		known := interp.KnowsTarget(target) || lapack.Supports(target) || strings.Contains(target, ".")
		if !known && !slices.Contains(found, target) {
			found = append(found, target)
		}
		return true
	})
	if len(found) == 0 {
		return ""
	}
	return "; " + targetHint(found...)
}

// targetHint says how to handle the calls of targets as hooks.
func targetHint(targets ...string) string {
	if len(targets) == 1 {
		return fmt.Sprintf("custom_call @%[1]s is not a known hook; add --hook-target %[1]s to handle it", diag.Escape(targets[0]))
	}
	return fmt.Sprintf("custom_calls @%s are not known hooks; add --hook-target NAME to handle one", diag.Escape(strings.Join(targets, ", @")))
}

// noHandler matches XLA's error for a custom call without a registered handler.
var noHandler = regexp.MustCompile(`No (?:FFI handler registered for|registered implementation for (?:untyped )?custom call to) "?([\w.$-]+)`)

// explainTargets adds to a plugin's refusal of a custom call how to handle the call. targets are the user's.
func explainTargets(err error, p *hlocb.Program, targets []string) error {
	m := noHandler.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	if format := writtenFormat(p, m[1]); format != "" {
		return fmt.Errorf("custom_call @%s is a hook in the format %s, which the plugin does not deliver: let hlocb convert it, or use the engine: %w", diag.Escape(m[1]), format, err)
	}
	if slices.Contains(targets, m[1]) {
		return err
	}
	return fmt.Errorf("%w; %s", err, targetHint(m[1]))
}

// writtenFormat returns the format of the hooks of a program as written that are calls of target, or "" if there are
// none.
func writtenFormat(p *hlocb.Program, target string) (format string) {
	p.Module().Walk(func(op *ir.Op) bool {
		if call, ok := stablehlo.AsCustomCall(op); ok && call.CallTargetName() == target {
			if part, ok := hookop.PartOf(op); ok {
				if site := p.Manifest().Find(part.Hook); site != nil {
					format = site.Format
				}
			}
		}
		return format == ""
	})
	return format
}

// hookNames returns the names of the hooks of a file, for completion, or none if the file is not a module.
func hookNames(path string) []string {
	p, err := hlocb.Load(context.Background(), path)
	if err != nil {
		return nil
	}
	return names(p.Hooks())
}

// completeBindings completes NAME=HANDLER or NAME=FAULT: first the hook names of IN, then the handlers or faults.
func completeBindings(c *cobra.Command, flag string) {
	command.Complete(c, flag, func(_ *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
		var out []string
		name, _, bound := strings.Cut(text, "=")
		switch {
		case !bound && len(args) > 0:
			for _, n := range append(hookNames(args[0]), "*") {
				out = append(out, n+"=")
			}
		case flag == "inject":
			for _, f := range handlers.FaultNames() {
				out = append(out, name+"="+f)
			}
		case bound:
			for _, info := range handlers.Table() {
				out = append(out, name+"="+info.Name+"\t"+info.Doc)
			}
		}
		return out, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	})
}

// location returns the innermost position of a location in the user's source or, if verbose, the whole location.
func location(loc string, verbose bool) string {
	if !verbose {
		loc = hook.Frame(loc)
	}
	return cmp.Or(diag.Escape(loc), "-")
}
