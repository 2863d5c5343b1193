package randprog

import (
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/tensor"
)

// Text returns the program as StableHLO in the format of its hooks.
func (p *Program) Text() string { return p.text(&writer{p: p}) }

// Sharded is Text for n devices, with Shardy's attributes: it shards each argument and result of main along the first
// dimension if n divides it.
func (p *Program) Sharded(n int) string { return p.text(&writer{p: p, devices: n}) }

// Around returns text, the text of a program or of its transformed module, with the module inner before its functions.
// Both modules may have symbols of the same names.
func Around(text, inner string) string {
	first, rest, _ := strings.Cut(text, "\n")
	var b strings.Builder
	b.WriteString(first + "\n")
	for line := range strings.Lines(strings.TrimSpace(inner)) {
		b.WriteString("  " + line)
	}
	return b.String() + "\n" + rest
}

func (p *Program) text(w *writer) string {
	if w.devices > 0 {
		w.line("module @randprog attributes {mhlo.num_partitions = %d : i32, mhlo.num_replicas = 1 : i32} {", w.devices)
		w.line("  sdy.mesh @mesh = <[\"x\"=%d]>", w.devices)
	} else {
		w.line("module @randprog {")
	}
	w.indent++
	for i := len(p.funcs) - 1; i >= 0; i-- {
		w.function(p.funcs[i], i == len(p.funcs)-1)
	}
	w.indent--
	w.line("}")
	return w.b.String()
}

type writer struct {
	p       *Program
	b       strings.Builder
	indent  int
	devices int // 0: the program does not mention devices
	next    int
	names   map[*value]string
	pid     string // EXLA's argument, if the function has it
}

const tokenType = "!stablehlo.token"

func (w *writer) line(format string, args ...any) {
	w.b.WriteString(strings.Repeat("  ", w.indent))
	if len(args) == 0 {
		w.b.WriteString(format)
	} else {
		fmt.Fprintf(&w.b, format, args...)
	}
	w.b.WriteByte('\n')
}

func (w *writer) fresh() string {
	w.next++
	return fmt.Sprintf("%%v%d", w.next)
}

// streams returns how many tokens pass through a function or op that reaches hooks.
func (w *writer) streams(hooks bool) int {
	if hooks && w.p.Form.tokens() {
		return w.p.streams
	}
	return 0
}

func (w *writer) function(f *function, main bool) {
	w.names, w.next, w.pid = map[*value]string{}, 0, ""
	var args, results, toks []string
	n := w.streams(f.hooks)
	if main {
		n = 0
	}
	exla := w.p.Form == EXLA && f.hooks
	if exla {
		w.pid = "%pid"
		args = append(args, "%pid: tensor<8xui8>")
	}
	for range n {
		t := w.fresh()
		toks = append(toks, t)
		args = append(args, t+": "+tokenType)
		results = append(results, tokenType)
	}
	for _, a := range f.body.args {
		w.names[a] = w.fresh()
		args = append(args, w.names[a]+": "+a.typ.String()+w.sharding(a.typ, main))
	}
	for _, r := range f.body.ret {
		results = append(results, r.typ.String()+w.sharding(r.typ, main))
	}
	visibility := "private"
	if main {
		visibility = "public"
	}
	w.line("func.func %s @%s(%s) -> (%s) {", visibility, f.name, strings.Join(args, ", "), strings.Join(results, ", "))
	w.indent++
	if main && w.p.Form.tokens() {
		for range w.p.streams {
			t := w.fresh()
			w.line("%s = stablehlo.create_token : %s", t, tokenType)
			toks = append(toks, t)
		}
	}
	if main {
		n = 0
	}
	toks = w.stmts(f.body, toks)
	if main && w.p.Form == EXLAOutfeed {
		c, t := w.fresh(), w.fresh()
		w.line("%s = stablehlo.constant dense<0> : tensor<ui16>", c)
		w.line("%s = \"stablehlo.outfeed\"(%s, %s) : (tensor<ui16>, %s) -> %s", t, c, toks[0], tokenType, tokenType)
	}
	w.ret("func.return", toks[:n], f.body.ret)
	w.indent--
	w.line("}")
}

// sharding returns the sharding attribute of an argument or result of main.
func (w *writer) sharding(t Type, main bool) string {
	if !main || w.devices == 0 || len(t.Shape) == 0 || t.Shape[0] == 0 || t.Shape[0]%int64(w.devices) != 0 {
		return ""
	}
	return " {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}" + strings.Repeat(", {}", len(t.Shape)-1) + "]>}"
}

// ret writes a terminator in the generic form.
func (w *writer) ret(op string, toks []string, vals []*value) {
	var names, types []string
	for _, t := range toks {
		names, types = append(names, t), append(types, tokenType)
	}
	for _, v := range vals {
		names, types = append(names, w.names[v]), append(types, v.typ.String())
	}
	w.line("%q(%s) : (%s) -> ()", op, strings.Join(names, ", "), strings.Join(types, ", "))
}

// stmts writes the statements of b and returns the tokens after them.
func (w *writer) stmts(b *block, toks []string) []string {
	toks = append([]string(nil), toks...)
	for _, s := range b.stmts {
		toks = w.stmt(s, toks)
	}
	return toks
}

// define names the results of an op, tokens before values, and returns the left-hand side and the tokens.
func (w *writer) define(tokens int, vals []*value) (lhs string, toks []string) {
	n := tokens + len(vals)
	if n == 0 {
		return "", nil
	}
	name := w.fresh()
	ref := func(i int) string {
		if n == 1 {
			return name
		}
		return fmt.Sprintf("%s#%d", name, i)
	}
	for i := range tokens {
		toks = append(toks, ref(i))
	}
	for i, v := range vals {
		w.names[v] = ref(tokens + i)
	}
	if n == 1 {
		return name + " = ", toks
	}
	return fmt.Sprintf("%s:%d = ", name, n), toks
}

// signature returns operands and types of an op whose tokens come first among operands and results.
func (w *writer) signature(toks []string, in, out []*value, outTokens int) (operands, types string) {
	var names, ins, outs []string
	for _, t := range toks {
		names, ins = append(names, t), append(ins, tokenType)
	}
	for _, v := range in {
		names, ins = append(names, w.names[v]), append(ins, v.typ.String())
	}
	for range outTokens {
		outs = append(outs, tokenType)
	}
	for _, v := range out {
		outs = append(outs, v.typ.String())
	}
	return strings.Join(names, ", "), fmt.Sprintf("(%s) -> (%s)", strings.Join(ins, ", "), strings.Join(outs, ", "))
}

func (w *writer) stmt(s *stmt, toks []string) []string {
	switch s.kind {
	case stConst:
		lhs, _ := w.define(0, s.out)
		w.line("%sstablehlo.constant %s : %s", lhs, literal(s.out[0].typ, s.n), s.out[0].typ)
	case stOp:
		w.op(s)
	case stHook:
		return w.hook(s, toks)
	case stCall:
		n := w.streams(s.hooks)
		operands, types := w.signature(toks[:n], s.in, s.out, n)
		if w.p.Form == EXLA && s.hooks {
			operands = strings.TrimSuffix(w.pid+", "+operands, ", ")
			types = strings.Replace("(tensor<8xui8>, "+types[1:], ", )", ")", 1)
		}
		lhs, next := w.define(n, s.out)
		w.line("%sfunc.call @%s(%s) : %s", lhs, s.fn.name, operands, types)
		return append(next, toks[n:]...)
	case stIf:
		n := w.streams(s.hooks)
		operands, _ := w.signature(nil, s.in, nil, 0)
		_, types := w.signature(nil, s.in, s.out, n)
		lhs, next := w.defineLater(n, s.out)
		w.line("%s\"stablehlo.%s\"(%s) ({", lhs, s.op, operands)
		for i, b := range s.blocks {
			if i > 0 {
				w.line("}, {")
			}
			w.indent++
			w.ret("stablehlo.return", w.stmts(b, toks)[:n], b.ret)
			w.indent--
		}
		w.line("}) : %s", types)
		return append(next, toks[n:]...)
	case stWhile:
		n := w.streams(s.hooks)
		operands, types := w.signature(toks[:n], s.in, s.out, n)
		lhs, next := w.defineLater(n, s.out)
		w.line("%s\"stablehlo.while\"(%s) ({", lhs, operands)
		for i, b := range s.blocks {
			if i > 0 {
				w.line("}, {")
			}
			var args, inner []string
			for range n {
				t := w.fresh()
				inner = append(inner, t)
				args = append(args, t+": "+tokenType)
			}
			for _, a := range b.args {
				w.names[a] = w.fresh()
				args = append(args, w.names[a]+": "+a.typ.String())
			}
			w.line("^bb0(%s):", strings.Join(args, ", "))
			w.indent++
			after := w.stmts(b, append(inner, toks[n:]...))
			if i == 0 {
				w.ret("stablehlo.return", nil, b.ret)
			} else {
				w.ret("stablehlo.return", after[:n], b.ret)
			}
			w.indent--
		}
		w.line("}) : %s", types)
		return append(next, toks[n:]...)
	}
	return toks
}

// defineLater is define for ops with regions, whose bodies cannot see the results.
func (w *writer) defineLater(tokens int, vals []*value) (string, []string) {
	return w.define(tokens, vals)
}

func literal(t Type, n int64) string {
	switch {
	case t.elements() == 0:
		return "dense<>"
	case t.DType == tensor.I1:
		return fmt.Sprintf("dense<%t>", n != 0)
	case t.DType == tensor.F32:
		return fmt.Sprintf("dense<%d.0>", n)
	}
	return fmt.Sprintf("dense<%d>", n)
}

func (w *writer) op(s *stmt) {
	t := s.out[0].typ
	arg := func(i int) string { return w.names[s.in[i]] }
	clamp := func(x string, lo, hi int) {
		a, b := w.fresh(), w.fresh()
		w.line("%s = stablehlo.constant dense<%d.0> : tensor<f32>", a, lo)
		w.line("%s = stablehlo.constant dense<%d.0> : tensor<f32>", b, hi)
		lhs, _ := w.define(0, s.out)
		w.line("%sstablehlo.clamp %s, %s, %s : (tensor<f32>, %s, tensor<f32>) -> %s", lhs, a, x, b, t, t)
	}
	name, rest, _ := strings.Cut(s.op, " ")
	switch name {
	case "clamp100":
		clamp(arg(0), 0, 100)
	case "clampadd", "clampsub":
		x := w.fresh()
		w.line("%s = stablehlo.%s %s, %s : %s", x, map[string]string{"clampadd": "add", "clampsub": "subtract"}[name], arg(0), arg(1), t)
		clamp(x, -1000, 1000)
	case "dot":
		x := w.fresh()
		dot := fmt.Sprintf("stablehlo.dot_general %s, %s, contracting_dims = [1] x [0] : (%s, %s) -> %s", arg(0), arg(1), t, t, t)
		if t.DType == tensor.F32 {
			w.line("%s = %s", x, dot)
			clamp(x, -1000, 1000)
			return
		}
		lhs, _ := w.define(0, s.out)
		w.line("%s%s", lhs, dot)
	case "sum":
		z := w.fresh()
		w.line("%s = stablehlo.constant %s : %s", z, literal(t, 0), t)
		in := s.in[0].typ
		var dims []string
		for i := range in.Shape {
			dims = append(dims, fmt.Sprint(i))
		}
		lhs, _ := w.define(0, s.out)
		w.line("%sstablehlo.reduce(%s init: %s) applies stablehlo.add across dimensions = [%s] : (%s, %s) -> %s", lhs, arg(0), z, strings.Join(dims, ", "), in, t, t)
	case "broadcast":
		lhs, _ := w.define(0, s.out)
		w.line("%sstablehlo.broadcast_in_dim %s, dims = [] : (%s) -> %s", lhs, arg(0), s.in[0].typ, t)
	case "convert":
		lhs, _ := w.define(0, s.out)
		w.line("%sstablehlo.convert %s : (%s) -> %s", lhs, arg(0), s.in[0].typ, t)
	case "select":
		lhs, _ := w.define(0, s.out)
		w.line("%sstablehlo.select %s, %s, %s : %s, %s", lhs, arg(0), arg(1), arg(2), s.in[0].typ, t)
	case "compare":
		kind := "SIGNED"
		switch s.in[0].typ.DType {
		case tensor.F32:
			kind = "FLOAT"
		case tensor.UI8, tensor.I1:
			kind = "UNSIGNED"
		}
		lhs, _ := w.define(0, s.out)
		w.line("%sstablehlo.compare %s, %s, %s, %s : (%s, %s) -> %s", lhs, rest, arg(0), arg(1), kind, s.in[0].typ, s.in[0].typ, t)
	case "negate":
		lhs, _ := w.define(0, s.out)
		w.line("%sstablehlo.negate %s : %s", lhs, arg(0), t)
	default:
		lhs, _ := w.define(0, s.out)
		w.line("%sstablehlo.%s %s, %s : %s", lhs, name, arg(0), arg(1), t)
	}
}

// hook writes one hook in its format and returns the tokens after it.
func (w *writer) hook(s *stmt, toks []string) []string {
	site := s.site
	next := append([]string(nil), toks...)
	var tok string
	switch {
	case site.newToken:
		tok = w.fresh()
		w.line("%s = stablehlo.create_token : %s", tok, tokenType)
	case site.Stream >= 0:
		tok = toks[site.Stream]
	}
	switch site.form {
	case Own, Target:
		w.call(s)
	case EXLA:
		w.exla(s)
	case JAX:
		tok = w.jax(s, tok)
	case Descriptor:
		tok = w.descriptor(s, tok)
	case Outfeed:
		if site.Kind == hook.Feed {
			tok = w.infeed(s, tok, site.Label)
		} else {
			tok = w.outfeed(s.in, tok, site.Label)
		}
	case HCB:
		c, t := w.fresh(), w.fresh()
		w.line("%s = stablehlo.constant dense<[271828, %d]> : tensor<2xui32>", c, site.number)
		w.line("%s = \"stablehlo.outfeed\"(%s, %s) {outfeed_config = \"\"} : (tensor<2xui32>, %s) -> %s", t, c, tok, tokenType, tokenType)
		tok = w.outfeed(s.in, t, "")
		if site.Kind != hook.Tap {
			tok = w.infeed(s, tok, "")
		}
	case EXLAOutfeed:
		c, t := w.fresh(), w.fresh()
		w.line("%s = stablehlo.constant dense<%d> : tensor<ui16>", c, site.number)
		w.line("%s = \"stablehlo.outfeed\"(%s, %s) : (tensor<ui16>, %s) -> %s", t, c, tok, tokenType, tokenType)
		tok = t
		if site.Kind == hook.Feed {
			tok = w.infeed(s, tok, "")
		} else {
			for _, v := range s.in {
				tok = w.outfeed([]*value{v}, tok, "")
			}
		}
	case SendRecv:
		tok = w.transfers(s, tok)
	}
	if site.Stream >= 0 {
		next[site.Stream] = tok
	}
	return next
}

// call writes hlocb's own call, or a target's.
func (w *writer) call(s *stmt) {
	site := s.site
	attrs := "api_version = 4 : i32"
	if !site.Pure {
		attrs += ", has_side_effect = true"
	}
	name := TargetName
	if site.form == Own {
		name = hook.Target
		attrs += fmt.Sprintf(", backend_config = {abi = 1 : i64, chained = false, id = %d : i64, kind = %q, name = %q}", site.number, site.Kind, site.Label)
	} else {
		attrs += fmt.Sprintf(", backend_config = {name = %q, number = %d : i64}", site.Label, site.number)
	}
	if site.Kind == hook.InOut {
		attrs += ", " + aliases(len(s.out), 0)
	}
	operands, types := w.signature(nil, s.in, s.out, 0)
	lhs, _ := w.define(0, s.out)
	w.line("%sstablehlo.custom_call @%s(%s) {%s} : %s", lhs, name, operands, attrs, types)
}

func (w *writer) exla(s *stmt) {
	n := 0
	attrs := ""
	if s.site.Kind == hook.InOut {
		n = len(s.out)
		attrs = ", " + aliases(len(s.out), 1)
	}
	operands, types := w.signature(nil, s.in, s.out, 0)
	types = "(tensor<8xui8>, " + types[1:]
	lhs, _ := w.define(0, s.out)
	w.line("%sstablehlo.custom_call @exla_runtime_callback(%s, %s) {api_version = 4 : i32, has_side_effect = true, backend_config = {callback_id = array<i64: %d>, callback_id_size = 8 : ui64, num_aliased_data_outputs = %d : ui64}%s} : %s",
		lhs, w.pid, operands, s.site.number, n, attrs, types)
}

// jax writes a JAX callback; tok is empty if no token orders it.
func (w *writer) jax(s *stmt, tok string) string {
	attrs := fmt.Sprintf("backend_config = \"\", mhlo.backend_config = {index = %d : ui64}", s.site.number)
	if !s.site.Pure {
		attrs = "has_side_effect = true, " + attrs
	}
	in, n := tokenList(tok)
	operands, types := w.signature(in, s.in, s.out, n)
	lhs, out := w.define(n, s.out)
	w.line("%sstablehlo.custom_call @xla_ffi_python_cpu_callback(%s) {%s} : %s", lhs, operands, attrs, types)
	if n > 0 {
		return out[0]
	}
	return ""
}

func tokenList(tok string) ([]string, int) {
	if tok == "" {
		return nil, 0
	}
	return []string{tok}, 1
}

// descriptor writes the callback of earlier versions of JAX, whose results come in a tuple.
func (w *writer) descriptor(s *stmt, tok string) string {
	in, n := tokenList(tok)
	operands, types := w.signature(in, s.in, s.out, n)
	inTypes, outTypes, _ := strings.Cut(types, ") -> (")
	outTypes = strings.TrimSuffix(outTypes, ")")
	c, tuple := w.fresh(), w.fresh()
	effect := "has_side_effect = true, "
	if s.site.Pure {
		effect = ""
	}
	w.line("%s = stablehlo.constant dense<%d> : tensor<i64>", c, s.site.number)
	w.line("%s = stablehlo.custom_call @xla_python_cpu_callback(%s) {%sapi_version = 2 : i32, backend_config = \"%d\"} : (%s) -> tuple<%s>",
		tuple, strings.TrimSuffix(c+", "+operands, ", "), effect, s.site.number, strings.TrimSuffix("tensor<i64>, "+inTypes[1:], ", "), outTypes)
	element := func(i int, typ string) string {
		name := w.fresh()
		w.line("%s = stablehlo.get_tuple_element %s[%d] : (tuple<%s>) -> %s", name, tuple, i, outTypes, typ)
		return name
	}
	if n > 0 {
		tok = element(0, tokenType)
	}
	for i, v := range s.out {
		w.names[v] = element(n+i, v.typ.String())
	}
	return tok
}

// transfers writes sends and receives: on one token in sequence as JAX does, with a placeholder if the hook has no
// operand or result, or in parallel as TensorFlow does.
func (w *writer) transfers(s *stmt, tok string) string {
	site := s.site
	channels := 0
	attrs := func(kind int, key string) string {
		n := site.channel(channels)
		channels++
		if key == "" {
			key = fmt.Sprint(n)
		}
		return fmt.Sprintf("{channel_handle = #stablehlo.channel_handle<handle = %d, type = %d>, is_host_transfer = true, mhlo.frontend_attributes = {_xla_host_transfer_rendezvous = %q}}", n, kind, key)
	}
	send := func(v, typ, key, tok string) string {
		t := w.fresh()
		w.line("%s = \"stablehlo.send\"(%s, %s) %s : (%s, %s) -> %s", t, v, tok, attrs(2, key), typ, tokenType, tokenType)
		return t
	}
	recv := func(typ, key, tok string) (value, token string) {
		t := w.fresh()
		w.line("%s:2 = \"stablehlo.recv\"(%s) %s : (%s) -> (%s, %s)", t, tok, attrs(3, key), tokenType, typ, tokenType)
		return t + "#0", t + "#1"
	}
	if site.fanOut {
		join := func(toks []string) string {
			if len(toks) == 0 {
				return tok
			}
			t := w.fresh()
			w.line("%s = stablehlo.after_all %s : %s", t, strings.Join(toks, ", "), tokenType)
			return t
		}
		var toks []string
		for i, v := range s.in {
			toks = append(toks, send(w.names[v], v.typ.String(), fmt.Sprintf("%s_dtoh_%d", site.Label, i), tok))
		}
		tok, toks = join(toks), nil
		for i, v := range s.out {
			var t string
			w.names[v], t = recv(v.typ.String(), fmt.Sprintf("%s_htod_%d", site.Label, i), tok)
			toks = append(toks, t)
		}
		return join(toks)
	}
	if len(s.in) == 0 {
		c := w.fresh()
		w.line("%s = stablehlo.constant dense<0.0> : tensor<1xf32>", c)
		tok = send(c, "tensor<1xf32>", "", tok)
	}
	for _, v := range s.in {
		tok = send(w.names[v], v.typ.String(), "", tok)
	}
	if len(s.out) == 0 {
		_, tok = recv("tensor<f32>", "", tok)
	}
	for _, v := range s.out {
		w.names[v], tok = recv(v.typ.String(), "", tok)
	}
	return tok
}

func (w *writer) outfeed(in []*value, tok, config string) string {
	operands, _ := w.signature(nil, in, nil, 0)
	var types []string
	for _, v := range in {
		types = append(types, v.typ.String())
	}
	if len(in) > 0 {
		operands += ", "
	}
	t := w.fresh()
	w.line("%s = \"stablehlo.outfeed\"(%s%s) {outfeed_config = %q} : (%s) -> %s", t, operands, tok, config, strings.Join(append(types, tokenType), ", "), tokenType)
	return t
}

// infeed returns the values first and the token last.
func (w *writer) infeed(s *stmt, tok, config string) string {
	name := w.fresh()
	var types []string
	for i, v := range s.out {
		w.names[v] = fmt.Sprintf("%s#%d", name, i)
		types = append(types, v.typ.String())
	}
	w.line("%s:%d = \"stablehlo.infeed\"(%s) {infeed_config = %q} : (%s) -> (%s)", name, len(s.out)+1, tok, config, tokenType, strings.Join(append(types, tokenType), ", "))
	return fmt.Sprintf("%s#%d", name, len(s.out))
}

// aliases writes output_operand_aliases from n results to the operands from first on.
func aliases(n, first int) string {
	var list []string
	for i := range n {
		index := fmt.Sprint(i)
		if n == 1 {
			index = ""
		}
		list = append(list, fmt.Sprintf("#stablehlo.output_operand_alias<output_tuple_indices = [%s], operand_index = %d, operand_tuple_indices = []>", index, i+first))
	}
	return "output_operand_aliases = [" + strings.Join(list, ", ") + "]"
}
