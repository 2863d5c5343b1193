//go:build cgo

package pjrt

import (
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/hlocb"
	"github.com/hlocb/hlocb/runtime"
)

// Fields of XLA's description of a program (xla/service/hlo.proto).
const (
	fieldModuleComputation       = 3
	fieldComputationInstruction  = 2
	fieldInstructionOpcode       = 2
	fieldInstructionTarget       = 28
	fieldInstructionID           = 35
	fieldInstructionOperands     = 36
	fieldInstructionConfig       = 43
	fieldInstructionAliasing     = 74
	fieldAliasingOutput          = 1
	fieldAliasingOperand         = 2
	opcodeCopy, opcodeCustomCall = "copy", "custom-call"
)

// instruction is what aliases need to know of an HLO instruction.
type instruction struct {
	opcode, target string
	id             uint64
	operands       []int64
	config         []byte
	aliases        map[int]int // result to operand; -1 stands for the only result
}

// AliasUses implements runtime.AliasViewer. The plugin's optimized program says which calls kept their aliases, and a
// copy in front of one is XLA's: no program says so itself.
func (e *Executable) AliasUses() ([]runtime.AliasUse, error) {
	l, err := e.begin(0)
	if err != nil {
		return nil, err
	}
	defer e.end(nil)
	code, err := l.optimized()
	if err != nil {
		return nil, err
	}
	calls, err := compiledCalls(code)
	if err != nil {
		return nil, err
	}
	var out []runtime.AliasUse
	for i := range e.sites.all {
		s := e.sites.all[i].bound.Site
		skip := 0
		if s.Chained {
			skip = 1
		}
		for result, operand := range s.Aliases {
			if operand < 0 {
				continue
			}
			use := runtime.AliasUse{Hook: s.ID, Result: result, Operand: operand}
			for _, c := range calls[s.ID] {
				use.Calls++
				key := skip + result
				if skip+len(s.Results) == 1 {
					key = -1
				}
				if at, ok := c.aliases[key]; !ok || at != skip+operand {
					use.Lost++
				} else if c.copied[at] {
					use.Copies++
				}
			}
			out = append(out, use)
		}
	}
	return out, nil
}

// compiledCall is a call of a hook in an optimized program.
type compiledCall struct {
	aliases map[int]int
	copied  map[int]bool // operands that are copies
}

// compiledCalls returns the calls of hlocb's hooks in an HloModuleProto.
func compiledCalls(module []byte) (map[hlocb.ID][]compiledCall, error) {
	out := map[hlocb.ID][]compiledCall{}
	err := eachField(module, func(field int, _ uint64, v []byte) error {
		if field != fieldModuleComputation {
			return nil
		}
		var list []*instruction
		byID := map[int64]*instruction{}
		err := eachField(v, func(field int, _ uint64, v []byte) error {
			if field != fieldComputationInstruction {
				return nil
			}
			in, err := readInstruction(v)
			if err != nil {
				return err
			}
			list, byID[int64(in.id)] = append(list, in), in
			return nil
		})
		if err != nil {
			return err
		}
		for _, in := range list {
			id, ok := hookID(in)
			if !ok {
				continue
			}
			c := compiledCall{aliases: in.aliases, copied: map[int]bool{}}
			for i, o := range in.operands {
				c.copied[i] = byID[o] != nil && byID[o].opcode == opcodeCopy
			}
			out[id] = append(out[id], c)
		}
		return nil
	})
	return out, err
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

// hookID returns the id of the hook that an instruction calls: XLA keeps the configuration as MLIR writes it.
func hookID(in *instruction) (hlocb.ID, bool) {
	if in.opcode != opcodeCustomCall || in.target != hlocb.Target {
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
			return hlocb.ID(n), err == nil
		}
	}
	return 0, false
}

var _ runtime.AliasViewer = (*Executable)(nil)
