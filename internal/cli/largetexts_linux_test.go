//go:build !race

package cli_test

import (
	"fmt"
	"strings"
)

// largeText is a text that is large in one way.
type largeText struct {
	name, text string
	refused    bool
}

// largeTexts returns texts of about size bytes; each is large in one way.
func largeTexts(size int) []largeText {
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	many := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(strings.ReplaceAll(format, "$", fmt.Sprintf("%x", i)))
		}
		return b.String()
	}
	attr := func(a string) string { return `"a"(){a=` + a + `}:()->()` }
	list := func(s string) string { return "[" + fill(s+",") + s + "]" }
	double := func(first, next string) string {
		var b strings.Builder
		b.WriteString(first)
		for i := 1; i < 60; i++ {
			b.WriteString(strings.NewReplacer("$", fmt.Sprint(i), "@", fmt.Sprint(i-1)).Replace(next))
		}
		return b.String()
	}
	half := strings.Repeat("x", size/2)
	nest := func(open, inner, close string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(close, n)
	}
	return []largeText{
		{"ops", fill("\"a\"():()->()\n"), false},
		{"results", many("%x$=\"a\"():()->i1\n"), false},
		{"pack", fmt.Sprintf(`%%x:%d="a"():()->(%si1)`, size/3+1, strings.Repeat("i1,", size/3)), false},
		{"operands", "%0=\"a\"():()->i1\n\"b\"(" + strings.Repeat("%0,", size/6) + "%0):(" + strings.Repeat("i1,", size/6) + "i1)->()", false},
		{"regions", fill(`"a"()({}):()->()`), false},
		{"blocks", `"a"()({` + many("^a$:") + `}):()->()`, false},
		{"block arguments", `"a"()({^a(` + many("%a$:i1,") + `%z:i1):}):()->()`, false},
		{"nested regions", fill(nest(`"a"()({`, "", `}):()->()`, 4900)), false},
		{"functions", many("func.func private @a$()\n"), false},
		{"function bodies", many("func.func @a$(){return}\n"), false},
		{"calls", many("func.func @a$(){func.call @a$():()->() return}\n"), false},
		{"attributes", `"a"(){` + many("a$,") + `z}:()->()`, false},
		{"attribute of each op", fill(`"a"(){a}:()->()`), false},
		{"integers", attr(list("1")), false},
		{"arrays", attr(list("[]")), false},
		{"dictionaries", attr(list("{}")), false},
		{"strings", attr(list(`""`)), false},
		{"floats", attr(list("1.")), false},
		{"types", attr(list("i1")), false},
		{"dialect attributes", attr(list("#a.b")), false},
		{"nested arrays", attr(list(nest("[", "", "]", 9000))), false},
		{"nested tuples", attr(list(nest("tuple<", "i1", ">", 9000))), false},
		{"nested functions", attr(list(nest("()->(", "", ")", 9000))), false},
		{"nested location", `"a"():()->()loc(` + nest(`"a"(`, "unknown", ")", 9000) + `)`, false},
		{"locations", many("\"a\"():()->()loc(\"$\":1:1)\n"), false},
		{"location aliases", many("#l$=loc(\"$\")\n"), false},
		{"locations defined late", many("\"a\"():()->()loc(#l$)\n#l$=loc(\"$\")\n"), false},
		{"location of itself", "#a = loc(callsite(#a at #a))\n\"a\"():()->()loc(#a)", true},
		{"doubling locations", double("#a0=loc(\"x\")\n", "#a$=loc(callsite(#a@ at #a@))\n") + `"a"():()->()loc(#a59)`, true},
		{"doubling metadata", double("#a0=loc(\"x\")\n", "#a$=loc(fused<#a@>[#a@])\n") + `"a"():()->()loc(#a59)`, true},
		{"growing locations", "#a0=loc(\"x\")\n" + func() string {
			var b strings.Builder
			for i := 1; b.Len() < size; i++ {
				fmt.Fprintf(&b, "#a%d=loc(fused[#a%d,\"x%d\"])\n", i, i-1, i)
			}
			return b.String()
		}(), true},
		{"doubling arrays", double("#a0=1\n", "#a$=[#a@,#a@]\n"), true},
		{"doubling tuples", double("!a0=i1\n", "!a$=tuple<!a@,!a@>\n"), true},
		{"long string used often", "#a=\"" + half + "\"\n" + attr(list("#a")), true},
		{"long type used often", "!a=!a.b<" + half + ">\n\"a\"():()->(" + strings.Repeat("!a,", size/6) + "!a)", true},
		{"integers as literal", attr("dense<" + list("1") + ">:tensor<" + fmt.Sprint(size/2+1) + "xi8>"), false},
		{"complex literal", attr("dense<" + list("(1.,1.)") + ">:tensor<" + fmt.Sprint(size/8+1) + "xcomplex<f64>>"), false},
		{"hexadecimal literal", attr(`dense<"0x` + strings.Repeat("01", size/2-1) + `02">:tensor<` + fmt.Sprint(size/2) + "xi8>"), false},
		{"huge splat", attr("dense<1>:tensor<1000000x1000000xi64>"), false},
		{"huge splat as constant", "func.func @f()->tensor<1000000x1000000xi64>{%0=stablehlo.constant dense<1>:tensor<1000000x1000000xi64> return %0:tensor<1000000x1000000xi64>}", false},
		{"long string", attr(`"` + half + half + `"`), false},
		{"escapes", attr(`"` + fill(`\01`) + `"`), false},
		{"long names", "%" + half + "=\"a\"():()->i1\n\"b\"(%" + half + "):(i1)->()", false},
		{"op names", many("\"a.$\"():()->()\n"), false},
		{"tensor types", `"a"():()->(` + many("tensor<1x!a.b<$>>,") + "i1)", false},
		{"dimensions", `"a"():()->(tensor<` + strings.Repeat("1x", 9000) + "i1>)", false},
		{"undefined values", many("\"u\"(%a$):(i1)->()\n"), true},
		{"errors", fill("%0=\n"), true},
		{"invalid ops", "func.func @f(%a:tensor<f32>){\n" + fill("\"stablehlo.add\"(%a):(tensor<f32>)->tensor<f32>\n") + "return}", true},
		{"invalid ops in one line", "func.func @f(%a:tensor<f32>){" + fill("\"stablehlo.add\"(%a):(tensor<f32>)->tensor<f32> ") + "return}", true},
		{"successors", `"a"()({"e"():()->()^b:"x"()[` + strings.Repeat("^b,", size/3) + `^b]:()->()}):()->()`, false},
		{"resources", "{-#dialect_resources:{a:{" + many(`k$:"0x04000000",`) + `z:"0x04000000"}}#-}`, false},
		{"comment", "//" + half + half + "\n\"a\"():()->()", false},
		{"constants", "func.func @f(){" + many("%a$=stablehlo.constant dense<1>:tensor<i8>\n") + "return}", false},
		{"reductions", "func.func @f(%a:tensor<1xf32>,%b:tensor<f32>){" + many("%c$=stablehlo.reduce(%a init:%b)applies stablehlo.add across dimensions=[0]:(tensor<1xf32>,tensor<f32>)->tensor<f32>\n") + "return}", false},
		{"branches", "func.func @f(%a:tensor<i1>){" + fill("\"stablehlo.if\"(%a)({stablehlo.return},{stablehlo.return}):(tensor<i1>)->()\n") + "return}", false},
		{"modules", fill("module{}\n"), false},
		{"nested modules", fill(nest("module{", "", "}", 4900)), false},
		{"fused location", `"a"():()->()loc(fused[` + many(`"$",`) + `"z"])`, false},
		{"fused locations", many("\"a\"():()->()loc(fused[\"$\",\"z\"])\n"), false},
		{"fused metadata", many("\"a\"():()->()loc(fused<0x$:i99>[\"z\"])\n"), false},
		{"one location", fill("\"a\"():()->()loc(unknown)\n"), false},
		{"named locations", many("\"a\"():()->()loc(\"$\"(\"a\":1:2))\n"), false},
		{"ranges", many("\"a\"():()->()loc(\"a\":1:2 to 3:0x$)\n"), true},
		{"lines and columns", lines(size), false},
		{"call sites", many("\"a\"():()->()loc(callsite(\"$\" at \"a\"))\n"), false},
		{"nested call sites", `"a"():()->()loc(` + nest(`callsite("a" at `, "unknown", ")", 9000) + `)`, false},
		{"chained locations", "#a0=loc(\"x\")\n" + chained(size), true},
		{"located arguments", `"a"()({^a(` + many(`%a$:i1 loc("$"),`) + `%z:i1):}):()->()`, false},
		{"parameters", "func.func @f(" + many("%a$:i1,") + "%z:i1){return}", false},
		{"parameter types", "func.func private @f(" + fill("i1,") + "i1)", false},
		{"parameter attributes", "func.func private @f(" + fill("i1{a.a},") + "i1)", false},
		{"result attributes", "func.func private @f()->(" + fill("i1{a.a},") + "i1)", false},
		{"small blocks", `"a"()({` + many("^a$(%a:i1):") + `}):()->()`, true},
		{"blocks with arguments", `"a"()({` + many("^a$(%a$:i1):") + `}):()->()`, false},
		{"jumps", `"a"()({"e"():()->()` + many("^a$:\"b\"()[^a$]:()->()") + `}):()->()`, false},
		{"jumps to one block", `"a"()({"e"():()->()^z:` + many("^a$:\"b\"()[^z]:()->()") + `}):()->()`, false},
		{"packs", many("%a$:2=\"a\"():()->(i1,i1)\n"), false},
		{"numbers", many("%0x$=\"a\"():()->i1\n"), true},
		{"high numbers", many("func.func @a$(){%" + fmt.Sprint(size/4) + "=\"a\"():()->i1 return}\n"), false},
		{"used before", `"g"()({` + many("\"u\"(%a$):(i1)->()\n%a$=\"a\"():()->i1\n") + `}):()->()`, false},
		{"chunks", fill("// -----\n") + `"a"():()->()`, false},
		{"chunks of functions", many("func.func @a$(){return}\n// -----\n") + `"a"():()->()`, false},
		{"expectations", fill("// expected-error {{a}}\n") + `"a"():()->()`, false},
		{"one value", "%0=\"a\"():()->i1\n" + fill("\"u\"(%0):(i1)->()\n"), false},
		{"deep by aliases", deep(nest), true},
		{"nested dictionaries", attr(list(nest("{a=", "1", "}", 9000))), false},
		{"dictionary", attr("{" + many("a$,") + "z}"), false},
		{"dictionary backwards", attr("{" + backwards(size) + "a}"), false},
		{"affine maps", many("\"a\"(){a=affine_map<(d0)->(d0+0$)>}:()->()\n"), false},
		{"affine map", fill("\"a\"(){a=affine_map<()->()>}:()->()\n"), false},
		{"tuples", many("\"a\"():()->tuple<!a<$>,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1>\n"), false},
		{"large tuples", many("\"a\"():()->tuple<i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,!a.b<$>>\n"), false},
		{"symbol references", attr(list("@a::@b")), false},
		{"resource references", attr("[" + many("dense_resource<k$>:tensor<1xi8>,") + "1]"), false},
		{"arrays of integers", attr(list("array<i1>")), false},
		{"array of integers", attr("array<i1:" + fill("0,") + "0>"), true},
		{"array of booleans", attr("array<i8:" + fill("0,") + "0>"), false},
		{"empty lines", fill("\n") + `"a"():()->()`, false},
		{"comments", fill("//\n") + `"a"():()->()`, false},
		{"spaces", fill(" ") + `"a"():()->()`, false},
		{"foreign ops", many("foo.bar x$\n"), false},
		{"foreign values", many("%a$=foo.bar x$:i1\n"), false},
		{"nothing but brackets", fill("{"), true},
		{"closing brackets", fill("}"), true},
		{"open regions", fill(`"a"()({`), true},
		{"bytes", fill("\x01"), true},
		{"redefinitions", "%0=\"a\"():()->i1\n" + fill("%0=\"a\"():()->i1\n"), true},
		{"unknown ops", fill("stablehlo.ad\n"), true},
		{"duplicate symbols", fill("func.func private @a()\n"), true},
		{"unknown callees", "func.func @f(){" + fill("call @a():()->()\n") + "return}", true},
		{"whiles", "func.func @f(%a:tensor<i1>){" + many("%b$=stablehlo.while(%c$=%a):tensor<i1> cond{stablehlo.return %c$:tensor<i1>}do{stablehlo.return %c$:tensor<i1>}\n") + "return}", false},
		{"wide while", wideWhile(size), false},
		{"nested branches", "func.func @f(%a:tensor<i1>){" + nest("\"stablehlo.if\"(%a)({", "stablehlo.return", "},{stablehlo.return}):(tensor<i1>)->()stablehlo.return ", min(size/60, 4000)) + "return}", true},
		{"meshes", many("sdy.mesh @m$=<[\"a\"=2]>\n"), false},
		{"decimal literals", "func.func @f(){" + many("%a$=stablehlo.constant dense<[1.5,2.5]>:tensor<2xf32>\n") + "return}", false},
		{"adds", adds(size), false},
		{"outfeeds", outfeeds(size), false},
		{"callbacks", callbacks(size), false},
	}
}

// deep returns an attribute that is nested deeper than any text is.
func deep(nest func(open, inner, close string, n int) string) string {
	var b strings.Builder
	b.WriteString("#a0=1\n")
	for i := range 20 {
		fmt.Fprintf(&b, "#a%d=%s\n", i+1, nest("[", fmt.Sprintf("#a%d", i), "]", 9000))
	}
	b.WriteString(`"a"(){a=#a20}:()->()`)
	return b.String()
}

// lines returns ops with different lines and columns as locations.
func lines(size int) string {
	var b strings.Builder
	for i := 1; b.Len() < size; i++ {
		fmt.Fprintf(&b, "\"a\"():()->()loc(\"a\":%d:%d)\n", i, i)
	}
	return b.String()
}

// chained returns aliases of locations; each alias holds the previous one twice.
func chained(size int) string {
	var b strings.Builder
	for i := 1; b.Len() < size; i++ {
		fmt.Fprintf(&b, "#a%d=loc(callsite(#a%d at #a%d))\n", i, i-1, i/2)
	}
	return b.String()
}

// backwards returns entries of a dictionary, the last first.
func backwards(size int) string {
	var b strings.Builder
	for i := 99999999; b.Len() < size; i-- {
		fmt.Fprintf(&b, "x%d,", i)
	}
	return b.String()
}

// wideWhile returns a loop that carries many values.
func wideWhile(size int) string {
	n := size / 60
	var args, types, values strings.Builder
	for i := range n {
		sep := ","
		if i == 0 {
			sep = ""
		}
		fmt.Fprintf(&args, "%s%%c%d=%%a", sep, i)
		fmt.Fprintf(&types, "%stensor<i1>", sep)
		fmt.Fprintf(&values, "%s%%c%d", sep, i)
	}
	return fmt.Sprintf("func.func @f(%%a:tensor<i1>){%%b:%d=stablehlo.while(%s):%s cond{stablehlo.return %%c0:tensor<i1>}do{stablehlo.return %s:%s} return}",
		n, args.String(), types.String(), values.String(), types.String())
}

// adds returns a chain of ops; each op uses the previous op and an earlier one.
func adds(size int) string {
	var b strings.Builder
	b.WriteString("func.func @f(%a:tensor<f32>){%0=stablehlo.abs %a:tensor<f32>\n")
	for i := 1; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%%%d=stablehlo.add %%%d,%%%d:tensor<f32>\n", i, i-1, i/2)
	}
	b.WriteString("return}")
	return b.String()
}

// outfeeds returns a program of many hooks in a chain of tokens.
func outfeeds(size int) string {
	var b strings.Builder
	b.WriteString("func.func @main(%a:tensor<f32>){%0=stablehlo.create_token:!stablehlo.token\n")
	for i := 1; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%%%d=\"stablehlo.outfeed\"(%%a,%%%d){outfeed_config=\"\"}:(tensor<f32>,!stablehlo.token)->!stablehlo.token\n", i, i-1)
	}
	b.WriteString("return}")
	return b.String()
}

// callbacks returns a program of many hooks that nothing orders.
func callbacks(size int) string {
	var b strings.Builder
	b.WriteString("func.func @main(%a:tensor<f32>){")
	for b.Len() < size {
		b.WriteString("stablehlo.custom_call @xla_ffi_python_cpu_callback(%a){api_version=4:i32,backend_config={index=0:ui64},has_side_effect=true}:(tensor<f32>)->()\n")
	}
	b.WriteString("return}")
	return b.String()
}
