package hlo

import (
	"go/ast"
	goparser "go/parser"
	gotoken "go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestOpcodesExist: a name of an instruction that the package compares with, looks up or makes is in the table. A
// misspelled name would compile, and never match.
func TestOpcodesExist(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset, checked := gotoken.NewFileSet(), 0
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := goparser.ParseFile(fset, path, nil, goparser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range opcodeLiterals(f) {
			checked++
			if name, err := strconv.Unquote(l.Value); err != nil || opcodes[name] == nil {
				t.Errorf("%s: no instruction is called %s", fset.Position(l.Pos()), l.Value)
			}
		}
	}
	if checked < 100 {
		t.Errorf("found %d names of instructions, of more than 100", checked)
	}
}

// opcodeLiterals returns the literals of f that are names of instructions: cases and operands of comparisons beside
// op.name, keys of opcodes, and second arguments of make and collective.
func opcodeLiterals(f *ast.File) (list []*ast.BasicLit) {
	add := func(exprs ...ast.Expr) {
		for _, e := range exprs {
			if l, ok := e.(*ast.BasicLit); ok && l.Kind == gotoken.STRING {
				list = append(list, l)
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SwitchStmt:
			assigned, _ := n.Init.(*ast.AssignStmt)
			if isOpName(n.Tag) || assigned != nil && n.Tag != nil && isOpName(assigned.Rhs[0]) {
				for _, c := range n.Body.List {
					add(c.(*ast.CaseClause).List...)
				}
			}
		case *ast.BinaryExpr:
			if n.Op != gotoken.ADD && isOpName(n.X) {
				add(n.Y)
			}
		case *ast.IndexExpr:
			if table, ok := n.X.(*ast.Ident); ok && table.Name == "opcodes" {
				add(n.Index)
			}
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) > 1 && (s.Sel.Name == "make" || s.Sel.Name == "collective") {
				add(n.Args[1])
			}
		}
		return true
	})
	return list
}

// isOpName reports whether e is op.name or X.op.name.
func isOpName(e ast.Expr) bool {
	name, ok := e.(*ast.SelectorExpr)
	if !ok || name.Sel.Name != "name" {
		return false
	}
	switch row := name.X.(type) {
	case *ast.Ident:
		return row.Name == "op"
	case *ast.SelectorExpr:
		return row.Sel.Name == "op"
	}
	return false
}
