// Package opgen makes programs of one op with random attributes, shapes and element types, and arguments for them, to
// compare engines with. Result types come from the ops' own rows.
package opgen
