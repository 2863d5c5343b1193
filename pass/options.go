package pass

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Option documents one option of a pass.
type Option struct {
	Name    string
	Default string // as text; empty for the zero value of the type
	Doc     string
	Values  []string // the values of an enumeration, if its type lists them
	field   int
}

// Options returns the options of p, in the order of its fields.
func Options(p Pass) []Option {
	t := reflect.TypeOf(p)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var out []Option
	for i := range t.NumField() {
		f := t.Field(i)
		if name, ok := f.Tag.Lookup("pass"); ok {
			o := Option{Name: name, Default: f.Tag.Get("default"), Doc: f.Tag.Get("doc"), field: i}
			if v, ok := reflect.New(f.Type).Interface().(interface{ Values() []string }); ok {
				o.Values = v.Values()
			}
			if o.Default == "" && f.Type.Kind() != reflect.Slice {
				o.Default = text(reflect.Zero(f.Type))
			}
			out = append(out, o)
		}
	}
	return out
}

// clone returns a copy of the prototype p (a struct or a pointer to one) and the reflect.Value of the struct.
func clone(p Pass) (Pass, reflect.Value) {
	v := reflect.ValueOf(p)
	if v.Kind() == reflect.Pointer {
		n := reflect.New(v.Type().Elem())
		n.Elem().Set(v.Elem())
		return n.Interface().(Pass), n.Elem()
	}
	n := reflect.New(v.Type()).Elem()
	n.Set(v)
	return nil, n // the caller gets the pass from n after setting its fields
}

// with returns a copy of p with the given options. All other options have their defaults.
func with(p Pass, given []assignment) (Pass, error) {
	n, v := clone(p)
	options := Options(p)
	for _, o := range options {
		if o.Default != "" {
			if err := set(v.Field(o.field), o.Default); err != nil {
				return nil, fmt.Errorf("pass %q: default of option %q: %w", p.Info().Name, o.Name, err)
			}
		}
	}
next:
	for _, a := range given {
		for _, o := range options {
			if o.Name == a.name {
				if err := set(v.Field(o.field), a.value); err != nil {
					return nil, &optionError{a, fmt.Errorf("option %q of pass %q: %w", a.name, p.Info().Name, err)}
				}
				continue next
			}
		}
		names := make([]string, len(options))
		for i, o := range options {
			names[i] = o.Name
		}
		return nil, &optionError{a, fmt.Errorf("pass %q has no option %q%s", p.Info().Name, a.name, among(a.name, names))}
	}
	if n == nil {
		n = v.Interface().(Pass)
	}
	return n, nil
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
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return fmt.Errorf("expected a number, but got %q", s)
		}
		v.SetInt(n)
	case reflect.Float64:
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return fmt.Errorf("expected a number, but got %q", s)
		}
		v.SetFloat(x)
	case reflect.Slice:
		v.SetZero()
		if s == "" {
			return nil
		}
		for _, e := range strings.Split(s, ",") {
			n := reflect.New(v.Type().Elem()).Elem()
			if err := set(n, strings.TrimSpace(e)); err != nil {
				return err
			}
			v.Set(reflect.Append(v, n))
		}
	default:
		return fmt.Errorf("options of type %s are not supported", v.Type())
	}
	return nil
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
			parts[i] = text(v.Index(i))
		}
		return strings.Join(parts, ",")
	}
	return fmt.Sprint(v.Interface())
}

// optionText returns the options of p that differ from their defaults, in pipeline syntax.
func optionText(p Pass) string {
	v := reflect.ValueOf(p)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	var out []string
	for _, o := range Options(p) {
		f := v.Field(o.field)
		// A field that a Go program left at its zero value means the default, too.
		if s := text(f); s != o.Default && !(f.IsZero() && o.Default != "" && f.Kind() == reflect.String) {
			out = append(out, o.Name+"="+quoted(s))
		}
	}
	return strings.Join(out, " ")
}

// quoted puts a value in braces if it would otherwise end early.
func quoted(s string) string {
	if s == "" || strings.ContainsAny(s, " \t\r\n{}()[]<>\"'") {
		return "{" + s + "}"
	}
	return s
}
