package stablehlo

import (
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/ir"
)

// TokenType returns !stablehlo.token.
func TokenType(c *ir.Context) *ir.DialectType { return Token.New(c, nil) }

// IsToken reports whether t is !stablehlo.token or !mhlo.token.
func IsToken(t ir.Type) bool { return ods.IsToken(t) }
