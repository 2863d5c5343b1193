package runtime

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/tensor"
)

// HandlerOf returns a handler that calls f, a function of the hook's operands that returns the hook's results. A
// parameter or result is an Array, an element (for a value of rank 0), or a *tensor.Tensor of any type. The first
// parameter may be a context.Context, and the last result an error. A function without other results is an observer.
//
// Bind refuses the handler with a *BindError if f is no such function, or does not fit the hook.
func HandlerOf(f any) Handler {
	h, err := reflected(reflect.ValueOf(f))
	if err != nil {
		return &misfit{fmt.Errorf("%T is not a handler: %w", f, err)}
	}
	return h
}

// misfit is a handler that serves no hook.
type misfit struct{ reason error }

func (m *misfit) Handle(context.Context, *Call) error { return m.reason }
func (m *misfit) CheckSite(*hook.Site) error          { return m.reason }

// parameter converts between a value of a hook and a parameter or result of a Go function.
type parameter struct {
	array  reflect.Type // an Array; nil for a tensor
	scalar bool         // the Go value is the array's one element
}

// arrayValue is what *Array[T] implements for functions that are known only by reflection.
type arrayValue interface {
	elements() elementType
	load(t *tensor.Tensor)
	store(c *Call, i int) error
}

func (a *Array[T]) elements() elementType      { return elementOf[T]() }
func (a *Array[T]) load(t *tensor.Tensor)      { *a = arrayIn[T](t) }
func (a *Array[T]) store(c *Call, i int) error { return arrayOut(c, i, *a) }

// arrayOfKind returns the Array whose elements are of a kind, or nil.
func arrayOfKind(k reflect.Kind) reflect.Type {
	switch k {
	case reflect.Float32:
		return reflect.TypeFor[Array[float32]]()
	case reflect.Float64:
		return reflect.TypeFor[Array[float64]]()
	case reflect.Int8:
		return reflect.TypeFor[Array[int8]]()
	case reflect.Int16:
		return reflect.TypeFor[Array[int16]]()
	case reflect.Int32:
		return reflect.TypeFor[Array[int32]]()
	case reflect.Int64:
		return reflect.TypeFor[Array[int64]]()
	case reflect.Uint8:
		return reflect.TypeFor[Array[uint8]]()
	case reflect.Uint16:
		return reflect.TypeFor[Array[uint16]]()
	case reflect.Uint32:
		return reflect.TypeFor[Array[uint32]]()
	case reflect.Uint64:
		return reflect.TypeFor[Array[uint64]]()
	case reflect.Complex64:
		return reflect.TypeFor[Array[complex64]]()
	case reflect.Complex128:
		return reflect.TypeFor[Array[complex128]]()
	}
	return nil
}

func parameterOf(t reflect.Type) (parameter, elementType, error) {
	if t == reflect.TypeFor[*tensor.Tensor]() {
		return parameter{}, elementType{"any", func(tensor.DType) bool { return true }, -1}, nil
	}
	p := parameter{array: t}
	if array := arrayOfKind(t.Kind()); array != nil && t.PkgPath() == "" {
		p = parameter{array, true}
	}
	a, ok := reflect.New(p.array).Interface().(arrayValue)
	if !ok {
		return p, elementType{}, fmt.Errorf("%s is neither an Array, an element, nor a *tensor.Tensor", t)
	}
	e := a.elements()
	if !p.scalar {
		e.rank = -1
	}
	return p, e, nil
}

// reflected returns the handler that calls f.
func reflected(f reflect.Value) (Handler, error) {
	if f.Kind() != reflect.Func || f.IsNil() {
		return nil, errors.New("expected a function")
	}
	t := f.Type()
	if t.IsVariadic() {
		return nil, errors.New("expected a function with a fixed number of operands")
	}
	h := &typedHandler{}
	var in, out []parameter
	withContext := t.NumIn() > 0 && t.In(0) == reflect.TypeFor[context.Context]()
	for i := range t.NumIn() {
		if i == 0 && withContext {
			continue
		}
		p, e, err := parameterOf(t.In(i))
		if err != nil {
			return nil, err
		}
		in, h.in = append(in, p), append(h.in, e)
	}
	fails := t.NumOut() > 0 && t.Out(t.NumOut()-1) == reflect.TypeFor[error]()
	for i := range t.NumOut() {
		if fails && i == t.NumOut()-1 {
			break
		}
		p, e, err := parameterOf(t.Out(i))
		if err != nil {
			return nil, err
		}
		out, h.out = append(out, p), append(h.out, e)
	}
	h.handle = func(ctx context.Context, c *Call) error {
		args := make([]reflect.Value, 0, t.NumIn())
		if withContext {
			args = append(args, reflect.ValueOf(ctx))
		}
		for i, p := range in {
			args = append(args, p.operand(c.Operands[i]))
		}
		results := f.Call(args)
		if fails {
			if err, _ := results[len(results)-1].Interface().(error); err != nil {
				return err
			}
		}
		for i, p := range out {
			if err := p.result(c, i, results[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return h, nil
}

// operand returns an operand as an argument of the function.
func (p parameter) operand(t *tensor.Tensor) reflect.Value {
	if p.array == nil {
		return reflect.ValueOf(t)
	}
	a := reflect.New(p.array)
	a.Interface().(arrayValue).load(t)
	if p.scalar {
		return a.Elem().FieldByName("Data").Index(0)
	}
	return a.Elem()
}

// result writes a result of the function.
func (p parameter) result(c *Call, i int, v reflect.Value) error {
	if p.array == nil {
		t, _ := v.Interface().(*tensor.Tensor)
		if t == nil {
			return fmt.Errorf("handler returned no tensor for result %d", i)
		}
		return c.SetResult(i, t)
	}
	a := reflect.New(p.array)
	if p.scalar {
		a.Elem().FieldByName("Shape").Set(reflect.ValueOf(tensor.Shape{}))
		data := a.Elem().FieldByName("Data")
		data.Set(reflect.Append(data, v))
	} else {
		a.Elem().Set(v)
	}
	return a.Interface().(arrayValue).store(c, i)
}
