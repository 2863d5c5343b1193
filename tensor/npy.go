package tensor

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The .npy format (numpy.lib.format): a magic string, a version, the length of a Python dictionary literal, the
// dictionary, the payload.

const npyMagic = "\x93NUMPY"

// maxNPYHeader limits the header size. Real headers take 128 bytes.
const maxNPYHeader = 1 << 20

// npyCodes maps numpy's type codes. Other types use the names in the Python package ml_dtypes.
var npyCodes = map[string]DType{
	"|b1": I1, "|i1": I8, "<i2": I16, "<i4": I32, "<i8": I64, "|u1": UI8, "<u2": UI16, "<u4": UI32, "<u8": UI64,
	"<f2": F16, "<f4": F32, "<f8": F64, "<c8": Complex64, "<c16": Complex128,

	"bfloat16": BF16, "int2": I2, "int4": I4, "uint2": UI2, "uint4": UI4,
	"float4_e2m1fn": F4E2M1FN, "float6_e2m3fn": F6E2M3FN, "float6_e3m2fn": F6E3M2FN, "float8_e3m4": F8E3M4, "float8_e4m3": F8E4M3,
	"float8_e4m3b11fnuz": F8E4M3B11FNUZ, "float8_e4m3fn": F8E4M3FN, "float8_e4m3fnuz": F8E4M3FNUZ, "float8_e5m2": F8E5M2,
	"float8_e5m2fnuz": F8E5M2FNUZ, "float8_e8m0fnu": F8E8M0FNU,
}

// ReadNPY reads an array written by numpy.save. It rejects arrays in Fortran order and big-endian arrays. Unlike
// WriteNPY, numpy writes types that it does not know (bfloat16, the 8-bit floats, 4-bit integers) as raw bytes. ReadNPY
// assumes type want for such an array. The type of any other array must be want, unless want is Invalid.
func ReadNPY(r io.Reader, want DType) (*Tensor, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil || string(head[:6]) != npyMagic {
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
	if fortran && len(shape) > 1 {
		return nil, fmt.Errorf("array is in Fortran order; save numpy.ascontiguousarray of it")
	}
	d, known := npyCodes[descr]
	if !known {
		size, err := strconv.Atoi(strings.TrimLeft(descr, "|<V"))
		raw := strings.HasPrefix(descr, "|V") || strings.HasPrefix(descr, "<V")
		if descr == "<f1" { // numpy's code for ml_dtypes' float8_e5m2, which numpy itself cannot load
			raw, size, err = true, 1, nil
		}
		switch {
		case !raw || err != nil:
			return nil, fmt.Errorf("array has the unsupported type %q", descr)
		case want == Invalid || want.Size() != size:
			return nil, fmt.Errorf("array has the type %q, which tells only its size; it cannot be read as %s", descr, want)
		}
		d = want
	}
	if want != Invalid && want != d {
		return nil, fmt.Errorf("array has element type %s, expected %s", d, want)
	}
	count := shape.NumElements()
	if count < 0 || count > 1<<40/int64(d.Size()) {
		return nil, fmt.Errorf("array has the shape %v, which is too large", []int64(shape))
	}
	// Read the payload in growing pieces, so that a false header cannot cause a large allocation.
	payload, err := io.ReadAll(io.LimitReader(r, count*int64(d.Size())))
	if err != nil {
		return nil, err
	}
	if int64(len(payload)) != count*int64(d.Size()) {
		return nil, fmt.Errorf("array of shape %v is truncated: %d of %d bytes", []int64(shape), len(payload), count*int64(d.Size()))
	}
	t := New(d, shape)
	copy(t.data, payload)
	return t, nil
}

// parseNPYHeader reads {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
func parseNPYHeader(s string) (descr string, fortran bool, shape Shape, err error) {
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
	shape = Shape{}
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
func (t *Tensor) WriteNPY(w io.Writer) error {
	descr := fmt.Sprintf("|V%d", t.dtype.Size())
	for code, d := range npyCodes { // one code per type: the order does not matter
		if d == t.dtype {
			descr = code
		}
	}
	dims := make([]string, len(t.shape))
	for i, d := range t.shape {
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
	_, err := w.Write(t.data)
	return err
}
