package pass

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Option documents one option of a pass: an exported field with the tag `pass`, which is the option's name. The tag
// `default` is the default and `doc` the documentation. Defaults fills the fields that have their zero value. A number
// or bool whose default is not its zero value is an Opt. The options of an embedded struct, such as Rules, are options
// of the pass.
type Option struct {
	Name    string
	Default string // as text; empty for an empty list or string
	Doc     string
	Values  []string // the values of an enumeration, if its type lists them

	index []int // of the field, which may be in an embedded struct
}

// Opt is an option of type T whose default is not T's zero value. The zero Opt means the default.
type Opt[T any] struct {
	value T
	given bool
}

// Set returns an option with the value v.
func Set[T any](v T) Opt[T] { return Opt[T]{v, true} }

// Get returns the value. Before Defaults, it is T's zero value for an option that was not set.
func (o Opt[T]) Get() T { return o.value }

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *Opt[T]) UnmarshalText(text []byte) error {
	var v T
	if err := set(reflect.ValueOf(&v).Elem(), string(text)); err != nil {
		return err
	}
	*o = Set(v)
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (o Opt[T]) MarshalText() ([]byte, error) { return []byte(text(reflect.ValueOf(o.value))), nil }

// Values returns the values of an enumeration T, if its type lists them.
func (o Opt[T]) Values() []string {
	if v, ok := any(o.value).(interface{ Values() []string }); ok {
		return v.Values()
	}
	return nil
}

// Options returns the options of p, in the order of its fields.
func Options(p Pass) []Option { return optionsOf(structOf(p)) }

// structOf returns the type of p, or of the struct that p points to.
func structOf(p Pass) reflect.Type {
	t := reflect.TypeOf(p)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func optionsOf(t reflect.Type) []Option {
	if t.Kind() != reflect.Struct {
		return nil
	}
	var out []Option
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			for _, o := range optionsOf(f.Type) {
				o.index = append(slices.Clone(f.Index), o.index...)
				out = append(out, o)
			}
			continue
		}
		name, ok := f.Tag.Lookup("pass")
		if !ok {
			continue
		}
		o := Option{Name: name, Default: f.Tag.Get("default"), Doc: f.Tag.Get("doc"), index: f.Index}
		if v, ok := reflect.New(f.Type).Interface().(interface{ Values() []string }); ok {
			o.Values = v.Values()
		}
		if o.Default == "" && f.Type.Kind() != reflect.Slice {
			o.Default = text(reflect.Zero(f.Type))
		}
		out = append(out, o)
	}
	return out
}

// checkOptions returns an error if the options of p are not declared correctly.
func checkOptions(p Pass) error {
	seen := map[string]bool{}
	for _, o := range Options(p) {
		f := structOf(p).FieldByIndex(o.index)
		fail := func(format string, args ...any) error {
			return fmt.Errorf("pass %q: option %q: %s", p.Info().Name, o.Name, fmt.Sprintf(format, args...))
		}
		zero := reflect.New(f.Type).Elem()
		switch {
		case seen[o.Name]:
			return fail("two fields have this name")
		case !f.IsExported():
			return fail("field %s is not exported", f.Name)
		case (zero.CanInt() || zero.CanUint() || zero.CanFloat() || zero.Kind() == reflect.Bool) && o.Default != text(zero):
			return fail("a %s whose default is not %s is a pass.Opt[%[1]s]", f.Type, text(zero))
		}
		seen[o.Name] = true
		if o.Default != "" {
			if err := set(zero, o.Default); err != nil {
				return fail("default: %v", err)
			}
		}
	}
	return nil
}

// Defaults returns p with the default in each option that has its zero value. Passes call it first in Run.
func Defaults[P Pass](p P) P {
	v := reflect.ValueOf(&p).Elem()
	if v.Kind() == reflect.Pointer {
		n := reflect.New(v.Type().Elem())
		n.Elem().Set(v.Elem())
		v.Set(n)
		v = n.Elem()
	}
	fill(v)
	return p
}

// same reports whether two passes are the same pass with the same options and the same values of exported fields.
func same(p, q Pass) bool {
	v, w := reflect.Indirect(reflect.ValueOf(p)), reflect.Indirect(reflect.ValueOf(q))
	if Text(p) != Text(q) || v.Type() != w.Type() {
		return false
	}
	if v.Kind() != reflect.Struct {
		return true
	}
	for i := range v.NumField() {
		f, x, y := v.Type().Field(i), v.Field(i), w.Field(i)
		if !f.IsExported() || f.Anonymous || f.Tag.Get("pass") != "" {
			continue
		}
		if x.Comparable() && y.Comparable() {
			if !x.Equal(y) {
				return false
			}
		} else if !reflect.DeepEqual(x.Interface(), y.Interface()) {
			return false
		}
	}
	return true
}

// fill sets the options with zero values in v, a struct, to their defaults.
func fill(v reflect.Value) {
	for _, o := range optionsOf(v.Type()) {
		if f := v.FieldByIndex(o.index); f.IsZero() && o.Default != "" {
			_ = set(f, o.Default) // checkOptions has checked it
		}
	}
}

// withOptions returns a copy of p with the options of list. The other options keep the values of p.
func withOptions(p Pass, list []assignment) (Pass, error) {
	v := reflect.Indirect(reflect.ValueOf(p))
	n := reflect.New(v.Type()).Elem()
	n.Set(v)
	options := Options(p)
	for _, a := range list {
		i := slices.IndexFunc(options, func(o Option) bool { return o.Name == a.name })
		if i < 0 {
			names := make([]string, len(options))
			for i, o := range options {
				names[i] = o.Name
			}
			return nil, &optionError{a, fmt.Errorf("pass %q has no option %q%s", p.Info().Name, a.name, among(a.name, names))}
		}
		if err := options[i].assign(n.FieldByIndex(options[i].index), a.value); err != nil {
			return nil, &optionError{a, fmt.Errorf("option %q of pass %q: %w", a.name, p.Info().Name, err)}
		}
	}
	if reflect.TypeOf(p).Kind() == reflect.Pointer {
		n = n.Addr()
	}
	return n.Interface().(Pass), nil
}

// assign sets the field of an option to the value that s spells.
func (o *Option) assign(f reflect.Value, s string) error {
	if s == "" && f.Kind() == reflect.String && o.Default != "" {
		return fmt.Errorf("expected a value; the default is %s", o.Default)
	}
	return set(f, s)
}

// text returns the option's value in the struct v, and whether it differs from the default.
func (o *Option) text(v reflect.Value) (string, bool) {
	f := v.FieldByIndex(o.index)
	s := text(f)
	return s, s != o.Default && !f.IsZero()
}

// assignment is an option in the text of a pipeline.
type assignment struct {
	name, value string
	at          int // byte offset in the pipeline's text
}

// optionError is an error about one assignment.
type optionError struct {
	assignment
	error
}

// set sets a field to the value that s spells.
func set(v reflect.Value, s string) error {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(s))
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Bool:
		b, err := strconv.ParseBool(s)
		if err != nil {
			return fmt.Errorf("expected true or false, but got %q", s)
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(s, 10, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("expected a number, but got %q", s)
		}
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(s, 10, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("expected a number from 0, but got %q", s)
		}
		v.SetUint(n)
	case reflect.Float32, reflect.Float64:
		x, err := strconv.ParseFloat(s, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("expected a number, but got %q", s)
		}
		v.SetFloat(x)
	case reflect.Slice:
		v.SetZero()
		for _, e := range elements(s) {
			n := reflect.New(v.Type().Elem()).Elem()
			if err := set(n, unwrap(strings.TrimSpace(e))); err != nil {
				return err
			}
			v.Set(reflect.Append(v, n))
		}
	default:
		return fmt.Errorf("options of type %s are not supported", v.Type())
	}
	return nil
}

// elements splits a list at the commas outside brackets and quotes.
func elements(s string) []string {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	var out []string
	depth, start := 0, 0
	for i := 0; i < len(s); i = after(s, i) {
		depth += bracket(s, i)
		if s[i] == ',' && depth <= 0 {
			out = append(out, s[start:i])
			start = i + 1
		}
	}
	return append(out, s[start:])
}

// text returns the text that set parses to v.
func text(v reflect.Value) string {
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		b, err := m.MarshalText()
		if err != nil {
			return ""
		}
		return string(b)
	}
	if v.Kind() == reflect.Slice {
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = element(text(v.Index(i)))
		}
		return strings.Join(parts, ",")
	}
	return fmt.Sprint(v.Interface())
}

// element returns the text of an element of a list: in quotes if it would otherwise read as another element or several.
func element(s string) string {
	if s != "" && isBalanced(s) && len(elements(s)) == 1 && unwrap(strings.TrimSpace(s)) == s {
		return s
	}
	return inQuotes(s)
}

func inQuotes(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// optionText returns the options of p that differ from their defaults, in pipeline syntax.
func optionText(p Pass) string {
	v := reflect.Indirect(reflect.ValueOf(p))
	var out []string
	for _, o := range Options(p) {
		if s, differs := o.text(v); differs {
			out = append(out, o.Name+"="+quote(s))
		}
	}
	return strings.Join(out, " ")
}

// quote puts a value in braces or quotes if it would otherwise end early.
func quote(s string) string {
	switch {
	case s != "" && !strings.ContainsAny(s, " \t\r\n{}()[]<>\"'\\"):
		return s
	case isBalanced(s):
		return "{" + s + "}"
	}
	return inQuotes(s)
}

// isBalanced reports whether s can be put in braces: it has no quotes, and its brackets close in it.
func isBalanced(s string) bool {
	depth := 0
	for i := range len(s) {
		if depth += bracket(s, i); depth < 0 {
			return false
		}
	}
	return depth == 0 && !strings.ContainsAny(s, "\"'\\")
}
