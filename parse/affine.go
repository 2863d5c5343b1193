package parse

import "strconv"

// affineText spaces the text of an affine map or set as MLIR does and names its dimensions d0, d1, ... and its symbols
// s0, s1, .... Expressions are not simplified.
func affineText(text string) string {
	tokens := affineTokens(text)
	names := map[string]string{}
	dims, syms := 0, 0
	// The declarations: affine_map<(a, b)[c] ->
	closing := ""
	for i, t := range tokens {
		switch {
		case t == "->" || t == ":":
			closing = "done"
		case closing == "done":
		case t == "(" && closing == "":
			closing = ")"
		case t == "[" && closing == "":
			closing = "]"
		case t == closing:
			closing = ""
		case closing == ")" && isName(t):
			names[t] = "d" + strconv.Itoa(dims)
			dims++
		case closing == "]" && isName(t):
			names[t] = "s" + strconv.Itoa(syms)
			syms++
		}
		if closing == "done" || i > 200 {
			break
		}
	}
	out := make([]byte, 0, len(text)+8)
	for i, t := range tokens {
		switch t {
		case "->", "+", "*", "==", ">=", "<=", "mod", "floordiv", "ceildiv", ":":
			out = append(append(append(out, ' '), t...), ' ')
		case "-":
			if i > 0 && (isName(tokens[i-1]) || isNumber(tokens[i-1]) || tokens[i-1] == ")") {
				out = append(out, " - "...)
			} else {
				out = append(out, '-')
			}
		case ",":
			out = append(out, ", "...)
		default:
			if n, ok := names[t]; ok {
				t = n
			}
			out = append(out, t...)
		}
	}
	return string(out)
}

func isName(t string) bool   { return class[t[0]]&clsStart != 0 }
func isNumber(t string) bool { return class[t[0]]&clsDigit != 0 }

func affineTokens(text string) []string {
	var out []string
	for i := 0; i < len(text); {
		c := text[i]
		j := i + 1
		switch {
		case class[c]&clsSpace != 0:
			i++
			continue
		case class[c]&(clsStart|clsDigit) != 0:
			for j < len(text) && class[text[j]]&clsIdent != 0 {
				j++
			}
		case j < len(text) && (text[i:j+1] == "->" || text[i:j+1] == "==" || text[i:j+1] == ">=" || text[i:j+1] == "<="):
			j++
		}
		out = append(out, text[i:j])
		i = j
	}
	return out
}
