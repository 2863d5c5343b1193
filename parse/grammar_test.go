package parse_test

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
)

// A node is a part of a grammar's rule.
type node struct {
	kind  byte // 'l' a literal, 'c' one of some characters, 'r' a rule, 's' a sequence, 'a' alternatives, and ? * +
	text  string
	parts []*node
}

// item matches the next item of a rule.
var item = regexp.MustCompile(`^\s*('[^']+'|/[^/]+/|[a-z0-9-]+|[()|?*+])`)

// readGrammar returns the rules of grammar.md: indented lines 'name ::= ...' and the lines that continue them. The
// rules under the heading Tokens are in words.
func readGrammar(t *testing.T) (rules map[string]*node, words map[string]bool) {
	t.Helper()
	text, err := os.ReadFile("grammar.md")
	if err != nil {
		t.Fatal(err)
	}
	texts, last, heading := map[string]string{}, "", ""
	words = map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			heading = strings.TrimSpace(line)
		}
		line, indented := strings.CutPrefix(line, "    ")
		if !indented {
			continue
		}
		if name, rule, ok := strings.Cut(line, "::="); ok {
			last = strings.TrimSpace(name)
			texts[last] = rule
			words[last] = heading == "## Tokens"
		} else {
			texts[last] += line
		}
	}
	rules = map[string]*node{}
	for name, text := range texts {
		n, rest := alternatives(text)
		if strings.TrimSpace(rest) != "" {
			t.Fatalf("grammar.md: rule %s: cannot read %q", name, rest)
		}
		rules[name] = n
	}
	return rules, words
}

func alternatives(text string) (*node, string) {
	n := &node{kind: 'a'}
	for {
		var s *node
		s, text = sequence(text)
		n.parts = append(n.parts, s)
		m := item.FindStringSubmatch(text)
		if m == nil || m[1] != "|" {
			return n, text
		}
		text = text[len(m[0]):]
	}
}

func sequence(text string) (*node, string) {
	s := &node{kind: 's'}
	for {
		m := item.FindStringSubmatch(text)
		if m == nil || m[1] == "|" || m[1] == ")" {
			return s, text
		}
		text = text[len(m[0]):]
		n := &node{kind: 'r', text: m[1]}
		switch c := m[1][0]; c {
		case '\'':
			n = &node{kind: 'l', text: m[1][1 : len(m[1])-1]}
		case '/':
			n = &node{kind: 'c', text: m[1][1 : len(m[1])-1]}
		case '(':
			n, text = alternatives(text)
			text = text[len(item.FindString(text)):] // the ')'
		case '?', '*', '+':
			last := &s.parts[len(s.parts)-1]
			*last = &node{kind: c, parts: []*node{*last}}
			continue
		}
		s.parts = append(s.parts, n)
	}
}

// generator writes random sentences.
type generator struct {
	rules map[string]*node
	words map[string]bool
	cost  map[*node]int // a lower bound of the depth of rules below the node
	rnd   *rand.Rand
	t     *testing.T
	keys  int
}

// expense returns the least depth of rules that n needs.
func (g *generator) expense(n *node) int {
	if c, ok := g.cost[n]; ok {
		return c
	}
	g.cost[n] = 1000 // until it is known: a rule that needs itself
	c := 0
	switch n.kind {
	case 'r':
		if r := g.rules[n.text]; r != nil {
			c = 1 + g.expense(r)
		}
	case 's':
		for _, p := range n.parts {
			c = max(c, g.expense(p))
		}
	case 'a':
		c = 1000
		for _, p := range n.parts {
			c = min(c, g.expense(p))
		}
	case '+':
		c = g.expense(n.parts[0])
	}
	if c >= 1000 {
		delete(g.cost, n) // it was found inside itself
		return c
	}
	g.cost[n] = c
	return c
}

// write appends a sentence of n. Below depth 0 it takes the shortest way. space puts spaces between tokens.
func (g *generator) write(b *strings.Builder, n *node, depth int, space bool) {
	switch n.kind {
	case 'l', 'c':
		if n.kind == 'l' {
			b.WriteString(n.text)
		} else {
			b.WriteByte(n.text[g.rnd.IntN(len(n.text))])
		}
		if space {
			b.WriteString([]string{" ", " ", "\n", " // c\n"}[g.rnd.IntN(4)])
		}
	case 'r':
		switch n.text {
		case "key-unique":
			g.keys++
			b.WriteString("k" + strings.Repeat("x", g.keys) + " ")
		case "pretty-op": // no dialect is registered
			b.WriteString(`"a.b"() : () -> () `)
		case "alias-use-type":
			b.WriteString("!alias ")
		case "alias-use-attr":
			b.WriteString("#alias ")
		case "alias-use-loc":
			b.WriteString("#loc ")
		default:
			r := g.rules[n.text]
			if r == nil {
				g.t.Fatalf("grammar.md has no rule %q", n.text)
			}
			word := g.words[n.text]
			g.write(b, r, depth-1, space && !word)
			if space && word {
				b.WriteByte(' ')
			}
		}
	case 's':
		for _, p := range n.parts {
			g.write(b, p, depth, space)
		}
	case 'a':
		best := n.parts[g.rnd.IntN(len(n.parts))]
		if depth < 0 {
			for _, p := range n.parts {
				if g.expense(p) < g.expense(best) {
					best = p
				}
			}
		}
		g.write(b, best, depth, space)
	default:
		least, most := 0, 3
		if n.kind == '+' {
			least = 1
		}
		if n.kind == '?' {
			most = 1
		}
		if depth < 0 {
			most = least
		}
		for range least + g.rnd.IntN(most-least+1) {
			g.write(b, n.parts[0], depth, space)
		}
	}
}

// undecided are mistakes that the grammar does not exclude.
var undecided = regexp.MustCompile(`use of undeclared SSA|undefined block|redefinition of|operand types? but had|` +
	`results? but was provided|with no results|out of range|at least 1 result|value too large|expected integer line number|invalid SSA value result number`)

// TestGrammar reads random sentences of grammar.md.
func TestGrammar(t *testing.T) {
	g := &generator{cost: map[*node]int{}, rnd: rand.New(rand.NewPCG(1, 2)), t: t}
	g.rules, g.words = readGrammar(t)
	for name, frame := range map[string][2]string{
		"attribute": {`"a.b"() {x = `, `} : () -> ()`},
		"type":      {`"a.b"() : () -> (`, `)`},
		"location":  {`"a.b"() : () -> () `, ``},
		"operation": {``, ``},
		"file":      {``, ``},
	} {
		read := 0
		for range 2000 {
			var b strings.Builder
			g.keys = 0
			g.write(&b, &node{kind: 'r', text: name}, 6, true)
			in := "!alias = i32\n#alias = 1 : i8\n#loc = loc(unknown)\n" + frame[0] + b.String() + frame[1]
			_, err := text(in)
			if err == nil {
				read++
			} else if !undecided.MatchString(err.Error()) {
				t.Fatalf("%s: %v\n%s", name, err, in)
			}
		}
		t.Logf("%s: read %d of 2000 sentences", name, read)
		if read < 100 {
			t.Errorf("%s: read only %d of 2000 sentences", name, read)
		}
	}
}
