package layout_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestNoMutableGlobals: only the packages that hold C libraries and handles, which belong to the whole process, keep
// state in package variables. A value that is computed once (sync.OnceValue) is not state.
func TestNoMutableGlobals(t *testing.T) {
	bindings := map[string]bool{"runtime/pjrt": true, "runtime/goxla": true, "internal/engineplugin": true}
	found := map[string]bool{}
	files(t, ".go", func(name string, source []byte) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		dir := name[:max(0, strings.LastIndexByte(name, '/'))]
		for _, decl := range f.Decls {
			if g, ok := decl.(*ast.GenDecl); ok && g.Tok == token.VAR && keepsState(g) {
				if found[dir] = true; !bindings[dir] {
					t.Errorf("%s: a package variable keeps state: keep it in a value that the caller makes", name)
				}
			}
		}
	})
	for dir := range bindings {
		if !found[dir] {
			t.Errorf("%s keeps no state: remove it from the list", dir)
		}
	}
}

// keepsState reports whether a declaration names a type of sync or sync/atomic outside of a function.
func keepsState(g *ast.GenDecl) bool {
	state := false
	ast.Inspect(g, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			pkg, _ := s.X.(*ast.Ident)
			state = state || pkg != nil && (pkg.Name == "sync" || pkg.Name == "atomic") && !strings.HasPrefix(s.Sel.Name, "Once")
		}
		_, function := n.(*ast.FuncLit)
		return !function
	})
	return state
}
