package values

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/internal/tensorio"
	"github.com/hlocb/hlocb/tensor"
)

// The format of safetensors (huggingface/safetensors): the length of a header in 8 bytes, the header in JSON, the
// elements of all arrays, little-endian and row-major.

// maxHeader limits the header, as the safetensors library does.
const maxHeader = 100_000_000

var safetensorsTypes = map[string]tensor.DType{
	"BOOL": tensor.I1, "I8": tensor.I8, "I16": tensor.I16, "I32": tensor.I32, "I64": tensor.I64,
	"U8": tensor.UI8, "U16": tensor.UI16, "U32": tensor.UI32, "U64": tensor.UI64,
	"F16": tensor.F16, "BF16": tensor.BF16, "F32": tensor.F32, "F64": tensor.F64, "C64": tensor.Complex64,
	"F8_E5M2": tensor.F8E5M2, "F8_E4M3": tensor.F8E4M3FN, "F8_E8M0": tensor.F8E8M0FNU,
	"F8_E4M3FNUZ": tensor.F8E4M3FNUZ, "F8_E5M2FNUZ": tensor.F8E5M2FNUZ,
}

type safetensorsEntry struct {
	DType   string   `json:"dtype"`
	Shape   []int64  `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

func openSafetensors(f *os.File, size int64) (*Set, error) {
	var head [8]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return nil, errors.New("neither a .npz file nor a .safetensors file")
	}
	n := binary.LittleEndian.Uint64(head[:])
	if n > maxHeader || int64(n) > size-8 {
		return nil, errors.New("neither a .npz file nor a .safetensors file")
	}
	header := make([]byte, n)
	if _, err := f.ReadAt(header, 8); err != nil {
		return nil, err
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(header, &raw); err != nil {
		return nil, fmt.Errorf("the header of the .safetensors file is not JSON: %w", err)
	}
	delete(raw, "__metadata__")
	s := &Set{}
	entries := map[string]safetensorsEntry{}
	for name, text := range raw {
		var e safetensorsEntry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, fmt.Errorf("array %q: %w", name, err)
		}
		if e.Offsets[0] < 0 || e.Offsets[1] < e.Offsets[0] || e.Offsets[1] > size-8-int64(n) {
			return nil, fmt.Errorf("array %q lies outside the file", name)
		}
		entries[name] = e
		s.names = append(s.names, name)
	}
	slices.SortFunc(s.names, func(a, b string) int {
		return cmp.Or(cmp.Compare(entries[a].Offsets[0], entries[b].Offsets[0]), strings.Compare(a, b))
	})
	s.read = func(i int, _ tensor.DType) (*tensor.Tensor, error) {
		e := entries[s.names[i]]
		d, ok := safetensorsTypes[e.DType]
		if !ok {
			return nil, fmt.Errorf("element type %q is not supported", e.DType)
		}
		shape, length := tensor.Shape(e.Shape), e.Offsets[1]-e.Offsets[0]
		if shape == nil {
			shape = tensor.Shape{}
		}
		if count := shape.NumElements(); count < 0 || count > length || count*int64(d.Size()) != length {
			return nil, fmt.Errorf("%d bytes do not hold shape %v of %s", length, []int64(shape), d)
		}
		return tensorio.ReadPayload(io.NewSectionReader(f, 8+int64(n)+e.Offsets[0], length), d, shape, length)
	}
	return s, nil
}
