//go:build cgo

package pjrt

import (
	"context"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
)

// Fields of XLA's description of a program (xla/service/hlo.proto).
const (
	fieldModuleComputation      = 3
	fieldComputationInstruction = 2
	fieldComputationID          = 5
	fieldInstructionOpcode      = 2
	fieldInstructionTupleIndex  = 13
	fieldInstructionTarget      = 28
	fieldInstructionCalls       = 38
	fieldInstructionID          = 35
	fieldInstructionOperands    = 36
	fieldInstructionConfig      = 43
	fieldInstructionAliasing    = 74
	fieldAliasingOutput         = 1
	fieldAliasingOperand        = 2
)

// instruction is an HLO instruction with the fields that determine aliases.
type instruction struct {
	opcode, target string
	id             uint64
	element        uint64 // of a get-tuple-element
	operands       []int64
	calls          []int64 // computations
	in             *computation
	config         []byte
	aliases        map[int]int // operand by result; result -1 is the only result
}

// AliasUses implements runtime.AliasViewer. The plugin's optimized program shows which calls kept their aliases. XLA
// added any copy before a call, because no source program contains copies.
func (e *Executable) AliasUses() ([]runtime.AliasUse, error) {
	s := &session{}
	l, err := e.begin(context.Background(), s)
	if err != nil {
		return nil, err
	}
	defer e.finish(s)
	code, err := l.optimizedProgram()
	if err != nil {
		return nil, err
	}
	calls, err := compiledCalls(code)
	if err != nil {
		return nil, err
	}
	var out []runtime.AliasUse
	for i := range e.sites.all {
		s := e.sites.all[i].bound.Site()
		out = append(out, usesOf(s, calls[s.ID])...)
	}
	return out, nil
}

// usesOf returns what became of the aliases of a hook in its calls.
func usesOf(s *hook.Site, calls []compiledCall) (out []runtime.AliasUse) {
	skip := 0
	if s.Chained {
		skip = 1
	}
	for result, operand := range s.Aliases {
		if operand < 0 {
			continue
		}
		use := runtime.AliasUse{Hook: s.ID, Result: result, Operand: operand, Calls: len(calls)}
		key := skip + result
		if skip+len(s.Results) == 1 {
			key = -1
		}
		for _, c := range calls {
			if at, ok := c.aliases[key]; !ok || at != skip+operand {
				use.Lost++
			} else if c.copied[at] {
				use.Copies++
			}
		}
		out = append(out, use)
	}
	return out
}

// computation is a function of an HLO module.
type computation struct {
	byID map[int64]*instruction
	list []*instruction
	// For a branch: the conditional and the operand that becomes the parameter.
	conditional *instruction
	operand     int
}

// isCopy reports whether the instruction's value, or its element if element is not negative, is a copy for its user.
// It follows operands of a branch to the conditional. It ignores operands of a loop, because XLA copies them at most
// once for all iterations.
func (in *instruction) isCopy(element int) bool {
	if in == nil {
		return false
	}
	operand := func(i int) *instruction {
		if i >= len(in.operands) {
			return nil
		}
		return in.in.byID[in.operands[i]]
	}
	switch in.opcode {
	case "copy":
		return true
	case "bitcast":
		return operand(0).isCopy(element)
	case "get-tuple-element":
		if element >= 0 {
			return false
		}
		return operand(0).isCopy(int(in.element))
	case "tuple":
		return element >= 0 && operand(element).isCopy(-1)
	case "parameter":
		c := in.in
		return c.conditional != nil && c.conditional.in.byID[c.conditional.operands[c.operand]].isCopy(element)
	}
	return false
}

// compiledCall is a call of a hook in an optimized program.
type compiledCall struct {
	aliases map[int]int
	copied  map[int]bool // operands that are copies
}

// compiledCalls returns the calls of hlocb's hooks in an HloModuleProto.
func compiledCalls(module []byte) (map[hook.ID][]compiledCall, error) {
	byID := map[int64]*computation{}
	var all []*computation
	err := eachField(module, func(field int, _ uint64, v []byte) error {
		if field != fieldModuleComputation {
			return nil
		}
		c := &computation{byID: map[int64]*instruction{}}
		all = append(all, c)
		return eachField(v, func(field int, number uint64, v []byte) error {
			switch field {
			case fieldComputationID:
				byID[int64(number)] = c
			case fieldComputationInstruction:
				in, err := readInstruction(v)
				if err != nil {
					return err
				}
				in.in = c
				c.list, c.byID[int64(in.id)] = append(c.list, in), in
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		for _, in := range c.list {
			for k, id := range in.calls {
				if branch := byID[id]; in.opcode == "conditional" && branch != nil && k+1 < len(in.operands) {
					branch.conditional, branch.operand = in, k+1
				}
			}
		}
	}
	out := map[hook.ID][]compiledCall{}
	for _, c := range all {
		for _, in := range c.list {
			id, ok := hookID(in)
			if !ok {
				continue
			}
			call := compiledCall{aliases: in.aliases, copied: map[int]bool{}}
			for i, o := range in.operands {
				call.copied[i] = c.byID[o].isCopy(-1)
			}
			out[id] = append(out[id], call)
		}
	}
	return out, nil
}

func readInstruction(b []byte) (*instruction, error) {
	in := &instruction{aliases: map[int]int{}}
	err := eachField(b, func(field int, number uint64, v []byte) (err error) {
		switch field {
		case fieldInstructionOpcode:
			in.opcode = string(v)
		case fieldInstructionTarget:
			in.target = string(v)
		case fieldInstructionID:
			in.id = number
		case fieldInstructionTupleIndex:
			in.element = number
		case fieldInstructionCalls:
			in.calls, err = appendInts(in.calls, number, v)
		case fieldInstructionOperands:
			in.operands, err = appendInts(in.operands, number, v)
		case fieldInstructionConfig:
			in.config = v
		case fieldInstructionAliasing:
			var path []int64
			operand := uint64(0)
			err = eachField(v, func(field int, number uint64, v []byte) (err error) {
				switch field {
				case fieldAliasingOutput:
					path, err = appendInts(path, number, v)
				case fieldAliasingOperand:
					operand = number
				}
				return err
			})
			if len(path) == 0 {
				path = []int64{-1}
			}
			in.aliases[int(path[0])] = int(operand)
		}
		return err
	})
	return in, err
}

// hookID returns the id of the hook that an instruction calls: only calls have targets. XLA keeps the configuration of
// a call as MLIR text.
func hookID(in *instruction) (hook.ID, bool) {
	if in.target != hook.Target {
		return 0, false
	}
	config, quoted := string(in.config), false
	for i := 0; i < len(config); i++ {
		switch {
		case quoted && config[i] == '\\':
			i++
		case config[i] == '"':
			quoted = !quoted
		case !quoted && (config[i] == ' ' || config[i] == '{') && strings.HasPrefix(config[i+1:], "id = "):
			text, _, _ := strings.Cut(config[i+1+len("id = "):], " ")
			n, err := strconv.ParseInt(text, 10, 64)
			return hook.ID(n), err == nil
		}
	}
	return 0, false
}

var _ runtime.AliasViewer = (*Executable)(nil)
