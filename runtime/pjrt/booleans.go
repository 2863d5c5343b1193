//go:build cgo

package pjrt

import (
	"bytes"

	"github.com/hlocb/hlocb/tensor"
)

// listBooleans returns MLIR text in which the elements of i1 tensors stand one by one, true and false, where they are
// hexadecimal: MLIR packed eight to a byte once and takes a byte for each today, and each plugin reads only one of these.
// Everything else stays as it is.
func listBooleans(text []byte) []byte {
	opening, closing, elements := []byte(`dense<"0x`), []byte(`> : tensor<`), []byte("xi1>")
	var out []byte
	done := 0 // of text
	for at := 0; ; {
		i := bytes.Index(text[at:], opening)
		if i < 0 {
			break
		}
		start := at + i
		value := start + len("dense<")
		n := bytes.IndexByte(text[value+1:], '"')
		if n < 0 {
			break
		}
		end := value + 1 + n + 1 // behind the quote
		at = end
		rest, ok := bytes.CutPrefix(text[end:], closing)
		if !ok {
			continue
		}
		k := bytes.IndexByte(rest, '>')
		if k < 0 || !bytes.HasSuffix(rest[:k+1], elements) {
			continue
		}
		d, shape, err := tensor.ParseType("tensor<" + string(rest[:k+1]))
		if err != nil || d != tensor.I1 {
			continue
		}
		v, splat, err := tensor.DecodeDense(text[value:end], d, shape)
		if err != nil || splat {
			continue
		}
		out = append(out, text[done:start]...)
		out = v.AppendLiteral(out, v.NumElements()+1)
		done = end + len(closing) + k + 1
		at = done
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}
