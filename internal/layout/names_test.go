package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/all"
)

// namesAllowed are the packages whose files may name ops and attributes as text.
var namesAllowed = map[string]string{
	"dialect":          "the rows themselves",
	"internal/dialect": "the rows themselves",
	"ir":               "builtin.module, which every module has without a registry",
	"parse":            "the reader knows no dialect; it makes builtin.module",
	"rewrite":          "builtin.unrealized_conversion_cast: rewriting knows no dialect",
	"bytecode":         "the binary form knows no dialect; it makes builtin.module",

	"internal/assembly": "the compiler of formats knows no dialect; it knows the attributes with the sizes of groups",
	"internal/opgen":    "writes programs as text, and its notes are read beside the specification",
	"internal/randprog": "writes programs as text",
	"internal/numerics": "writes programs as text",
	"internal/bench":    "writes programs as text",
	"examples/pass":     "a module of another author, with rows of its own",
	"internal/gen":      "joins the rows with the samples in testdata/ops",
}

// attrMethods are the methods that take the name of an attribute of an op.
var attrMethods = map[string]bool{"Attr": true, "SetAttr": true, "RemoveAttr": true}

// dictionaryWords are names of entries of dictionaries that are names of attributes of ops, too, by file.
var dictionaryWords = map[string]bool{"hook/format/own.go kind": true, "hook/format/probe.go kind": true}

// TestOpsByRow fails if a package outside of dialect names an op or an inherent attribute by a string: a misspelled
// string compiles and never matches. Rows (stablehlo.While) and the constants of views (stablehlo.AttrDimension) do
// not.
func TestOpsByRow(t *testing.T) {
	ops, attrs := map[string]bool{}, map[string]bool{}
	for _, d := range all.Dialects() {
		for _, op := range d.Ops {
			ops[op.Name] = true
			for _, a := range op.Attrs {
				attrs[a.Name] = attrs[a.Name] || d.Name != "hlocb" // its attributes have the names in the formats' dictionaries
			}
		}
	}
	// discardable matches the names of discardable attributes in the namespaces of dialects and of JAX.
	discardable := regexp.MustCompile(`^(mhlo|sdy|stablehlo|chlo|jax|tf)\.[a-z_]+$`)
	// compound matches names with more than one word: such a string is the name of an attribute, wherever it stands. HLO
	// has words of its own that are the same.
	compound := regexp.MustCompile(`_|[a-z][A-Z]`)
	root := "../.."
	constants := stringConstants(t, root)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if e.IsDir() {
			if name := e.Name(); path != root && (name[0] == '.' || name[0] == '_' || name == "testdata") || namesAllowed[filepath.ToSlash(rel)] != "" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.BasicLit:
				if s, ok := text(n); ok && ops[s] {
					t.Errorf("%s: op %q is named by a string; use its row", set.Position(n.Pos()), s)
				} else if ok && (discardable.MatchString(s) || attrs[s] && compound.MatchString(s) && !strings.HasPrefix(filepath.ToSlash(rel), "hlo/")) {
					t.Errorf("%s: attribute %q is named by a string; use its constant", set.Position(n.Pos()), s)
				}
			case *ast.BinaryExpr:
				if s, ok := value(n, nil); ok && (ops[s] || discardable.MatchString(s)) {
					t.Errorf("%s: %q is joined from strings; use its row or constant", set.Position(n.Pos()), s)
				}
			case *ast.CompositeLit:
				name := attrName(n)
				if s, ok := value(name, constants[filepath.Dir(path)]); ok && attrs[s] && !dictionaryWords[filepath.ToSlash(rel)+" "+s] {
					t.Errorf("%s: attribute %q is named by a string; use its constant", set.Position(n.Pos()), s)
				}
			case *ast.CallExpr:
				sel, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || !attrMethods[sel.Sel.Name] || len(n.Args) == 0 {
					return true
				}
				if s, ok := value(n.Args[0], constants[filepath.Dir(path)]); ok && attrs[s] {
					t.Errorf("%s: attribute %q is named by a string; use a view or its constant", set.Position(n.Pos()), s)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// attrName returns the name in a literal of an ir.NamedAttr, whose type may be left out in a list, or nil if n is none.
func attrName(n *ast.CompositeLit) ast.Expr {
	var name, attr ast.Expr
	for _, e := range n.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			switch k, _ := kv.Key.(*ast.Ident); {
			case k == nil:
			case k.Name == "Name":
				name = kv.Value
			case k.Name == "Attr":
				attr = kv.Value
			}
		}
	}
	if sel, ok := n.Type.(*ast.SelectorExpr); attr != nil && n.Type == nil || ok && sel.Sel.Name == "NamedAttr" {
		return name
	}
	return nil
}

// value returns the value of a string literal, a sum of literals, or a name in constants.
func value(e ast.Expr, constants map[string]string) (string, bool) {
	switch e := e.(type) {
	case *ast.Ident:
		s, ok := constants[e.Name]
		return s, ok
	case *ast.BinaryExpr:
		x, ok := value(e.X, constants)
		y, ok2 := value(e.Y, constants)
		return x + y, ok && ok2 && e.Op == token.ADD
	}
	return text(e)
}

// stringConstants returns the constants of each directory that are declared as strings.
func stringConstants(t *testing.T, root string) map[string]map[string]string {
	out := map[string]map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.Contains(path, "testdata") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			d, ok := n.(*ast.GenDecl)
			if !ok || d.Tok != token.CONST {
				return true
			}
			for _, spec := range d.Specs {
				for i, v := range spec.(*ast.ValueSpec).Values {
					if s, ok := value(v, nil); ok {
						dir := filepath.Dir(path)
						if out[dir] == nil {
							out[dir] = map[string]string{}
						}
						out[dir][spec.(*ast.ValueSpec).Names[i].Name] = s
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// text returns the value of a string literal.
func text(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(l.Value)
	return s, err == nil
}
