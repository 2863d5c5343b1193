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
)

// Saved is a compiled program in the form of a file: the module, its hooks, and the machine code of one backend. It
// does not contain handlers; they are bound by the hooks' ids when the program is loaded.
//
// The code is native code. A process that loads a Saved runs the code with all its rights, and the checksum in the file
// does not prove the file's origin. Load only files that you would run as programs.
type Saved struct {
	Backend    string         `json:"backend"` // the platform that the code is for: "cpu"
	Builder    string         `json:"builder"` // the plugin that made the code; no other plugin can load it
	Machine    string         `json:"machine"` // the processor that the code is for
	Replicas   int            `json:"replicas"`
	Partitions int            `json:"partitions"`
	Manifest   *hook.Manifest `json:"manifest"`
	Text       []byte         `json:"-"` // the module, for machines that cannot use the code
	Code       []byte         `json:"-"`

	// Module is Text parsed again, for loaders that check arguments and partition them. The file does not hold it.
	Module *ir.Module `json:"-"`
}

// Saver is an Executable that can be saved.
type Saver interface{ Save() (*Saved, error) }

// Loader is a Backend that can load a program that a Saver of its kind saved. It fails with a *StaleError if the code
// is for another backend or processor; the text can then be compiled instead.
type Loader interface {
	Load(ctx context.Context, s *Saved, opts CompileOptions) (Executable, error)
}

// StaleError says why saved code cannot be used here.
type StaleError struct{ Reason string }

func (e *StaleError) Error() string {
	return "the compiled program is not for this machine: " + e.Reason
}

// savedMagic starts the file; the digit is the version of the format.
const savedMagic = "hlocb program 2\n"

// savedHeader is the JSON part of the file. The text and the code follow it.
type savedHeader struct {
	*Saved
	TextBytes int `json:"text_bytes"`
	CodeBytes int `json:"code_bytes"`
}

// Encode returns the bytes of the file: a magic line, the length of the header, the header, the text, the code, and
// the SHA-256 of all these. The checksum detects damage; it is not a signature.
func (s *Saved) Encode() ([]byte, error) {
	header, err := json.Marshal(savedHeader{s, len(s.Text), len(s.Code)})
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

// IsSaved reports whether b starts as a compiled program does, in any version of the format.
func IsSaved(b []byte) bool { return bytes.HasPrefix(b, []byte("hlocb program ")) }

// DecodeSaved reads a file that Encode wrote. A damaged or shortened file is an error.
func DecodeSaved(b []byte) (*Saved, error) {
	if !bytes.HasPrefix(b, []byte(savedMagic)) {
		if IsSaved(b) {
			return nil, errors.New("the compiled program is of another version of hlocb: compile it again")
		}
		return nil, errors.New("not a compiled program of hlocb")
	}
	body := len(b) - sha256.Size
	at := len(savedMagic) + 8
	if body < at {
		return nil, errors.New("the compiled program is truncated")
	}
	if sum := sha256.Sum256(b[:body]); !bytes.Equal(sum[:], b[body:]) {
		return nil, errors.New("the compiled program is damaged: its checksum is wrong")
	}
	n := binary.LittleEndian.Uint64(b[len(savedMagic):])
	if n > uint64(body-at) {
		return nil, errors.New("the compiled program is damaged: its header is too long")
	}
	h := savedHeader{Saved: &Saved{}}
	if err := json.Unmarshal(b[at:at+int(n)], &h); err != nil {
		return nil, fmt.Errorf("the compiled program is damaged: %w", err)
	}
	rest := b[at+int(n) : body]
	if h.TextBytes < 0 || h.CodeBytes < 0 || h.TextBytes > len(rest) || h.CodeBytes != len(rest)-h.TextBytes {
		return nil, errors.New("the compiled program is damaged: its header states other lengths")
	}
	if h.Manifest == nil {
		h.Manifest = &hook.Manifest{}
	}
	h.Text, h.Code = rest[:h.TextBytes], rest[h.TextBytes:]
	return h.Saved, nil
}
