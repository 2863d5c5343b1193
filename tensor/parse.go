package tensor

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseType reads an MLIR tensor type with static dimensions, tensor<2x3xf32>. A bare element type denotes a scalar.
func ParseType(s string) (DType, Shape, error) {
	s = strings.TrimSpace(s)
	body, ok := strings.CutPrefix(s, "tensor<")
	if !ok {
		if d, ok := ParseDType(s); ok {
			return d, Shape{}, nil
		}
		return Invalid, nil, fmt.Errorf("expected a tensor type, found %q", s)
	}
	body, ok = strings.CutSuffix(body, ">")
	if !ok {
		return Invalid, nil, fmt.Errorf("expected '>' at the end of %q", s)
	}
	shape := Shape{}
	for {
		n := 0
		for n < len(body) && body[n] >= '0' && body[n] <= '9' {
			n++
		}
		if n == 0 || n == len(body) || body[n] != 'x' {
			break
		}
		d, err := strconv.ParseInt(body[:n], 10, 64)
		if err != nil {
			return Invalid, nil, fmt.Errorf("dimension %s is too large", body[:n])
		}
		shape = append(shape, d)
		body = body[n+1:]
	}
	d, ok := ParseDType(body)
	if !ok {
		return Invalid, nil, fmt.Errorf("unknown element type %q in %q", body, s)
	}
	if n := shape.NumElements(); n < 0 || n > 1<<40/int64(d.Size()) {
		return Invalid, nil, fmt.Errorf("type %s is too large", s)
	}
	return d, shape, nil
}

// ParseLiteral reads an MLIR literal with its type: dense<[1.0, 2.0]> : tensor<2xf32>, or a scalar such as 3 : i32.
func ParseLiteral(s string) (*Tensor, error) {
	at := strings.LastIndexByte(s, ':')
	if at < 0 {
		return nil, fmt.Errorf("expected ': TYPE' after the value, as in dense<1.0> : tensor<4xf32>")
	}
	d, shape, err := ParseType(s[at+1:])
	if err != nil {
		return nil, err
	}
	return ParseValue(s[:at], d, shape)
}

// ParseValue reads a value of a known type: the text between dense< and >, with or without dense< and >.
func ParseValue(s string, d DType, shape Shape) (*Tensor, error) {
	body := strings.TrimSpace(s)
	if inner, ok := strings.CutPrefix(body, "dense<"); ok {
		if body, ok = strings.CutSuffix(inner, ">"); !ok {
			return nil, fmt.Errorf("expected '>' at the end of %q", shorten(s))
		}
	}
	t, splat, err := DecodeDense([]byte(body), d, shape)
	if err != nil {
		return nil, err
	}
	if t.shape.Equal(shape) {
		return t, nil
	}
	if !splat {
		return nil, fmt.Errorf("%d elements do not fill the shape %v", t.NumElements(), []int64(shape))
	}
	full := New(d, shape)
	for i := 0; i < len(full.data); i += len(t.data) {
		copy(full.data[i:], t.data)
	}
	return full, nil
}

func shorten(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}
