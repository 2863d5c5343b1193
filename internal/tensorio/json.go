package tensorio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/hlocb/hlocb/tensor"
)

// AppendJSON appends t as the object {"dtype":"f32","shape":[2],"data":[1,"nan"]}. data is flat and row-major. Floats
// that JSON lacks are the strings "nan", "inf" and "-inf"; i1 is true or false; complex numbers are [re, im]. Floats
// have the digits necessary to read the same value back.
func AppendJSON(dst []byte, t *tensor.Tensor) []byte {
	dst = append(AppendJSONType(dst, t), `,"data":[`...)
	dst = appendData(dst, t)
	return append(dst, "]}"...)
}

// AppendJSONType appends the type of t as the start of an object, {"dtype":"f32","shape":[2].
func AppendJSONType(dst []byte, t *tensor.Tensor) []byte {
	dst = append(append(append(dst, `{"dtype":"`...), t.DType().String()...), `","shape":[`...)
	for i, d := range t.Shape() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, d, 10)
	}
	return append(dst, ']')
}

func appendData(dst []byte, t *tensor.Tensor) []byte {
	start := len(dst)
	switch t.DType() {
	case tensor.F32: // the two most frequent types, without a call per element's conversion
		for _, v := range tensor.View[float32](t) {
			dst = append(appendFloatJSON(dst, float64(v), 32), ',')
		}
	case tensor.F64:
		for _, v := range tensor.View[float64](t) {
			dst = append(appendFloatJSON(dst, v, 64), ',')
		}
	default:
		for i := range t.NumElements() {
			dst = append(appendElementJSON(dst, t, i), ',')
		}
	}
	if len(dst) > start {
		dst = dst[:len(dst)-1]
	}
	return dst
}

func appendElementJSON(dst []byte, t *tensor.Tensor, i int) []byte {
	switch t.DType().Kind() {
	case tensor.KindBool:
		return strconv.AppendBool(dst, t.Bits(i) != 0)
	case tensor.KindFloat:
		return appendFloatJSON(dst, t.FloatAt(i), floatDigits(t.DType()))
	case tensor.KindComplex:
		bits := t.DType().Bits() / 2
		v := t.ComplexAt(i)
		dst = appendFloatJSON(append(dst, '['), real(v), bits)
		dst = appendFloatJSON(append(dst, ','), imag(v), bits)
		return append(dst, ']')
	case tensor.KindSigned:
		return strconv.AppendInt(dst, t.IntAt(i), 10)
	}
	return strconv.AppendUint(dst, uint64(t.IntAt(i)), 10)
}

// floatDigits returns the bit size to format with: types narrower than f32 are exact in f32.
func floatDigits(d tensor.DType) int {
	if d == tensor.F64 {
		return 64
	}
	return 32
}

func appendFloatJSON(dst []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, `"nan"`...)
	case math.IsInf(v, 1):
		return append(dst, `"inf"`...)
	case math.IsInf(v, -1):
		return append(dst, `"-inf"`...)
	}
	if v == math.Trunc(v) && math.Abs(v) < 1<<24 && (v != 0 || !math.Signbit(v)) {
		return strconv.AppendInt(dst, int64(v), 10)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, bits)
}

// FromJSON reads the output of AppendJSON.
func FromJSON(b []byte) (*tensor.Tensor, error) {
	var obj struct {
		DType string            `json:"dtype"`
		Shape []int64           `json:"shape"`
		Data  []json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(b, &obj); err != nil {
		return nil, err
	}
	d, ok := tensor.ParseDType(obj.DType)
	if !ok {
		return nil, fmt.Errorf("unknown element type %q", obj.DType)
	}
	shape := tensor.Shape(obj.Shape)
	if shape == nil {
		shape = tensor.Shape{}
	}
	if n := shape.NumElements(); n != int64(len(obj.Data)) {
		return nil, fmt.Errorf("shape %v has %d elements, data has %d", []int64(shape), n, len(obj.Data))
	}
	t := tensor.New(d, shape)
	for i, raw := range obj.Data {
		if err := setJSON(t, i, raw); err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
	}
	return t, nil
}

func setJSON(t *tensor.Tensor, i int, raw json.RawMessage) error {
	switch t.DType().Kind() {
	case tensor.KindBool:
		switch string(raw) {
		case "true":
			t.SetBits(i, 1)
		case "false":
		default:
			return fmt.Errorf("%s is neither true nor false", raw)
		}
		return nil
	case tensor.KindFloat:
		v, err := parseFloatJSON(raw)
		t.SetFloat(i, v)
		return err
	case tensor.KindComplex:
		var parts []json.RawMessage
		if err := json.Unmarshal(raw, &parts); err != nil || len(parts) != 2 {
			return fmt.Errorf("%s is not a pair [re, im]", raw)
		}
		re, err := parseFloatJSON(parts[0])
		if err != nil {
			return err
		}
		im, err := parseFloatJSON(parts[1])
		t.SetComplex(i, complex(re, im))
		return err
	case tensor.KindSigned:
		v, err := strconv.ParseInt(string(raw), 10, t.DType().Bits())
		if err != nil {
			return fmt.Errorf("%s is not %s", raw, t.DType())
		}
		t.SetBits(i, uint64(v))
		return nil
	}
	v, err := strconv.ParseUint(string(raw), 10, t.DType().Bits())
	if err != nil {
		return fmt.Errorf("%s is not %s", raw, t.DType())
	}
	t.SetBits(i, v)
	return nil
}

func parseFloatJSON(raw []byte) (float64, error) {
	switch string(bytes.TrimSpace(raw)) {
	case `"nan"`:
		return math.NaN(), nil
	case `"inf"`:
		return math.Inf(1), nil
	case `"-inf"`:
		return math.Inf(-1), nil
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return 0, fmt.Errorf("%s is not a number", raw)
	}
	return v, nil
}
