package stablehlo

import "github.com/hlocb/hlocb/ir"

// TokenType returns !stablehlo.token.
func TokenType(c *ir.Context) *ir.DialectType { return c.DialectType("stablehlo", "token", "", nil) }

// IsToken reports whether t is !stablehlo.token or !mhlo.token.
func IsToken(t ir.Type) bool {
	d, ok := t.(*ir.DialectType)
	return ok && d.Name() == "token" && (d.Dialect() == "stablehlo" || d.Dialect() == "mhlo")
}
