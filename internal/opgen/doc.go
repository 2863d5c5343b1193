// Package opgen generates programs of one op with random attributes, shapes, element types and arguments. Tests use
// them to compare engines. The ops' own rows infer the result types.
package opgen
