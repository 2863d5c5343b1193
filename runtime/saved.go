package runtime

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Saved is a compiled program as it is kept in a file: the module, its hooks, and the machine code of one
// backend. Handlers are not part of it; they are bound again when it is loaded, by the hooks' ids.
type Saved struct {
	Backend              string // the platform that the code is for: "cpu"
	Builder              string // what made the code, which alone can load it
	Machine              string // the processor that the code is for
	Replicas, Partitions int
	Manifest             *hook.Manifest
	Text                 []byte // the module, in case that the code cannot be used
	Code                 []byte

	// Module is Text read again, by whoever loads the program and wants its arguments checked and cut. It is not
	// kept in the file.
	Module *ir.Module
}

// Saver is an Executable that can be kept in a file.
type Saver interface{ Save() (*Saved, error) }

// Loader is a Backend that can load what a Saver of its kind saved. It fails with a *StaleError where the code is
// not for this backend or processor; the text can then be compiled instead.
type Loader interface {
	Load(ctx context.Context, s *Saved, opts CompileOptions) (Executable, error)
}

// StaleError says why saved code cannot be used here.
type StaleError struct{ Reason string }

func (e *StaleError) Error() string {
	return "the compiled program is not for this machine: " + e.Reason
}

// savedMagic begins the file; the digit is the version of the format.
const savedMagic = "hlocb program 1\n"

// savedHeader is the JSON part of the file. Lengths tell how many bytes of text and code follow it.
type savedHeader struct {
	Backend    string      `json:"backend"`
	Builder    string      `json:"builder"`
	Machine    string      `json:"machine"`
	Replicas   int         `json:"replicas"`
	Partitions int         `json:"partitions"`
	Sites      []savedSite `json:"sites"`
	Edges      [][2]string `json:"edges"`
	Text       int         `json:"text_bytes"`
	Code       int         `json:"code_bytes"`
}

type savedSite struct {
	ID         hook.ID           `json:"id"`
	Name       string            `json:"name"`
	Kind       hook.Kind         `json:"kind"`
	Format     string            `json:"format"`
	SourceID   string            `json:"source_id,omitempty"`
	Loc        string            `json:"loc,omitempty"`
	Chained    bool              `json:"chained"`
	SideEffect bool              `json:"side_effect"`
	Operands   []savedType       `json:"operands"`
	Results    []savedType       `json:"results"`
	Aliases    []int             `json:"aliases,omitempty"`
	Attrs      map[string]string `json:"attrs,omitempty"`
}

type savedType struct {
	DType string  `json:"dtype"`
	Shape []int64 `json:"shape"`
}

// Encode returns the bytes of the file: a magic line, the length of the header, the header, text, code, and the
// SHA-256 of all that, since what is loaded as code must be what was saved.
func (s *Saved) Encode() ([]byte, error) {
	h := savedHeader{s.Backend, s.Builder, s.Machine, s.Replicas, s.Partitions, []savedSite{}, [][2]string{}, len(s.Text), len(s.Code)}
	if s.Manifest != nil {
		for _, v := range s.Manifest.Sites {
			h.Sites = append(h.Sites, savedSite{v.ID, v.Name, v.Kind, v.Format, v.SourceID, v.Loc, v.Chained, v.SideEffect,
				saveTypes(v.Operands), saveTypes(v.Results), v.Aliases, v.Attrs})
		}
		for _, e := range s.Manifest.Edges {
			h.Edges = append(h.Edges, [2]string{e.From.String(), e.To.String()})
		}
	}
	header, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	out := []byte(savedMagic)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(header)))
	out = append(out, header...)
	out = append(out, s.Text...)
	out = append(out, s.Code...)
	sum := sha256.Sum256(out)
	return append(out, sum[:]...), nil
}

// IsSaved reports whether the bytes begin as Encode's do.
func IsSaved(b []byte) bool { return bytes.HasPrefix(b, []byte(savedMagic)) }

// DecodeSaved reads what Encode wrote. It trusts nothing: a file that was changed or cut short is an error.
func DecodeSaved(b []byte) (*Saved, error) {
	if !IsSaved(b) {
		return nil, errors.New("no compiled program of hlocb, or of another version")
	}
	body := len(b) - sha256.Size
	at := len(savedMagic) + 8
	if body < at {
		return nil, errors.New("the compiled program is cut short")
	}
	if sum := sha256.Sum256(b[:body]); !bytes.Equal(sum[:], b[body:]) {
		return nil, errors.New("the compiled program is damaged: its checksum is wrong")
	}
	n := binary.LittleEndian.Uint64(b[len(savedMagic):])
	if n > uint64(body-at) {
		return nil, errors.New("the compiled program is damaged: its header is too long")
	}
	var h savedHeader
	if err := json.Unmarshal(b[at:at+int(n)], &h); err != nil {
		return nil, fmt.Errorf("the compiled program is damaged: %w", err)
	}
	rest := b[at+int(n) : body]
	if h.Text < 0 || h.Code < 0 || h.Text > len(rest) || h.Code != len(rest)-h.Text {
		return nil, errors.New("the compiled program is damaged: its parts have other lengths than it says")
	}
	s := &Saved{Backend: h.Backend, Builder: h.Builder, Machine: h.Machine, Replicas: h.Replicas, Partitions: h.Partitions,
		Manifest: &hook.Manifest{}, Text: rest[:h.Text], Code: rest[h.Text:]}
	for _, v := range h.Sites {
		operands, err := loadTypes(v.Operands)
		if err != nil {
			return nil, err
		}
		results, err := loadTypes(v.Results)
		if err != nil {
			return nil, err
		}
		s.Manifest.Sites = append(s.Manifest.Sites, hook.Site{ID: v.ID, Name: v.Name, Kind: v.Kind, Format: v.Format, SourceID: v.SourceID,
			Loc: v.Loc, Chained: v.Chained, SideEffect: v.SideEffect, Operands: operands, Results: results, Aliases: v.Aliases, Attrs: v.Attrs})
	}
	for _, e := range h.Edges {
		from, ok1 := hook.ParseID(e[0])
		to, ok2 := hook.ParseID(e[1])
		if !ok1 || !ok2 {
			return nil, fmt.Errorf("the compiled program is damaged: %q is no edge between hooks", e)
		}
		s.Manifest.Edges = append(s.Manifest.Edges, hook.Edge{From: from, To: to})
	}
	return s, nil
}

func saveTypes(list []hook.TensorType) []savedType {
	out := make([]savedType, len(list))
	for i, t := range list {
		out[i] = savedType{t.DType.String(), append([]int64{}, t.Shape...)}
	}
	return out
}

func loadTypes(list []savedType) ([]hook.TensorType, error) {
	var out []hook.TensorType
	for _, t := range list {
		dtype, ok := tensor.ParseDType(t.DType)
		if !ok {
			return nil, fmt.Errorf("the compiled program is damaged: unknown element type %q", t.DType)
		}
		out = append(out, hook.TensorType{DType: dtype, Shape: t.Shape})
	}
	return out, nil
}
