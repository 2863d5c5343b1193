package hlo

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// attrSpec is one row of the table of attributes.
type attrSpec struct {
	name     string
	kind     attrKind
	enum     []string // of kEnum and kEnums
	anyCase  bool     // accept words in upper and lower case
	required bool
	// omit reports whether a value is the default, which is neither kept nor printed.
	omit func(any) bool
	// always is the value that is kept and printed if the text states none.
	always any
}

// attrKind is the syntax of an attribute's values.
type attrKind uint8

const (
	kInt attrKind = iota
	kBool
	kFloat
	kString
	kRaw // a string, or a dictionary in braces that is kept verbatim
	kInts
	kIntLists
	kBools
	kEnum
	kEnums
	kWindow
	kDimLabels
	kPadding
	kSlice
	kComputation
	kComputations
	kInstrs
	kShape
	kShapes
	kLiteral
	kGroups
	kSharding
	kDomain
	kPairs
	kAliasing
	kStatistics
	kAccuracy
	kOrigin
	kMetadata
	kSparsity
	kBlockScaling
)

// attrValue reads the value of attribute s; in is nil for attributes of a module.
func (p *parser) attrValue(in *instr, s *attrSpec) any {
	switch s.kind {
	case kInt:
		return p.int64()
	case kBool:
		return p.bool()
	case kFloat:
		return float64(float32(p.double()))
	case kString:
		return p.str()
	case kRaw:
		return p.stringOrDict()
	case kInts:
		return p.ints('{', '}')
	case kIntLists:
		lists := p.intLists()
		if s == aPairs {
			for _, l := range lists {
				if len(l) != 2 {
					p.failToken("expected pairs in source_target_pairs")
				}
			}
		}
		return lists

	case kBools:
		list := p.bools()
		if in != nil && in.shape.leaves() != len(list) {
			p.failToken("the value has %d arrays, but parameter_replication %d elements", in.shape.leaves(), len(list))
		}
		return list

	case kEnum:
		return p.enum(s)
	case kEnums:
		list := []int64{}
		p.list('{', '}', func() { list = append(list, p.enum(s)) })
		return list

	case kWindow:
		return p.window()
	case kDimLabels:
		return p.dimLabels()
	case kPadding:
		return p.paddingConfig()
	case kSlice:
		return p.sliceRanges()
	case kComputation:
		return p.callee()
	case kComputations:
		list := []*computation{}
		p.list('{', '}', func() { list = append(list, p.callee()) })
		return list

	case kInstrs:
		list := []*instr{}
		p.list('{', '}', func() { list = append(list, p.instrByName()) })
		if len(list) == 0 {
			p.failToken("%s needs a name", s.name)
		}
		return list

	case kShape:
		return p.shape()
	case kShapes:
		list := []*shape{}
		p.list('{', '}', func() { list = append(list, p.shape()) })
		return list

	case kLiteral:
		return p.literalWithShape()
	case kGroups:
		return p.replicaGroups()
	case kSharding:
		return p.sharding()
	case kDomain:
		return p.domain()
	case kPairs:
		return p.pairs()
	case kAliasing:
		return p.operandAliases()
	case kStatistics:
		return p.statistics()
	case kAccuracy:
		return p.accuracy()
	case kOrigin:
		return p.origin()
	case kMetadata:
		return p.metadata()
	case kSparsity:
		return p.sparsityConfig()
	case kBlockScaling:
		return p.blockScalingConfig()
	}
	panic("hlo: attribute " + s.name + " has no kind")
}

// appendAttr appends the value v of attribute s.
func (w *writer) appendAttr(b []byte, s *attrSpec, v any) []byte {
	switch s.kind {
	case kInt:
		return strconv.AppendInt(b, v.(int64), 10)
	case kBool:
		return strconv.AppendBool(b, v.(bool))
	case kFloat:
		return appendFloat(b, f32, uint64(math.Float32bits(float32(v.(float64)))))

	case kString:
		return appendQuoted(b, v.(string))
	case kRaw:
		return appendStringOrDict(b, v.(string))
	case kInts:
		return appendBraced(b, v.([]int64))
	case kIntLists:
		return appendLists(b, v.([][]int64))
	case kBools:
		return appendBools(b, v.([]bool))
	case kEnum:
		return append(b, s.enumName(v.(int64))...)
	case kEnums:
		return appendItems(b, ",", v.([]int64), func(b []byte, e int64) []byte { return append(b, s.enumName(e)...) })
	case kWindow:
		return appendWindow(b, v.(window))
	case kDimLabels:
		d := v.(convDims)
		b = append(append(b, d.input...), '_')
		b = append(append(b, d.kernel...), "->"...)
		return append(b, d.output...)

	case kPadding:
		return appendPadding(b, v.([]paddingDim))
	case kSlice:
		return appendSlice(b, v.([]sliceDim))
	case kComputation:
		return w.appendName(b, v.(*computation).name)
	case kComputations:
		return appendItems(b, ", ", v.([]*computation), func(b []byte, c *computation) []byte { return w.appendName(b, c.name) })
	case kInstrs:
		return appendItems(b, ", ", v.([]*instr), func(b []byte, in *instr) []byte { return w.appendName(b, in.name) })
	case kShape:
		return appendShape(b, v.(*shape), true)
	case kShapes:
		return appendItems(b, ", ", v.([]*shape), func(b []byte, s *shape) []byte { return appendShape(b, s, true) })
	case kLiteral:
		return w.appendTypedLiteral(b, v.(*literal))
	case kGroups:
		return v.(*replicaGroups).append(b)
	case kSharding:
		return v.(*sharding).append(b)
	case kDomain:
		d := v.(*domain)
		b = append(b, "{kind="...)
		b = appendQuoted(b, d.kind)
		b = d.entry.append(append(b, ", entry="...))
		b = d.exit.append(append(b, ", exit="...))
		return append(b, '}')

	case kPairs:
		return appendPairs(b, v.([]pair))
	case kAliasing:
		return appendItems(b, ", ", v.([]valueAlias), func(b []byte, a valueAlias) []byte { return append(a.append(b), ')') })
	case kStatistics:
		return v.(*statistics).append(b)
	case kAccuracy:
		return v.(*accuracy).append(b)
	case kOrigin:
		return v.(*origin).append(b)
	case kMetadata:
		return v.(*metadata).append(b)
	case kSparsity:
		return v.(*sparsityConfig).append(b)
	case kBlockScaling:
		return v.(*blockScalingConfig).append(b)
	}
	panic("hlo: attribute " + s.name + " has no kind")
}

// Predicates for default values.
func always(any) bool            { return true }
func isFalse(v any) bool         { return v == false }
func isZero(v any) bool          { return v == int64(0) }
func isOne(v any) bool           { return v == int64(1) }
func isMinusOne(v any) bool      { return v == int64(-1) }
func isEmptyString(v any) bool   { return v == "" }
func isMainThread(v any) bool    { return v == "" || v == mainThread }
func isEmptyWindow(v any) bool   { return len(v.(window)) == 0 }
func isEmpty[T any](v any) bool  { return len(v.([]T)) == 0 }
func noStatistics(v any) bool    { return len(v.(*statistics).list) == 0 }
func defaultAccuracy(v any) bool { a := v.(*accuracy); return a.mode == 0 && !a.tolerance }
func allZero(v any) bool {
	for _, e := range v.([]int64) {
		if e != 0 {
			return false
		}
	}
	return true
}
func noMetadata(v any) bool {
	m := v.(*metadata)
	return m.opType == "" && m.opName == "" && m.sourceFile == "" && m.schedulingName == "" && m.frame == 0 && m.payload == nil
}

// mainThread is the execution thread that the text omits.
const mainThread = "main"

func (s *attrSpec) enumName(v int64) string {
	if v >= 0 && v < int64(len(s.enum)) {
		return s.enum[v]
	}
	return strconv.FormatInt(v, 10)
}

// list reads items separated by commas between two brackets.
func (l *lexer) list(open, close tokenKind, item func()) {
	l.expect(open)
	if l.accept(close) {
		return
	}
	for {
		item()
		if !l.accept(',') {
			break
		}
	}
	l.expect(close)
}

// ints reads integers separated by commas between two brackets.
func (l *lexer) ints(open, close tokenKind) []int64 {
	list := []int64{}
	if !l.at(open) {
		l.failToken("expected %s, found %s", open, l.found())
	}
	l.nextInList()
	if l.accept(close) {
		return list
	}
	for {
		v, ok := l.intValue()
		if !ok {
			l.failToken("expected an integer, found %s", l.found())
		}
		list = append(list, v)
		l.nextInList()
		if !l.at(',') {
			break
		}
		l.nextInList()
	}
	l.expect(close)
	return list
}

// intLists reads {{1,2},{3}}.
func (l *lexer) intLists() [][]int64 {
	lists := [][]int64{}
	l.list('{', '}', func() { lists = append(lists, l.ints('{', '}')) })
	return lists
}

func appendBraced(b []byte, list []int64) []byte {
	b = append(b, '{')
	b = appendInts(b, list)
	return append(b, '}')
}

func appendLists(b []byte, lists [][]int64) []byte {
	return appendItems(b, ",", lists, appendBraced)
}

// appendItems appends a list in braces.
func appendItems[T any](b []byte, separator string, list []T, item func([]byte, T) []byte) []byte {
	return append(appendJoined(append(b, '{'), separator, list, item), '}')
}

// appendJoined appends the items of a list with separators between them.
func appendJoined[T any](b []byte, separator string, list []T, item func([]byte, T) []byte) []byte {
	for i, v := range list {
		if i > 0 {
			b = append(b, separator...)
		}
		b = item(b, v)
	}
	return b
}

func (l *lexer) bool() bool {
	v := l.word("true")
	if !v && !l.word("false") {
		l.failToken("expected true or false, found %s", l.found())
	}
	l.next()
	return v
}

func (l *lexer) bools() []bool {
	list := []bool{}
	l.list('{', '}', func() { list = append(list, l.bool()) })
	return list
}

func appendBools(b []byte, list []bool) []byte {
	return appendItems(b, ",", list, strconv.AppendBool)
}

// enum reads one of s's words and returns its number.
func (l *lexer) enum(s *attrSpec) int64 {
	if l.tok.kind == identToken && l.tok.text != "" {
		text := l.tok.text
		if s.anyCase {
			text = strings.ToLower(text)
		}
		if i := slices.Index(s.enum, text); i >= 0 {
			l.next()
			return int64(i)
		}
	}
	var words []string
	for _, w := range s.enum {
		if w != "" {
			words = append(words, w)
		}
	}
	l.failToken("expected %s, found %s", strings.Join(words, ", "), l.found())
	return 0
}

// stringOrDict reads a string or a raw dictionary.
func (l *lexer) stringOrDict() string {
	switch l.tok.kind {
	case stringToken:
		return l.str()
	case '{':
		return l.rawDict()
	}
	l.failToken("expected a string or a dictionary in braces, found %s", l.found())
	return ""
}

func appendStringOrDict(b []byte, s string) []byte {
	if isRawDict(s) {
		return append(b, s...)
	}
	return appendQuoted(b, s)
}

// pairs reads {name="text",name={raw}} and returns the entries sorted by name; the last of equal names counts.
func (l *lexer) pairs() []pair {
	list := []pair{}
	l.list('{', '}', func() {
		key := l.attrName()
		list = append(list, pair{key, l.stringOrDict()})
	})
	return sortPairs(list)
}

// sortPairs sorts list by key and keeps the last of equal keys.
func sortPairs(list []pair) []pair {
	slices.SortStableFunc(list, func(a, b pair) int { return cmp.Compare(a.key, b.key) })
	out := list[:0]
	for i, p := range list {
		if i+1 == len(list) || list[i+1].key != p.key {
			out = append(out, p)
		}
	}
	return out
}

func appendPairs(b []byte, list []pair) []byte {
	return appendItems(b, ",", list, func(b []byte, p pair) []byte {
		return appendStringOrDict(append(append(b, p.key...), '='), p.value)
	})
}

// sizes reads 3 or 3x3.
func (l *lexer) sizes() []int64 {
	if l.tok.kind == dxdToken {
		list := l.splitInts(l.tok.text, "x")
		l.next()
		return list
	}
	if l.tok.kind != intToken {
		l.failToken("expected sizes such as 3x3, found %s", l.found())
	}
	return []int64{l.int64()}
}

// padNumbers reads 1_1x0_0_2: two or three numbers for each dimension.
func (l *lexer) padNumbers() [][]int64 {
	if l.tok.kind != padToken {
		l.failToken("expected padding such as 1_1x0_0, found %s", l.found())
	}
	var lists [][]int64
	for _, dim := range strings.Split(l.tok.text, "x") {
		lists = append(lists, l.splitInts(dim, "_"))
	}
	l.next()
	return lists
}

// splitInts returns the integers that a separator separates in text, a part of the current token.
func (l *lexer) splitInts(text, separator string) []int64 {
	var list []int64
	for _, s := range strings.Split(text, separator) {
		v, ok := parseInt(s)
		if !ok {
			l.failToken("integer %s has more than 64 bits", shorten(s))
		}
		list = append(list, v)
	}
	return list
}

// window reads {size=3x3 stride=2x2 pad=1_1x0_0 lhs_dilate= rhs_dilate= rhs_reversal=}.
func (l *lexer) window() window {
	at := l.tok.pos
	l.expect('{')
	var size, stride, lhs, rhs, reversal []int64
	var pad [][]int64
	seen := map[string]bool{}
	for !l.accept('}') {
		pos := l.tok.pos
		name := l.attrName()
		if seen[name] {
			l.fail(pos, "%s= is given twice", name)
		}
		seen[name] = true
		switch name {
		case "size":
			size = l.sizes()
		case "stride":
			stride = l.sizes()
		case "lhs_dilate":
			lhs = l.sizes()
		case "rhs_dilate":
			rhs = l.sizes()
		case "rhs_reversal":
			reversal = l.sizes()
		case "pad":
			pad = l.padNumbers()
			for _, p := range pad {
				if len(p) != 2 {
					l.fail(pos, "expected two numbers of padding for each dimension")
				}
			}
		default:
			l.fail(pos, "expected size=, stride=, pad=, lhs_dilate=, rhs_dilate= or rhs_reversal=, found %s=", name)
		}
	}
	for _, n := range []int{len(stride), len(lhs), len(rhs), len(reversal), len(pad)} {
		if n != 0 && n != len(size) {
			l.fail(at, "the parts of a window have different numbers of dimensions")
		}
	}
	w := newWindow(size, stride, lhs, rhs, pad)
	for i, n := range reversal {
		w[i].reversal = n == 1
	}
	return w
}

// newWindow makes a window. Lists other than size may be empty.
func newWindow(size, stride, base, win []int64, pad [][]int64) window {
	w := make(window, len(size))
	for i := range w {
		w[i] = windowDim{size: size[i], stride: 1, baseDilation: 1, windowDilation: 1}
		if i < len(stride) {
			w[i].stride = stride[i]
		}
		if i < len(base) {
			w[i].baseDilation = base[i]
		}
		if i < len(win) {
			w[i].windowDilation = win[i]
		}
		if i < len(pad) {
			w[i].padLow, w[i].padHigh = pad[i][0], pad[i][1]
		}
	}
	return w
}

func appendWindow(b []byte, w window) []byte {
	b = append(b, '{')
	start := len(b)
	part := func(name string, needed func(windowDim) bool, value func([]byte, windowDim) []byte) {
		if !slices.ContainsFunc(w, needed) {
			return
		}
		b = appendSpace(b, start)
		b = appendJoined(append(append(b, name...), '='), "x", w, value)
	}
	number := func(f func(windowDim) int64) func([]byte, windowDim) []byte {
		return func(b []byte, d windowDim) []byte { return strconv.AppendInt(b, f(d), 10) }
	}
	part("size", func(windowDim) bool { return true }, number(func(d windowDim) int64 { return d.size }))
	part("stride", func(d windowDim) bool { return d.stride != 1 }, number(func(d windowDim) int64 { return d.stride }))
	part("pad", func(d windowDim) bool { return d.padLow != 0 || d.padHigh != 0 }, func(b []byte, d windowDim) []byte {
		return strconv.AppendInt(append(strconv.AppendInt(b, d.padLow, 10), '_'), d.padHigh, 10)
	})
	part("lhs_dilate", func(d windowDim) bool { return d.baseDilation != 1 }, number(func(d windowDim) int64 { return d.baseDilation }))
	part("rhs_dilate", func(d windowDim) bool { return d.windowDilation != 1 }, number(func(d windowDim) int64 { return d.windowDilation }))
	part("rhs_reversal", func(d windowDim) bool { return d.reversal }, number(func(d windowDim) int64 {
		if d.reversal {
			return 1
		}
		return 0
	}))
	return append(b, '}')
}

// dimLabels reads b01f_01io->b01f.
func (l *lexer) dimLabels() convDims {
	if l.tok.kind != dimLabelsToken {
		l.failToken("expected dimension labels such as bf0_0io->bf0, found %s", l.found())
	}
	in, rest, _ := strings.Cut(l.tok.text, "_")
	kernel, out, _ := strings.Cut(rest, "->")
	spatial := func(role, s, letters string) int {
		n := 0
		for i := range len(s) {
			c := s[i]
			switch {
			case c == '?':
				continue
			case strings.IndexByte(letters, c) >= 0:
			case isDigit(c) && int(c-'0') < len(s):
				n++
			default:
				l.failToken("expected %s or a digit below %d in the %s dimensions, found '%c'", letters, len(s), role, c)
			}
			if strings.IndexByte(s[i+1:], c) >= 0 {
				l.failToken("the %s dimensions name '%c' twice", role, c)
			}
		}
		for d := range n {
			if strings.IndexByte(s, '0'+byte(d)) < 0 {
				l.failToken("the %s dimensions lack %d", role, d)
			}
		}
		return n
	}
	a, b, c := spatial("input", in, "bf"), spatial("kernel", kernel, "io"), spatial("output", out, "bf")
	if a != b || a != c {
		l.failToken("input, kernel and output have %d, %d and %d spatial dimensions", a, b, c)
	}
	l.next()
	return convDims{in, kernel, out}
}

func (l *lexer) paddingConfig() []paddingDim {
	at := l.tok.pos
	var list []paddingDim
	for _, n := range l.padNumbers() {
		d := paddingDim{low: n[0], high: n[1]}
		if len(n) == 3 {
			d.interior = n[2]
		} else if len(n) != 2 {
			l.fail(at, "expected two or three numbers of padding for each dimension")
		}
		list = append(list, d)
	}
	return list
}

func appendPadding(b []byte, list []paddingDim) []byte {
	interior := slices.ContainsFunc(list, func(d paddingDim) bool { return d.interior != 0 })
	return appendJoined(b, "x", list, func(b []byte, d paddingDim) []byte {
		b = strconv.AppendInt(b, d.low, 10)
		b = strconv.AppendInt(append(b, '_'), d.high, 10)
		if interior {
			b = strconv.AppendInt(append(b, '_'), d.interior, 10)
		}
		return b
	})
}

// sliceRanges reads {[1:2], [0:4:2]}.
func (l *lexer) sliceRanges() []sliceDim {
	list := []sliceDim{}
	l.list('{', '}', func() {
		at := l.tok.pos
		l.expect('[')
		n := []int64{l.int64()}
		for l.accept(':') {
			n = append(n, l.int64())
		}
		l.expect(']')
		if len(n) != 2 && len(n) != 3 {
			l.fail(at, "expected [start:limit] or [start:limit:stride]")
		}
		d := sliceDim{n[0], n[1], 1}
		if len(n) == 3 {
			d.stride = n[2]
		}
		list = append(list, d)
	})
	return list
}

func appendSlice(b []byte, list []sliceDim) []byte {
	strides := slices.ContainsFunc(list, func(d sliceDim) bool { return d.stride != 1 })
	return appendItems(b, ", ", list, func(b []byte, d sliceDim) []byte {
		b = strconv.AppendInt(append(b, '['), d.start, 10)
		b = strconv.AppendInt(append(b, ':'), d.limit, 10)
		if strides {
			b = strconv.AppendInt(append(b, ':'), d.stride, 10)
		}
		return append(b, ']')
	})
}

// operandAliases reads {{0}: (1, {}), ...}.
func (l *lexer) operandAliases() []valueAlias {
	list := []valueAlias{}
	l.listToBrace(func() {
		list = append(list, l.alias())
		l.expect(')')
	})
	return list
}

// append appends {0}: (1, {} of an alias, without the closing bracket.
func (a *valueAlias) append(b []byte) []byte {
	b = append(appendBraced(b, a.output), ": ("...)
	b = strconv.AppendInt(b, a.number, 10)
	return appendBraced(append(b, ", "...), a.index)
}

// statistics reads {visualizing_index=0,nan=3}.
func (l *lexer) statistics() *statistics {
	s := &statistics{}
	l.expect('{')
	if l.accept('}') {
		return s
	}
	l.attrName()
	s.shown = l.int64()
	for l.accept(',') {
		name := l.attrName()
		if l.tok.kind != decimalToken && l.tok.kind != intToken {
			l.failToken("expected a number, found %s", l.found())
		}
		s.list = append(s.list, statistic{name, l.double()})
	}
	l.expect('}')
	return s
}

func (s *statistics) append(b []byte) []byte {
	b = append(b, "{visualizing_index="...)
	b = strconv.AppendInt(b, s.shown, 10)
	for _, e := range s.list {
		b = append(append(append(b, ','), e.name...), '=')
		b = appendDouble(b, e.value)
	}
	return append(b, '}')
}

// appendDouble appends v with the six digits that XLA prints, or with more if v needs them to be read back exactly.
func appendDouble(b []byte, v float64) []byte {
	start := len(b)
	b = strconv.AppendFloat(b, v, 'g', 6, 64)
	if back, err := strconv.ParseFloat(string(b[start:]), 64); err != nil || back != v {
		return strconv.AppendFloat(b[:start], v, 'g', -1, 64)
	}
	return trimFloat(b, start)
}

// accuracy reads {mode=highest} or {tolerance={atol=1,rtol=1,ulps=1}}.
func (l *lexer) accuracy() *accuracy {
	a := &accuracy{}
	l.expect('{')
	at := l.tok.pos
	switch name := l.attrName(); name {
	case "mode":
		a.mode = l.enum(&attrSpec{enum: accuracyModes, anyCase: true})
	case "tolerance":
		a.tolerance = true
		l.list('{', '}', func() {
			at := l.tok.pos
			switch name := l.attrName(); name {
			case "atol":
				a.atol = l.double()
			case "rtol":
				a.rtol = l.double()
			case "ulps":
				a.ulps = l.double()
			default:
				l.fail(at, "expected atol=, rtol= or ulps=, found %s=", name)
			}
		})
	default:
		l.fail(at, "expected mode= or tolerance=, found %s=", name)
	}
	l.expect('}')
	return a
}

func (a *accuracy) append(b []byte) []byte {
	if !a.tolerance {
		b = append(b, "{mode="...)
		return append(append(b, accuracyModes[a.mode]...), '}')
	}
	b = appendDouble(append(b, "{tolerance={atol="...), a.atol)
	b = appendDouble(append(b, ",rtol="...), a.rtol)
	b = appendDouble(append(b, ",ulps="...), a.ulps)
	return append(b, "}}"...)
}

// maxNesting limits the nesting of shapes, literals, operands and the like.
const maxNesting = 10000

// origin reads {{"name" {0,1}}}, {({"a"}, {"b"})} or {[synthetic_call]}.
func (p *parser) origin() *origin {
	p.expect('{')
	o := &origin{}
	if p.accept('[') {
		if !p.acceptWord("synthetic_call") {
			p.failToken("expected synthetic_call, found %s", p.found())
		}
		p.expect(']')
		p.expect('}')
		o.synthetic = true
		return o
	}
	if !p.at('}') {
		o.tree = p.originNode()
	}
	if p.accept(',') {
		p.expect('[')
		if !p.at(stringToken) {
			p.failToken("expected the calls of an original value as a string, found %s", p.found())
		}
		o.calls = p.str()
		p.expect(']')
	}
	p.expect('}')
	return o
}

func (p *parser) originNode() *originNode {
	p.enter()
	defer p.leave()
	if p.at('(') {
		n := &originNode{isTuple: true}
		p.list('(', ')', func() { n.elems = append(n.elems, p.originNode()) })
		return n
	}
	if p.at(',') || p.at(')') {
		return &originNode{}
	}
	n := &originNode{}
	if a := p.originArray(); a.name != "" || len(a.index) > 0 {
		n.leaf = a
	}
	return n
}

// originArray reads {"name" {0,1}}.
func (l *lexer) originArray() *originArray {
	a := &originArray{}
	l.expect('{')
	if l.at(stringToken) {
		a.name = l.str()
	}
	if l.at('{') {
		a.index = l.ints('{', '}')
	}
	l.expect('}')
	return a
}

func (a *originArray) append(b []byte) []byte {
	if a == nil {
		return append(b, "{}"...)
	}
	b = append(b, '{')
	b = appendQuoted(b, a.name)
	if len(a.index) > 0 {
		b = appendBraced(append(b, ' '), a.index)
	}
	return append(b, '}')
}

func (o *origin) append(b []byte) []byte {
	if o.synthetic {
		return append(b, "{[synthetic_call]}"...)
	}
	b = append(b, '{')
	if o.tree != nil {
		b = o.tree.append(b)
	}
	if o.calls != "" {
		b = append(appendQuoted(append(b, ",["...), o.calls), ']')
	}
	return append(b, '}')
}

func (n *originNode) append(b []byte) []byte {
	if !n.isTuple {
		return n.leaf.append(b)
	}
	b = appendJoined(append(b, '('), ", ", n.elems, func(b []byte, e *originNode) []byte { return e.append(b) })
	return append(b, ')')
}

// metadata reads {op_type="" op_name="" ...}; commas between the parts are optional.
func (p *parser) metadata() *metadata {
	m := &metadata{}
	var seen uint32
	p.expect('{')
	for !p.at('}') {
		p.accept(',')
		at := p.tok.pos
		name := p.attrName()
		i := slices.Index(metadataNames, name)
		if i < 0 {
			p.fail(at, "unknown metadata %s=; expected one of %s", shorten(name), strings.Join(metadataNames, ", "))
		}
		if seen>>i&1 != 0 {
			p.fail(at, "%s= is given twice", name)
		}
		seen |= 1 << i
		switch name {
		case "op_type":
			m.opType = p.str()
		case "op_name":
			m.opName = p.str()
		case "source_file":
			m.sourceFile = p.str()
		case "source_line":
			m.sourceLine = p.int32()
		case "source_end_line":
			m.sourceEndLine = p.int32()
		case "source_column":
			m.sourceColumn = p.int32()
		case "source_end_column":
			m.sourceEndColumn = p.int32()
		case "profile_type":
			m.profileType = p.ints('{', '}')
			for _, v := range m.profileType {
				if v < 0 || v > 3 {
					p.fail(at, "expected a profile type of 0 to 3, found %d", v)
				}
			}
		case "deduplicated_name":
			m.deduplicatedName = p.str()
		case "scheduling_name":
			m.schedulingName = p.str()
		case "stack_frame_id":
			if m.frame = p.int32(); m.frame < 0 || m.frame > int64(len(p.m.frames.frames)) {
				m.frame = 0
			}
		case "metadata_payload":
			s := p.str()
			m.payload = &s
		}
	}
	p.expect('}')
	return m
}

var metadataNames = []string{"op_type", "op_name", "source_file", "source_line", "source_end_line", "source_column", "source_end_column",
	"profile_type", "deduplicated_name", "scheduling_name", "stack_frame_id", "metadata_payload"}

// int32 reads an integer of 32 bits.
func (l *lexer) int32() int64 {
	v, ok := l.intValue()
	if ok && (v < math.MinInt32 || v > math.MaxInt32) {
		l.failToken("integer %s has more than 32 bits", shorten(l.tok.text))
	}
	return l.int64()
}

func (m *metadata) append(b []byte) []byte {
	b = append(b, '{')
	start := len(b)
	text := func(name, s string) {
		if s != "" {
			b = appendSpace(b, start)
			b = appendQuoted(append(append(b, name...), '='), s)
		}
	}
	number := func(name string, v int64) {
		if v != 0 {
			b = appendSpace(b, start)
			b = strconv.AppendInt(append(append(b, name...), '='), v, 10)
		}
	}
	text("op_type", m.opType)
	text("op_name", m.opName)
	text("source_file", m.sourceFile)
	number("source_line", m.sourceLine)
	number("source_end_line", m.sourceEndLine)
	number("source_column", m.sourceColumn)
	number("source_end_column", m.sourceEndColumn)
	if len(m.profileType) > 0 {
		b = appendBraced(append(appendSpace(b, start), "profile_type="...), m.profileType)
	}
	text("deduplicated_name", m.deduplicatedName)
	if m.schedulingName != "" {
		b = append(appendSpace(b, start), "scheduling_name=\""...)
		if strings.ContainsAny(m.schedulingName, "\"\\\n") {
			b = append(appendEscaped(b, m.schedulingName), '"')
		} else {
			b = append(append(b, m.schedulingName...), '"')
		}
	}
	number("stack_frame_id", m.frame)
	if m.payload != nil {
		b = appendQuoted(append(appendSpace(b, start), "metadata_payload="...), *m.payload)
	}
	return append(b, '}')
}

func appendSpace(b []byte, start int) []byte {
	if len(b) > start {
		b = append(b, ' ')
	}
	return b
}

// domain reads {kind="sharding", entry={...}, exit={...}}.
func (p *parser) domain() *domain {
	at := p.tok.pos
	d := &domain{}
	p.expect('{')
	for !p.at('}') {
		p.accept(',')
		pos := p.tok.pos
		switch name := p.attrName(); name {
		case "kind":
			d.kind = p.str()
		case "entry":
			d.entry = p.sharding()
		case "exit":
			d.exit = p.sharding()
		default:
			p.fail(pos, "expected kind=, entry= or exit=, found %s=", name)
		}
	}
	if d.kind != "sharding" || d.entry == nil || d.exit == nil {
		p.fail(at, `expected kind="sharding", entry= and exit= in a domain`)
	}
	p.expect('}')
	return d
}

// sides reads {lhs={...} rhs={...}}. field reads the value of one attribute of a side; it returns false if the side has
// no attribute called name.
func (l *lexer) sides(expected string, field func(right bool, name string) bool) {
	l.expect('{')
	for !l.accept('}') {
		at := l.tok.pos
		side := l.attrName()
		if side != "lhs" && side != "rhs" {
			l.fail(at, "expected lhs= or rhs=, found %s=", shorten(side))
		}
		field(side == "rhs", "")
		l.expect('{')
		for !l.accept('}') {
			at := l.tok.pos
			if name := l.attrName(); !field(side == "rhs", name) {
				l.fail(at, "expected %s, found %s=", expected, shorten(name))
			}
		}
	}
}

// sparsityConfig reads {lhs={sparsity=2x4 dimension=1 stride=1 idx=2}}.
func (l *lexer) sparsityConfig() *sparsityConfig {
	c := &sparsityConfig{}
	l.sides("sparsity=, dimension=, stride= or idx=", func(right bool, name string) bool {
		s := &c.lhs
		if right {
			s = &c.rhs
		}
		s.set = true
		switch at := l.tok.pos; name {
		case "":
		case "sparsity":
			v := l.sizes()
			if len(v) != 2 {
				l.fail(at, "expected sparsity= and two sizes such as 2x4")
			}
			s.num, s.group = v[0], v[1]
		case "dimension":
			s.dim = l.int64()
		case "stride":
			s.stride = l.int64()
		case "idx":
			s.index = l.int32()
		default:
			return false
		}
		return true
	})
	return c
}

func (c *sparsityConfig) append(b []byte) []byte {
	b = append(b, '{')
	start := len(b)
	for _, side := range []struct {
		name string
		s    sparsity
	}{{"lhs", c.lhs}, {"rhs", c.rhs}} {
		if side.s.set {
			b = append(append(appendSpace(b, start), side.name...), "={sparsity="...)
			b = strconv.AppendInt(b, side.s.num, 10)
			b = append(b, 'x')
			b = strconv.AppendInt(b, side.s.group, 10)
			b = strconv.AppendInt(append(b, " dimension="...), side.s.dim, 10)
			b = strconv.AppendInt(append(b, " stride="...), side.s.stride, 10)
			if side.s.index != 0 { // XLA 0.12 prints 0 as well, which XLA 0.10 does not read
				b = strconv.AppendInt(append(b, " idx="...), side.s.index, 10)
			}
			b = append(b, '}')
		}
	}
	return append(b, '}')
}

// blockScalingConfig reads {lhs={scale_idx=2 zero_idx=3 strides=1x2 steps=3x4}}.
func (l *lexer) blockScalingConfig() *blockScalingConfig {
	c := &blockScalingConfig{}
	l.sides("scale_idx=, zero_idx=, strides= or steps=", func(right bool, name string) bool {
		s := &c.lhs
		if right {
			s = &c.rhs
		}
		s.set = true
		switch name {
		case "":
		case "scale_idx":
			s.scale = l.int32()
		case "zero_idx":
			s.zero = l.int32()
		case "strides":
			s.strides = l.sizes()
		case "steps":
			s.steps = l.sizes()
		default:
			return false
		}
		return true
	})
	return c
}

func (c *blockScalingConfig) append(b []byte) []byte {
	b = append(b, '{')
	start := len(b)
	for _, side := range []struct {
		name string
		s    blockScaling
	}{{"lhs", c.lhs}, {"rhs", c.rhs}} {
		if !side.s.set {
			continue
		}
		b = append(append(appendSpace(b, start), side.name...), "={scale_idx="...)
		b = strconv.AppendInt(b, side.s.scale, 10)
		if side.s.zero != 0 {
			b = strconv.AppendInt(append(b, " zero_idx="...), side.s.zero, 10)
		}
		for _, list := range []struct {
			name string
			v    []int64
		}{{"strides", side.s.strides}, {"steps", side.s.steps}} {
			if len(list.v) > 0 {
				b = append(append(append(b, ' '), list.name...), '=')
				b = appendJoined(b, "x", list.v, func(b []byte, v int64) []byte { return strconv.AppendInt(b, v, 10) })
			}
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

// literalWithShape reads a literal with its shape: f32[2] {1, 2}. A tuple states the shapes of its elements.
func (p *parser) literalWithShape() *literal {
	p.enter()
	defer p.leave()
	if p.at('(') {
		v := &literal{}
		s := &shape{elem: tupleType}
		p.list('(', ')', func() {
			e := p.literalWithShape()
			v.elems = append(v.elems, e)
			s.elems = append(s.elems, e.shape)
		})
		v.shape = s
		return v
	}
	return p.literal(p.shape())
}
