package randprog

import (
	"errors"
	"hash/fnv"

	"github.com/hlocb/hlocb/tensor"
)

// Event is one execution of a hook.
type Event struct {
	Site     *Site
	Operands []*tensor.Tensor
}

// Outcome is the expected outcome of a run: the events of the hooks with side effects in program order, and the
// results.
type Outcome struct {
	Events  []Event
	Results []*tensor.Tensor
}

// Answer is the host's side of every hook: it computes the results from the site's label and the operands alone.
// Results may share memory with operands.
func Answer(label string, operands, results []*tensor.Tensor) {
	h := fnv.New64a()
	h.Write([]byte(label))
	for _, o := range operands {
		h.Write(o.Bytes())
		h.Write([]byte{0xff})
	}
	seed := h.Sum64()
	for i, r := range results {
		e := make([]int64, r.Shape().NumElements())
		for j := range e {
			x := (seed + uint64(i)*0x9e3779b97f4a7c15 + uint64(j)) * 0xbf58476d1ce4e5b9
			x = (x ^ x>>29) * 0x94d049bb133111eb
			x ^= x >> 32
			switch r.DType() {
			case tensor.I1:
				e[j] = int64(x & 1)
			case tensor.UI8:
				e[j] = int64(x & 255)
			case tensor.F32:
				e[j] = int64(x%41) - 20
			default:
				e[j] = int64(x%201) - 100
			}
		}
		encode(r, e)
	}
}

var errTooLong = errors.New("too many events or steps")

// Eval runs the program by its reference semantics: statements in the order written.
func (p *Program) Eval() (*Outcome, error) {
	v := &evaluation{out: &Outcome{}}
	main := p.funcs[len(p.funcs)-1]
	var args [][]int64
	for _, a := range p.Args {
		args = append(args, decode(a))
	}
	results, err := v.call(main, args)
	if err != nil {
		return nil, err
	}
	for i, r := range main.body.ret {
		t := tensor.New(r.typ.DType, r.typ.Shape)
		encode(t, results[i])
		v.out.Results = append(v.out.Results, t)
	}
	return v.out, nil
}

type evaluation struct {
	out   *Outcome
	steps int
}

type frame map[*value][]int64

func (v *evaluation) call(f *function, args [][]int64) ([][]int64, error) {
	return v.block(frame{}, f.body, args)
}

func (v *evaluation) block(f frame, b *block, args [][]int64) ([][]int64, error) {
	for i, a := range b.args {
		f[a] = args[i]
	}
	for _, s := range b.stmts {
		if v.steps++; v.steps > 20000 || len(v.out.Events) > maxEvents {
			return nil, errTooLong
		}
		if err := v.stmt(f, s); err != nil {
			return nil, err
		}
	}
	return read(f, b.ret), nil
}

func read(f frame, vals []*value) [][]int64 {
	out := make([][]int64, len(vals))
	for i, x := range vals {
		out[i] = f[x]
	}
	return out
}

func (v *evaluation) stmt(f frame, s *stmt) error {
	in := read(f, s.in)
	var out [][]int64
	var err error
	switch s.kind {
	case stConst:
		e := make([]int64, s.out[0].typ.elements())
		for i := range e {
			e[i] = s.n
		}
		out = [][]int64{e}
	case stOp:
		out = [][]int64{compute(s, in)}
	case stHook:
		out = v.hook(s, in)
	case stCall:
		out, err = v.call(s.fn, in)
	case stIf:
		k := len(s.blocks) - 1
		if s.op == "if" {
			k = int(1 - in[0][0])
		} else if i := in[0][0]; i >= 0 && int(i) < len(s.blocks) {
			k = int(i)
		}
		out, err = v.block(f, s.blocks[k], nil)
	case stWhile:
		for out = in; ; {
			more, err := v.block(f, s.blocks[0], out)
			if err != nil {
				return err
			}
			if more[0][0] == 0 {
				break
			}
			if out, err = v.block(f, s.blocks[1], out); err != nil {
				return err
			}
		}
	}
	if err != nil {
		return err
	}
	for i, o := range s.out {
		f[o] = out[i]
	}
	return nil
}

func (v *evaluation) hook(s *stmt, in [][]int64) [][]int64 {
	var operands, results []*tensor.Tensor
	for i, x := range s.in {
		t := tensor.New(x.typ.DType, x.typ.Shape)
		encode(t, in[i])
		operands = append(operands, t)
	}
	for _, t := range s.site.Results {
		results = append(results, tensor.New(t.DType, t.Shape))
	}
	if !s.site.Pure {
		v.out.Events = append(v.out.Events, Event{s.site, operands})
	}
	Answer(s.site.Label, operands, results)
	var out [][]int64
	for _, r := range results {
		out = append(out, decode(r))
	}
	return out
}

// compute evaluates a plain op.
func compute(s *stmt, in [][]int64) []int64 {
	t := s.out[0].typ
	out := make([]int64, t.elements())
	switch s.op {
	case "broadcast":
		for i := range out {
			out[i] = in[0][0]
		}
		return out
	case "sum":
		for _, x := range in[0] {
			out[0] += x
		}
		out[0] = wrap(t.DType, out[0])
		return out
	case "dot":
		n := int(t.Shape[0])
		for i := range n {
			for k := range n {
				a := in[0][i*n+k]
				for j := range n {
					out[i*n+j] = wrap(t.DType, out[i*n+j]+a*in[1][k*n+j])
				}
			}
		}
		if t.DType == tensor.F32 {
			for i := range out {
				out[i] = min(max(out[i], -1000), 1000)
			}
		}
		return out
	}
	at := func(k, i int) int64 { return in[k][i] }
	for i := range out {
		var r int64
		switch s.op {
		case "add":
			r = at(0, i) + at(1, i)
		case "subtract":
			r = at(0, i) - at(1, i)
		case "multiply":
			r = at(0, i) * at(1, i)
		case "and":
			r = at(0, i) & at(1, i)
		case "or":
			r = at(0, i) | at(1, i)
		case "xor":
			r = at(0, i) ^ at(1, i)
		case "maximum":
			r = max(at(0, i), at(1, i))
		case "minimum":
			r = min(at(0, i), at(1, i))
		case "negate":
			r = -at(0, i)
		case "convert":
			r = at(0, i)
		case "clamp100":
			r = min(max(at(0, i), 0), 100)
		case "clampadd":
			r = min(max(at(0, i)+at(1, i), -1000), 1000)
		case "clampsub":
			r = min(max(at(0, i)-at(1, i), -1000), 1000)
		case "select":
			r = at(2, i)
			if at(0, i) != 0 {
				r = at(1, i)
			}
		case "compare EQ":
			r = truth(at(0, i) == at(1, i))
		case "compare NE":
			r = truth(at(0, i) != at(1, i))
		case "compare LT":
			r = truth(at(0, i) < at(1, i))
		case "compare GE":
			r = truth(at(0, i) >= at(1, i))
		}
		out[i] = wrap(t.DType, r)
	}
	return out
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func wrap(d tensor.DType, v int64) int64 {
	switch d {
	case tensor.I32:
		return int64(int32(v))
	case tensor.UI8:
		return int64(uint8(v))
	case tensor.I1:
		return v & 1
	}
	return v
}

// Preceded returns the sites that another event, of any site, may precede. It omits sites that no run reaches.
func (p *Program) Preceded() map[*Site]bool {
	out := map[*Site]bool{}
	walkOrder(p.funcs[len(p.funcs)-1].body, false, out)
	return out
}

// walkOrder marks the sites in b that follow an event. before says whether an event may precede b; the result says
// whether one may have occurred by the end of b.
func walkOrder(b *block, before bool, out map[*Site]bool) bool {
	for _, s := range b.stmts {
		switch s.kind {
		case stHook:
			if s.site.Pure {
				continue
			}
			if before {
				out[s.site] = true
			}
			before = true
		case stCall:
			before = walkOrder(s.fn.body, before, out)
		case stIf:
			after := before
			for _, c := range s.blocks {
				after = walkOrder(c, before, out) || after
			}
			before = after
		case stWhile:
			for range 2 {
				before = walkOrder(s.blocks[0], before, out)
				before = walkOrder(s.blocks[1], before, out)
			}
		}
	}
	return before
}
