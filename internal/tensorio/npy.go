package tensorio

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/tensor"
)

// The .npy format (numpy.lib.format): a magic string, a version, the length of a Python dictionary literal, the
// dictionary, the payload.

const npyMagic = "\x93NUMPY"

// maxNPYHeader limits the header size. Real headers take 128 bytes.
const maxNPYHeader = 1 << 20

// npyCodes maps numpy's type codes. Other types use the names in the Python package ml_dtypes.
var npyCodes = map[string]tensor.DType{
	"|b1": tensor.I1, "|i1": tensor.I8, "<i2": tensor.I16, "<i4": tensor.I32, "<i8": tensor.I64, "|u1": tensor.UI8, "<u2": tensor.UI16, "<u4": tensor.UI32, "<u8": tensor.UI64,
	"<f2": tensor.F16, "<f4": tensor.F32, "<f8": tensor.F64, "<c8": tensor.Complex64, "<c16": tensor.Complex128,

	"bfloat16": tensor.BF16, "int2": tensor.I2, "int4": tensor.I4, "uint2": tensor.UI2, "uint4": tensor.UI4,
	"float4_e2m1fn": tensor.F4E2M1FN, "float6_e2m3fn": tensor.F6E2M3FN, "float6_e3m2fn": tensor.F6E3M2FN, "float8_e3m4": tensor.F8E3M4, "float8_e4m3": tensor.F8E4M3,
	"float8_e4m3b11fnuz": tensor.F8E4M3B11FNUZ, "float8_e4m3fn": tensor.F8E4M3FN, "float8_e4m3fnuz": tensor.F8E4M3FNUZ, "float8_e5m2": tensor.F8E5M2,
	"float8_e5m2fnuz": tensor.F8E5M2FNUZ, "float8_e8m0fnu": tensor.F8E8M0FNU,
}

// ReadNPY reads an array written by numpy.save, in C or Fortran order, little- or big-endian. Unlike WriteNPY, numpy
// writes types that it does not know (bfloat16, the 8-bit floats, 4-bit integers) as raw bytes. ReadNPY assumes type
// want for such an array. The type of any other array must be want, unless want is tensor.Invalid. Bytes of i1 other
// than 0 become 1.
func ReadNPY(r io.Reader, want tensor.DType) (*tensor.Tensor, error) {
	t, err := ReadNPYSized(r, want, -1)
	if err == nil && want != tensor.Invalid && want != t.DType() {
		return nil, fmt.Errorf("array has element type %s, expected %s", t.DType(), want)
	}
	return t, err
}

// ReadNPYSized is ReadNPY for readers of at most size bytes; it then needs no more memory than the array. A negative
// size is unknown. It accepts an array of any type: raw is assumed for raw bytes only.
func ReadNPYSized(r io.Reader, raw tensor.DType, size int64) (*tensor.Tensor, error) {
	var head [8]byte
	switch _, err := io.ReadFull(r, head[:]); {
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		return nil, err // a directory, for example
	case err != nil || string(head[:6]) != npyMagic:
		return nil, fmt.Errorf("not a .npy file")
	}
	n := 0
	switch head[6] {
	case 1:
		var b [2]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return nil, fmt.Errorf("truncated .npy header")
		}
		n = int(binary.LittleEndian.Uint16(b[:]))
	case 2, 3:
		var b [4]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return nil, fmt.Errorf("truncated .npy header")
		}
		n = int(binary.LittleEndian.Uint32(b[:]))
	default:
		return nil, fmt.Errorf(".npy version %d.%d is not supported", head[6], head[7])
	}
	if n > maxNPYHeader {
		return nil, fmt.Errorf(".npy header of %d bytes is too long", n)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, fmt.Errorf("truncated .npy header")
	}
	descr, fortran, shape, err := parseNPYHeader(string(text))
	if err != nil {
		return nil, err
	}
	d, swap, err := npyType(descr, raw)
	if err != nil {
		return nil, err
	}
	stored := shape
	if fortran {
		stored = shape.Clone()
		slices.Reverse(stored)
	}
	t, err := ReadPayload(r, d, stored, size)
	if err != nil {
		return nil, err
	}
	if swap {
		swapBytes(t.Bytes(), d.Part().Size())
	}
	if fortran && len(shape) > 1 {
		t = transposed(t)
	}
	return t, nil
}

// npyType returns the element type of an array, and whether its bytes are in big-endian order.
func npyType(descr string, raw tensor.DType) (d tensor.DType, swap bool, err error) {
	if rest, ok := strings.CutPrefix(descr, ">"); ok {
		descr, swap = "<"+rest, true
		if len(rest) > 1 && rest[1:] == "1" {
			descr = "|" + rest
		}
	}
	if d, ok := npyCodes[descr]; ok {
		return d, swap, nil
	}
	size, err := strconv.Atoi(strings.TrimLeft(descr, "|<V"))
	unnamed := strings.HasPrefix(descr, "|V") || strings.HasPrefix(descr, "<V")
	if descr == "<f1" { // numpy's code for ml_dtypes' float8_e5m2, which numpy itself cannot load
		unnamed, size, err = true, 1, nil
	}
	switch {
	case !unnamed || err != nil:
		return tensor.Invalid, false, fmt.Errorf("array has the unsupported type %q", descr)
	case raw == tensor.Invalid || raw.Size() != size:
		return tensor.Invalid, false, fmt.Errorf("array has the type %q, which states only the size of an element; it cannot be read as %s", descr, raw)
	}
	return raw, swap, nil
}

// ReadPayload reads the elements of a tensor, little-endian and row-major. r holds at most size bytes; a negative size
// is unknown. It normalizes the elements, see tensor.Tensor.Normalize.
func ReadPayload(r io.Reader, d tensor.DType, shape tensor.Shape, size int64) (*tensor.Tensor, error) {
	count := shape.NumElements()
	if count < 0 || count > 1<<40/int64(d.Size()) {
		return nil, fmt.Errorf("array has the shape %v, which is too large", []int64(shape))
	}
	bytes := count * int64(d.Size())
	var t *tensor.Tensor
	n := 0
	var err error
	if size >= 0 && bytes <= size {
		t = tensor.New(d, shape)
		n, err = io.ReadFull(r, t.Bytes())
	} else {
		// Read the payload in growing pieces, because a false header must not cause a large allocation.
		var payload []byte
		if payload, err = io.ReadAll(io.LimitReader(r, bytes)); int64(len(payload)) == bytes {
			t = tensor.New(d, shape)
			copy(t.Bytes(), payload)
		}
		n = len(payload)
	}
	if int64(n) != bytes {
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return nil, err
		}
		return nil, fmt.Errorf("array of shape %v is truncated: %d of %d bytes", []int64(shape), n, bytes)
	}
	t.Normalize()
	return t, nil
}

// swapBytes reverses the bytes of each number of the given size.
func swapBytes(data []byte, size int) {
	for ; len(data) >= size && size > 1; data = data[size:] {
		slices.Reverse(data[:size])
	}
}

// transposed returns a copy with the dimensions in reverse order.
func transposed(t *tensor.Tensor) *tensor.Tensor {
	shape := t.Shape().Clone()
	slices.Reverse(shape)
	out := tensor.New(t.DType(), shape)
	columnMajor := make([]int64, len(shape))
	for i := range columnMajor {
		columnMajor[i] = int64(i)
	}
	tensor.Reorder(out.Bytes(), t.Bytes(), t.DType().Size(), shape, columnMajor, true)
	return out
}

// parseNPYHeader reads {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
func parseNPYHeader(s string) (descr string, fortran bool, shape tensor.Shape, err error) {
	field := func(key string) (string, bool) {
		_, rest, ok := strings.Cut(s, "'"+key+"':")
		return strings.TrimSpace(rest), ok
	}
	rest, ok := field("descr")
	if !ok || !strings.HasPrefix(rest, "'") {
		return "", false, nil, fmt.Errorf("bad .npy header: no simple 'descr'")
	}
	descr, _, _ = strings.Cut(rest[1:], "'")
	rest, ok = field("fortran_order")
	if !ok {
		return "", false, nil, fmt.Errorf("bad .npy header: no 'fortran_order'")
	}
	fortran = strings.HasPrefix(rest, "True")
	rest, ok = field("shape")
	body, _, closed := strings.Cut(strings.TrimPrefix(rest, "("), ")")
	if !ok || !closed || !strings.HasPrefix(rest, "(") {
		return "", false, nil, fmt.Errorf("bad .npy header: no 'shape'")
	}
	shape = tensor.Shape{}
	for part := range strings.SplitSeq(body, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		d, err := strconv.ParseInt(part, 10, 64)
		if err != nil || d < 0 {
			return "", false, nil, fmt.Errorf("bad .npy header: dimension %q", part)
		}
		shape = append(shape, d)
	}
	return descr, fortran, shape, nil
}

// WriteNPY writes t in the format of numpy.save, except for types that numpy does not know. numpy saves and loads these
// as raw bytes; WriteNPY uses their ml_dtypes names. numpy loads such files with the right type if ml_dtypes is
// imported (jax imports it), and otherwise rejects them with an error that names the type.
func WriteNPY(w io.Writer, t *tensor.Tensor) error {
	descr := fmt.Sprintf("|V%d", t.DType().Size())
	for code, d := range npyCodes { // one code per type: the order does not matter
		if d == t.DType() {
			descr = code
		}
	}
	dims := make([]string, len(t.Shape()))
	for i, d := range t.Shape() {
		dims[i] = strconv.FormatInt(d, 10)
	}
	shape := strings.Join(dims, ", ")
	if len(dims) == 1 {
		shape += ","
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape)
	pad := 64 - (len(npyMagic)+4+len(header)+1)%64
	header += strings.Repeat(" ", pad%64) + "\n"
	buf := append([]byte(npyMagic), 1, 0)
	buf = binary.LittleEndian.AppendUint16(buf, uint16(len(header)))
	buf = append(buf, header...)
	if _, err := w.Write(buf); err != nil {
		return err
	}
	_, err := w.Write(t.Bytes())
	return err
}
