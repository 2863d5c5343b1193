package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/internal/values"
	"github.com/hlocb/hlocb/tensor"
)

// stepFlags repeat a program whose results are arguments of the next step. The values stay on the device.
type stepFlags struct {
	steps int
	carry string
	every int
	dir   string // of the values that are saved
}

func (f *stepFlags) add(c *cobra.Command) {
	c.Flags().IntVar(&f.steps, "steps", 1, "`N` run N times and carry results to arguments on the device")
	c.Flags().StringVar(&f.carry, "carry", "", "`RESULT=ARG,...` results that become arguments, by number (default: as tf.aliasing_output says)")
	c.Flags().IntVar(&f.every, "save-every", 0, "`K` write the carried values every K steps, to RESULTS/step-N; needs --results DIR/")
}

func (f *stepFlags) check() error {
	switch {
	case f.steps < 1:
		return usagef("--steps %d: expected at least 1", f.steps)
	case f.carry != "" && f.steps <= 1:
		return usagef("--carry needs --steps N")
	case f.every < 0:
		return usagef("--save-every must not be negative")
	case f.every > 0 && f.dir == "":
		return usagef("--save-every needs --results DIR/")
	case f.every > 0 && olderStep(f.dir) != "":
		return usagef("%s is a step of an older run; remove it, or choose another folder", olderStep(f.dir))
	}
	return nil
}

// carriedResults returns for each argument the result that becomes it in the next step, or -1.
func (f *stepFlags) carriedResults(p *hlocb.Program, arguments, results int) ([]int, error) {
	if f.steps <= 1 {
		return nil, nil
	}
	out := p.Carried()
	if f.carry != "" {
		for i := range out {
			out[i] = -1
		}
		for pair := range strings.SplitSeq(f.carry, ",") {
			left, right, ok := strings.Cut(pair, "=")
			r, err := strconv.Atoi(left)
			i, err2 := strconv.Atoi(right)
			if !ok || err != nil || err2 != nil {
				return nil, usagef("--carry %s: expected RESULT=ARGUMENT, two numbers", pair)
			}
			if r < 0 || r >= results || i < 0 || i >= arguments {
				return nil, usagef("--carry %s: main has %s and %s", pair, plural(arguments, "argument"), plural(results, "result"))
			}
			if out[i] >= 0 {
				return nil, usagef("--carry %s: argument %d has a result already", pair, i)
			}
			out[i] = r
		}
	}
	if slices.ContainsFunc(out, func(r int) bool { return r >= 0 }) {
		return out, nil
	}
	return nil, usagef("--steps: the module does not say which results are arguments of the next step (tf.aliasing_output); use --carry")
}

// execute runs the program on the devices, as often as the flags say, and returns the last step's results. The caller
// closes them.
func (a *app) execute(ctx context.Context, p *hlocb.Program, exe *hlocb.Executable, args []*tensor.Tensor, f *stepFlags) (out []*hlocb.Buffer, err error) {
	results := len(p.ResultNames())
	carried, err := f.carriedResults(p, len(args), results)
	if err != nil {
		return nil, err
	}
	buffers := make([]*hlocb.Buffer, len(args))
	drop := func(list []*hlocb.Buffer) {
		for _, b := range list {
			if b != nil {
				b.Close()
			}
		}
	}
	defer func() { drop(buffers) }()
	for i, t := range args {
		if buffers[i], err = exe.Put(ctx, i, t); err != nil {
			return nil, err
		}
		args[i] = nil // a plugin that copied the value does not need it any more
	}
	times := make([]int, results)
	for _, r := range carried {
		if r >= 0 {
			times[r]++
		}
	}
	opts := hlocb.ExecuteOptions{Donate: []int{}}
	for i, r := range carried {
		if r >= 0 && times[r] == 1 { // no other argument needs the memory
			opts.Donate = append(opts.Donate, i)
		}
	}
	if carried == nil {
		opts.Donate = nil // the arguments are not needed again
	}
	for step := 1; ; step++ {
		opts.NoWait = step < f.steps && (f.every == 0 || step%f.every != 0)
		if out, err = exe.Execute(ctx, buffers, opts); err != nil {
			if f.steps > 1 {
				err = fmt.Errorf("step %d: %w", step, err)
			}
			return nil, err
		}
		if f.every > 0 && step%f.every == 0 {
			if err := f.save(ctx, p, step, out, carried); err != nil {
				drop(out)
				return nil, err
			}
		}
		if step >= f.steps {
			return out, nil
		}
		for i, r := range carried {
			if r >= 0 {
				buffers[i].Close()
				buffers[i] = out[r]
			}
		}
		for r, b := range out {
			if times[r] == 0 {
				b.Close()
			}
		}
	}
}

// olderStep returns a folder of --save-every in dir, or "".
func olderStep(dir string) string {
	found, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, e := range found {
		number, ok := strings.CutPrefix(e.Name(), "step-")
		if _, err := strconv.Atoi(number); ok && err == nil {
			return filepath.Join(dir, e.Name())
		}
	}
	return ""
}

// save writes the carried values under their arguments' names, so that --args continues from them. The folder gets its
// name when it is complete.
func (f *stepFlags) save(ctx context.Context, p *hlocb.Program, step int, out []*hlocb.Buffer, carried []int) error {
	w := values.NewDirectory(filepath.Join(f.dir, fmt.Sprintf("step-%d", step)))
	for i, name := range p.ArgumentNames() {
		if i >= len(carried) || carried[i] < 0 {
			continue
		}
		if name == "" {
			name = strconv.Itoa(i)
		}
		if err := out[carried[i]].View(ctx, func(t *tensor.Tensor) error { return w.Write(name, t) }); err != nil {
			return errors.Join(err, w.Discard())
		}
	}
	return w.Close()
}
