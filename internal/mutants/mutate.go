package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// A mutant is one change of a source file.
type mutant struct {
	id       int // from 1 in its package
	File     string
	Line     int
	Function string
	Change   string // "before => after"
	key      string // names the mutant without its line
}

// prefix begins the names of the functions in the file that support.go adds to the package.
const prefix = "mutants__"

// A mutator collects the mutants of one package, and the edits that turn a file's text into one with all of them.
type mutator struct {
	fset     *token.FileSet
	pkg      *types.Package
	info     *types.Info
	names    map[string]int // number of mutants with a key
	mutants  []*mutant
	source   []byte
	base     int // of the file in fset
	file     string
	function string
	edits    []edit
	skip     map[ast.Node]bool // nodes without mutants
}

// An edit replaces the text between two offsets of a file.
type edit struct {
	from, to int
	text     string
}

// mutate returns the text of a file with all its mutants.
func (m *mutator) mutate(f *ast.File, name string, source []byte) []byte {
	m.source, m.file, m.base, m.edits, m.skip = source, name, m.fset.File(f.Pos()).Base(), nil, map[ast.Node]bool{}
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				m.function = functionName(d)
				m.results(d.Body, d.Type)
				m.visit(d.Body)
			}
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				for _, s := range d.Specs {
					m.function = s.(*ast.ValueSpec).Names[0].Name
					for _, v := range s.(*ast.ValueSpec).Values {
						m.visit(v)
					}
				}
			}
		}
	}
	slices.SortStableFunc(m.edits, func(a, b edit) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, e := range m.edits {
		out = append(append(out, source[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, source[at:]...)
}

func functionName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	if s, ok := t.(*ast.StarExpr); ok {
		t = s.X
	}
	switch x := t.(type) {
	case *ast.IndexExpr:
		t = x.X
	case *ast.IndexListExpr:
		t = x.X
	}
	return types.ExprString(t) + "." + d.Name.Name
}

var blanks = regexp.MustCompile(`\s+`)

// add makes a mutant and returns its id.
func (m *mutator) add(n ast.Node, change string) int {
	change = blanks.ReplaceAllString(change, " ")
	if r := []rune(change); len(r) > 120 {
		change = string(r[:120]) + "..."
	}
	key := m.function + ": " + change
	if m.names[key]++; m.names[key] > 1 {
		key = fmt.Sprintf("%s (%d)", key, m.names[key])
	}
	m.mutants = append(m.mutants, &mutant{
		id: len(m.mutants) + 1, File: m.file, Line: m.fset.Position(n.Pos()).Line, Function: m.function, Change: change, key: key,
	})
	return len(m.mutants)
}

func (m *mutator) offset(p token.Pos) int { return int(p) - m.base }

func (m *mutator) text(n ast.Node) string {
	return string(m.source[m.offset(n.Pos()):m.offset(n.End())])
}

func (m *mutator) insert(p token.Pos, format string, args ...any) {
	m.edits = append(m.edits, edit{m.offset(p), m.offset(p), fmt.Sprintf(format, args...)})
}

func (m *mutator) replace(p token.Pos, length int, text string) {
	m.edits = append(m.edits, edit{m.offset(p), m.offset(p) + length, text})
}

// wrap puts text before and after n, around all text that visiting n inserts.
func (m *mutator) wrap(n ast.Node, before, after string, visit func()) {
	m.insert(n.Pos(), "%s", before)
	visit()
	m.insert(n.End(), "%s", after)
}

// visit adds the mutants in n.
func (m *mutator) visit(n ast.Node) {
	if n == nil || m.skip[n] {
		return
	}
	switch n := n.(type) {
	case *ast.FuncLit:
		m.results(n.Body, n.Type)
	case *ast.GenDecl:
		if n.Tok != token.VAR {
			return
		}
	case *ast.ArrayType, *ast.FuncType, *ast.StructType, *ast.InterfaceType, *ast.MapType, *ast.ChanType, *ast.Ident, *ast.SelectorExpr:
		if s, ok := n.(*ast.SelectorExpr); ok {
			m.visit(s.X)
		}
		return
	case *ast.BasicLit:
		m.number(n)
		return
	case *ast.BinaryExpr:
		if m.constant(n) {
			return
		}
		m.binary(n)
		return
	case *ast.BlockStmt:
		m.statements(n.List)
		return
	case *ast.CaseClause:
		for _, e := range n.List {
			m.condition(e)
		}
		m.statements(n.Body)
		return
	case *ast.CommClause:
		m.statements(n.Body)
		return
	case *ast.IfStmt:
		if n.Init != nil {
			m.visit(n.Init)
		}
		m.condition(n.Cond)
		m.visit(n.Body)
		if n.Else != nil {
			m.visit(n.Else)
		}
		return
	case *ast.ForStmt:
		if n.Init != nil {
			m.visit(n.Init)
		}
		if n.Cond != nil {
			m.condition(n.Cond)
		}
		if n.Post != nil {
			m.visit(n.Post)
		}
		m.visit(n.Body)
		return
	case *ast.ReturnStmt:
		fails := m.fails(n)
		for _, e := range n.Results {
			if t := m.info.Types[e]; !fails || t.Value == nil || !zero(t.Value) {
				m.condition(e)
			}
		}
		return
	case *ast.CallExpr:
		m.visit(n.Fun)
		if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok && (id.Name == "make" || id.Name == "panic") {
			return // a capacity, or a message
		}
		if f, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok && f.Sel.Name == "Grow" && len(n.Args) == 2 {
			m.condition(n.Args[0])
			return // slices.Grow: a capacity
		}
		for _, e := range n.Args {
			m.condition(e)
		}
		return
	case *ast.AssignStmt:
		for _, e := range n.Lhs {
			m.visit(e)
		}
		for _, e := range n.Rhs {
			m.condition(e)
		}
		return
	case *ast.KeyValueExpr:
		if t := m.info.Types[n.Key]; t.Value == nil {
			if _, ok := n.Key.(*ast.Ident); !ok {
				m.visit(n.Key)
			}
		}
		m.condition(n.Value)
		return
	}
	m.children(n)
}

// fails reports whether a return statement gives an error: callers do not read the results beside it.
func (m *mutator) fails(n *ast.ReturnStmt) bool {
	if len(n.Results) < 2 {
		return false
	}
	t := m.info.Types[n.Results[len(n.Results)-1]]
	return t.Type != nil && !t.IsNil() && types.Implements(t.Type, types.Universe.Lookup("error").Type().Underlying().(*types.Interface))
}

func zero(v constant.Value) bool { return v.ExactString() == "0" || v.ExactString() == "false" }

func (m *mutator) children(n ast.Node) {
	ast.Inspect(n, func(c ast.Node) bool {
		if c == nil || c == n {
			return true
		}
		m.visit(c)
		return false
	})
}

// condition adds the mutants of an expression, and negates it if it is a bool that is not made by an operator with
// mutants of its own.
func (m *mutator) condition(e ast.Expr) {
	if m.isBool(e) {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident, *ast.SelectorExpr, *ast.CallExpr, *ast.IndexExpr, *ast.StarExpr, *ast.TypeAssertExpr:
			m.negate(x, "!"+m.text(x), func() { m.visit(x) })
			return
		case *ast.UnaryExpr:
			m.negate(x, m.text(x.X), func() { m.visit(x) })
			return
		}
	}
	m.visit(e)
}

// isBool reports whether e is a value of type bool, or an untyped one.
func (m *mutator) isBool(e ast.Expr) bool {
	t, ok := m.info.Types[e]
	return ok && t.IsValue() && (types.Identical(t.Type, types.Typ[types.Bool]) || t.Type == types.Typ[types.UntypedBool])
}

func (m *mutator) negate(x ast.Expr, after string, visit func()) {
	id := m.add(x, m.text(x)+" => "+after)
	m.wrap(x, "((", fmt.Sprintf(") != %sis(%d))", prefix, id), visit)
}

func (m *mutator) constant(e ast.Expr) bool { return m.info.Types[e].Value != nil }

// number adds one to a constant of an integer type.
func (m *mutator) number(n *ast.BasicLit) {
	t := m.info.Types[n]
	if n.Kind != token.INT || t.Type == nil || t.Value == nil {
		return
	}
	b, ok := t.Type.(*types.Basic)
	if !ok || b.Info()&types.IsInteger == 0 || b.Info()&types.IsUntyped != 0 {
		return
	}
	after := constant.BinaryOp(t.Value, token.ADD, constant.MakeInt64(1)).String()
	id := m.add(n, m.text(n)+" => "+after)
	m.insert(n.End(), " + %sone[%s](%d)", prefix, b.Name(), id)
	m.insert(n.Pos(), "(")
	m.insert(n.End(), ")")
}

// binaryFunctions are the functions of support.go for an operator, with the operators of the mutants.
var binaryFunctions = map[token.Token]struct {
	name  string
	after []token.Token
}{
	token.LSS: {"less", []token.Token{token.LEQ, token.GEQ}},
	token.LEQ: {"lessEqual", []token.Token{token.LSS, token.GTR}},
	token.GTR: {"greater", []token.Token{token.GEQ, token.LEQ}},
	token.GEQ: {"greaterEqual", []token.Token{token.GTR, token.LSS}},
	token.ADD: {"add", []token.Token{token.SUB}},
	token.SUB: {"sub", []token.Token{token.ADD}},
	token.MUL: {"mul", []token.Token{token.QUO}},
	token.QUO: {"quo", []token.Token{token.MUL}},
	token.REM: {"rem", []token.Token{token.MUL}},
	token.AND: {"and", []token.Token{token.OR}},
	token.OR:  {"or", []token.Token{token.AND}},
	token.SHL: {"shl", []token.Token{token.SHR}},
	token.SHR: {"shr", []token.Token{token.SHL}},
}

func (m *mutator) binary(n *ast.BinaryExpr) {
	x, y := m.text(n.X), m.text(n.Y)
	before := m.text(n)
	switch n.Op {
	case token.EQL, token.NEQ:
		after := token.EQL
		if n.Op == token.EQL {
			after = token.NEQ
		}
		m.negate(n, x+" "+after.String()+" "+y, func() { m.visit(n.X); m.visit(n.Y) })
		return
	case token.LAND, token.LOR:
		if !m.isBool(n.X) || !m.isBool(n.Y) { // a bool of C
			m.condition(n.X)
			m.condition(n.Y)
			return
		}
		after := token.LAND
		if n.Op == token.LAND {
			after = token.LOR
		}
		// With m = is(id): a && b is ((a != m) && (b != m)) != m, which is a || b if m is true.
		id := m.add(n, before+" => "+x+" "+after.String()+" "+y)
		keepX, keepY := m.add(n, before+" => "+x), m.add(n, before+" => "+y)
		op, not := "||", ""
		if n.Op == token.LOR {
			op, not = "&&", "!"
		}
		side := func(e ast.Expr, dropped int) {
			m.wrap(e, "(((", fmt.Sprintf(") %s %s%sis(%d)) != %sis(%d))", op, not, prefix, dropped, prefix, id), func() { m.condition(e) })
		}
		m.wrap(n, "((", fmt.Sprintf(") != %sis(%d))", prefix, id), func() { side(n.X, keepY); side(n.Y, keepX) })
		return
	}
	f, ok := binaryFunctions[n.Op]
	if !ok || !m.plainOperands(n) {
		m.visit(n.X)
		m.visit(n.Y)
		return
	}
	first := 0
	for _, op := range f.after {
		if id := m.add(n, before+" => "+x+" "+op.String()+" "+y); first == 0 {
			first = id
		}
	}
	m.wrap(n, fmt.Sprintf("%s%s(%d, ", prefix, f.name, first), ")", func() {
		if len(f.after) > 1 { // a constant beside + is no comparison's bound
			m.visit(n.X)
		} else {
			m.visitVariable(n.X)
		}
		m.replace(n.OpPos, len(n.Op.String()), ",")
		if len(f.after) > 1 {
			m.visit(n.Y)
		} else {
			m.visitVariable(n.Y)
		}
	})
}

// visitVariable visits an operand that is not a constant.
func (m *mutator) visitVariable(e ast.Expr) {
	if !m.constant(e) {
		m.visit(e)
	}
}

// plainOperands reports whether the operands of n can be arguments of a generic function: both have the same type, a
// basic one or one based on it, and no untyped constant is shifted in them.
func (m *mutator) plainOperands(n *ast.BinaryExpr) bool {
	x, y := m.info.Types[n.X], m.info.Types[n.Y]
	if x.Type == nil || y.Type == nil {
		return false
	}
	shift := n.Op == token.SHL || n.Op == token.SHR
	if !shift && !types.Identical(x.Type, y.Type) {
		return false
	}
	operands := []types.Type{x.Type, y.Type}
	if shift && m.constant(n.Y) {
		operands = operands[:1]
	}
	for _, t := range operands {
		b, ok := t.Underlying().(*types.Basic)
		_, parameter := types.Unalias(t).(*types.TypeParam)
		numbers := b != nil && b.Info()&types.IsNumeric != 0 && b.Info()&types.IsComplex == 0
		text := b != nil && b.Info()&types.IsString != 0 && len(binaryFunctions[n.Op].after) > 1
		if !ok || parameter || b.Info()&types.IsUntyped != 0 || !numbers && !text {
			return false
		}
		if b.Info()&types.IsInteger == 0 && (n.Op == token.REM || n.Op == token.AND || n.Op == token.OR || shift) {
			return false
		}
	}
	if m.constant(n.X) && shift || m.constant(n.X) && m.constant(n.Y) {
		return false
	}
	plain := true
	ast.Inspect(n, func(c ast.Node) bool {
		if s, ok := c.(*ast.BinaryExpr); ok && (s.Op == token.SHL || s.Op == token.SHR) && m.constant(s.X) {
			plain = false
		}
		return plain
	})
	return plain
}

// results notes that a return statement in the body of a function without results can be dropped.
func (m *mutator) results(body *ast.BlockStmt, t *ast.FuncType) {
	if t.Results != nil && len(t.Results.List) > 0 {
		return
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if b, ok := n.(*ast.BlockStmt); ok && b == body {
			return true
		}
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if r, ok := n.(*ast.ReturnStmt); ok {
			m.skip[r] = true
		}
		return true
	})
}

// statements adds the mutants of a list of statements.
func (m *mutator) statements(list []ast.Stmt) {
	for _, s := range list {
		if !m.droppable(s) {
			m.visit(s)
			continue
		}
		id := m.add(s, "drop "+m.text(s))
		m.wrap(s, fmt.Sprintf("if !%sis(%d) { ", prefix, id), " }", func() {
			if !m.skip[s] {
				m.visit(s)
			}
		})
	}
}

func (m *mutator) droppable(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt:
		c, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		id, ok := ast.Unparen(c.Fun).(*ast.Ident)
		return !ok || id.Name != "panic"
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			return false
		}
		return !strings.HasPrefix(m.text(s), "_ =")
	case *ast.BranchStmt:
		return s.Tok == token.BREAK || s.Tok == token.CONTINUE
	case *ast.ReturnStmt:
		return m.skip[s]
	case *ast.IncDecStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt:
		return true
	}
	return false
}
