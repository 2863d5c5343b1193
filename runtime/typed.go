package runtime

import (
	"context"
	"fmt"
	"slices"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/words"
	"github.com/hlocb/hlocb/tensor"
)

// Array is an operand or a result in typed handlers: its shape and its elements in row-major order. Data of an operand
// is the program's own memory: it is valid during the call, and handlers must not write to it.
type Array[T tensor.Element] struct {
	Shape tensor.Shape
	Data  []T
}

// ArrayOf returns an array of the elements in data. Without dimensions it is a vector.
func ArrayOf[T tensor.Element](data []T, shape ...int64) Array[T] {
	if len(shape) == 0 {
		shape = []int64{int64(len(data))}
	}
	return Array[T]{shape, data}
}

// AsArray returns a tensor as an array that shares its memory. T must be the Go type of its elements.
func AsArray[T tensor.Element](t *tensor.Tensor) (Array[T], error) {
	if e := elementOf[T](); !e.fits(t.DType()) {
		return Array[T]{}, fmt.Errorf("elements of %s are not %s", hook.TypeOf(t), e.name)
	}
	return arrayIn[T](t), nil
}

// Tensor returns a copy of the array as a tensor of type want. A negative dimension of want accepts any size.
func (a Array[T]) Tensor(want hook.TensorType) (*tensor.Tensor, error) {
	if e := elementOf[T](); !e.fits(want.DType) {
		return nil, fmt.Errorf("elements are %s, expected elements of %s", e.name, want)
	}
	if n := a.Shape.NumElements(); n != int64(len(a.Data)) {
		return nil, fmt.Errorf("%d elements do not fill shape %v", len(a.Data), []int64(a.Shape))
	}
	if !slices.EqualFunc(a.Shape, want.Shape, func(g, w int64) bool { return w < 0 || g == w }) {
		return nil, fmt.Errorf("shape is %v, expected %v", []int64(a.Shape), []int64(want.Shape))
	}
	t := tensor.New(want.DType, a.Shape)
	copy(tensor.View[T](t), a.Data)
	return t, nil
}

// Scalar returns an array of rank 0.
func Scalar[T tensor.Element](v T) Array[T] { return Array[T]{tensor.Shape{}, []T{v}} }

// SiteChecker is a Handler that checks a hook when it is bound.
type SiteChecker interface {
	// CheckSite returns the reason why the handler cannot serve the hook, or nil if it can.
	CheckSite(s *hook.Site) error
}

// CheckSite returns the reason why a handler cannot serve the hook s, and nil for a handler that does not implement
// SiteChecker. Handlers that forward events to another handler call it.
func CheckSite(h Handler, s *hook.Site) error {
	if c, ok := h.(SiteChecker); ok {
		return c.CheckSite(s)
	}
	return nil
}

// BindError says that a handler cannot serve the hook that it was bound to.
type BindError struct {
	Site  *hook.Site
	Cause error
}

func (e *BindError) Error() string {
	return fmt.Sprintf("hook %q (%s, id %s) does not fit its handler: %v", words.Shorten(e.Site.Name, maxNameText), e.Site.Kind, e.Site.ID, e.Cause)
}

// Unwrap returns the cause.
func (e *BindError) Unwrap() error { return e.Cause }

// typedHandler is a handler for operands and results of certain Go types.
type typedHandler struct {
	in, out []elementType
	handle  func(ctx context.Context, c *Call) error
}

// elementType is a Go type of elements with the element types that it represents.
type elementType struct {
	name string
	fits func(tensor.DType) bool
	rank int // of the value; -1 is any
}

func (h *typedHandler) Handle(ctx context.Context, c *Call) error { return h.handle(ctx, c) }

// CheckSite implements SiteChecker.
func (h *typedHandler) CheckSite(s *hook.Site) error {
	check := func(side string, types []hook.TensorType, want []elementType) error {
		if len(types) != len(want) {
			return fmt.Errorf("it has %d %ss, the handler accepts %d", len(types), side, len(want))
		}
		for i, t := range types {
			if !want[i].fits(t.DType) {
				return fmt.Errorf("%s %d is %s, the handler accepts elements of Go type %s", side, i, t, want[i].name)
			}
			if r := want[i].rank; r >= 0 && len(t.Shape) != r {
				return fmt.Errorf("%s %d is %s, the handler accepts one element", side, i, t)
			}
		}
		return nil
	}
	if err := check("operand", s.Operands, h.in); err != nil {
		return err
	}
	switch {
	case h.out != nil:
		if s.Kind == hook.Tap || s.Kind == hook.InOut {
			return fmt.Errorf("the handler computes results, and a hook of kind %s accepts none", s.Kind)
		}
		return check("result", s.Results, h.out)
	case s.Kind == hook.Call || s.Kind == hook.Feed:
		return fmt.Errorf("the handler computes no results, and a hook of kind %s needs %d", s.Kind, len(s.Results))
	}
	return nil
}

// elementOf returns the element types that T represents: the type with T's name; for uint8 also i1; for the unsigned
// integers also the floats of their size. An element narrower than a byte is a byte.
func elementOf[T tensor.Element]() elementType {
	var zero T
	name := fmt.Sprintf("%T", zero)
	return elementType{name, func(d tensor.DType) bool {
		if d.Size() != int(unsafe.Sizeof(zero)) {
			return false
		}
		kind := d.Kind()
		switch any(zero).(type) {
		case float32, float64:
			return kind == tensor.KindFloat
		case complex64, complex128:
			return kind == tensor.KindComplex
		case int8, int16, int32, int64:
			return kind == tensor.KindSigned
		case uint8:
			return kind != tensor.KindSigned
		case uint16:
			return kind == tensor.KindUnsigned || kind == tensor.KindFloat
		case uint32, uint64:
			return kind == tensor.KindUnsigned
		}
		return true // a named type: compare the size only
	}, 0}
}

// ofAnyRank is elementOf for arrays.
func ofAnyRank[T tensor.Element]() elementType {
	e := elementOf[T]()
	e.rank = -1
	return e
}

func arrayIn[T tensor.Element](t *tensor.Tensor) Array[T] {
	return Array[T]{t.Shape(), tensor.View[T](t)}
}

// arrayOut writes a result. The array must have the result's shape.
func arrayOut[T tensor.Element](c *Call, i int, a Array[T]) error {
	r := c.Results[i]
	if n := a.Shape.NumElements(); n != int64(len(a.Data)) {
		return fmt.Errorf("handler returned %d elements of shape %v for result %d", len(a.Data), []int64(a.Shape), i)
	}
	if !a.Shape.Equal(r.Shape()) {
		return &ShapeError{Result: i, Got: hook.TensorType{DType: r.DType(), Shape: a.Shape}, Want: hook.TypeOf(r)}
	}
	copy(tensor.View[T](r), a.Data)
	return nil
}

// answering returns a handler whose result 0 is what f returns.
func answering[R tensor.Element](f func(ctx context.Context, c *Call) (Array[R], error), in ...elementType) Handler {
	return &typedHandler{in, []elementType{ofAnyRank[R]()}, func(ctx context.Context, c *Call) error {
		r, err := f(ctx, c)
		if err != nil {
			return err
		}
		return arrayOut(c, 0, r)
	}}
}

// Func returns a handler that calls f, a function of one operand that returns one result. Bind refuses it with a
// *BindError for a hook with other operands or results. A result of another shape ends the run with a *ShapeError.
func Func[A, R tensor.Element](f func(ctx context.Context, a Array[A]) (Array[R], error)) Handler {
	return answering(func(ctx context.Context, c *Call) (Array[R], error) { return f(ctx, arrayIn[A](c.Operands[0])) }, ofAnyRank[A]())
}

// Func2 is Func for two operands.
func Func2[A, B, R tensor.Element](f func(ctx context.Context, a Array[A], b Array[B]) (Array[R], error)) Handler {
	return answering(func(ctx context.Context, c *Call) (Array[R], error) {
		return f(ctx, arrayIn[A](c.Operands[0]), arrayIn[B](c.Operands[1]))
	}, ofAnyRank[A](), ofAnyRank[B]())
}

// FeedFunc returns a handler that calls f, a function without operands that returns one result.
func FeedFunc[R tensor.Element](f func(ctx context.Context) (Array[R], error)) Handler {
	return answering(func(ctx context.Context, _ *Call) (Array[R], error) { return f(ctx) })
}

// ObserverFunc returns a handler that calls f with one operand, for taps. For an inout hook f may change the elements
// in place.
func ObserverFunc[A tensor.Element](f func(ctx context.Context, a Array[A]) error) Handler {
	return &typedHandler{[]elementType{ofAnyRank[A]()}, nil, func(ctx context.Context, c *Call) error {
		return f(ctx, arrayIn[A](c.Operands[0]))
	}}
}
