package bytecode_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// TestDamage changes each byte of small files, and cuts the files there. A damaged file is either refused at an offset
// inside the file, or it is another module, which can be written and read again. The fingerprints show which of both,
// and with which error.
func TestDamage(t *testing.T) {
	var texts []string
	for _, a := range attributes() {
		texts = append(texts, `"foo.op"() {a = `+a+`} : () -> ()`)
	}
	for _, typ := range types() {
		texts = append(texts, `"foo.op"() {a = `+typ+`} : () -> ()`)
	}
	texts = slices.Concat(texts, structures(), resources(), numbers())
	o := print.Options{Generic: true, DebugInfo: true, OwnLocs: true}
	golden.Fingerprints(t, "testdata/damage.txt", func(add func(name, text string)) {
		for n, text := range texts {
			version := []int{6, 0, 5, 1, 4, 2, 3}[n%7]
			whole := parsed(t, text)
			large := slices.Contains(numbers(), text)
			if large {
				version = 6
				reorder(whole)
			}
			good := written(t, whole, version)
			if strings.HasPrefix(text, `"foo.op"`) {
				version = 6
			}
			var log strings.Builder
			try := func(what string, data []byte) {
				fmt.Fprintf(&log, "%s: ", what)
				m, err := bytecode.Read(diag.NewSource("m.bc", data), ir.NewContext(registry))
				if err != nil {
					if offset := -1; !errors.As(err, new(diag.List)) {
						fmt.Sscanf(err.Error(), "m.bc: offset %d: error: ", &offset)
						if offset > len(data) {
							t.Errorf("%s, %s: %v: the file has %d bytes", text, what, err, len(data))
						}
					}
					fmt.Fprintln(&log, err)
					return
				}
				got := print.String(m, o)
				fmt.Fprintln(&log, got)
				again, err := bytecode.Append(nil, m, bytecode.Options{})
				if err != nil {
					fmt.Fprintln(&log, "is not written:", err)
					return
				}
				m, err = bytecode.Read(diag.NewSource("again.bc", again), ir.NewContext(registry))
				if err != nil {
					t.Errorf("%s, %s: written again: %v", text, what, err)
				} else if now := print.String(m, o); now != got && !mayDiffer(got) {
					t.Errorf("%s, %s gives\n%s\nand after another writing\n%s", text, what, got, now)
				}
			}
			for i := range good {
				if i > 4 && i < len("ML\xefR\x0dhlocb") {
					continue
				}
				changes := []byte{good[i] + 1, good[i] ^ 2}
				if large {
					changes = append(changes, 0xFF, 0xFE, 0xFC) // 127, or most of two or three bytes
				}
				for _, b := range changes {
					data := slices.Clone(good)
					data[i] = b
					try(fmt.Sprintf("byte %d = %#x", i, b), data)
				}
				try(fmt.Sprintf("%d bytes", i), good[:i])
			}
			add(fmt.Sprintf("%d/v%d", n, version), log.String())
		}
	})
}

// mayDiffer reports whether a module may change if it is written and read again: the writer leaves out resources
// without a use and places in line 0, and affine maps, whose text nobody checks, are written as they are understood.
func mayDiffer(text string) bool {
	return strings.Contains(text, "dialect_resources") || strings.Contains(text, `":0:`) || strings.Contains(text, "affine_map")
}

// numbers returns modules with large numbers, and with many uses of a value, whose order the test changes.
func numbers() []string {
	return []string{
		`%0, %1 = "foo.v"() : () -> (i32, i32) loc("f":4294967294:4294967295 to 4294967295:4294967294)`,
		`%0, %1 = "foo.v"() : () -> (i32, i32) "foo.u"(%0, %1, %0) : (i32, i32, i32) -> () "foo.u"(%0, %1, %0) : (i32, i32, i32) -> () "foo.u"(%1, %1, %0) : (i32, i32, i32) -> ()`,
		`%0 = "foo.v"() : () -> i32 %1 = "tensor.insert_slice"(%0, %0) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>}> : (i32, i32) -> i32`,
		`%0, %1 = "foo.v"() : () -> (i32, i32) ` + strings.Repeat(`"foo.u"(%0) : (i32) -> () `, 9),
	}
}

// resources returns modules with data outside the module's text.
func resources() []string {
	return []string{
		`"foo.op"() {a = dense_resource<x> : tensor<2xi32>, b = dense_resource<y> : tensor<1xi8>, c = dense_resource<x> : tensor<2xi32>, d = dense_resource<z> : tensor<1xi8>} : () -> ()
{-# dialect_resources: { builtin: { x: "0x040000000100000002000000", z: "0x0100000007" } }, external_resources: { mlir_reproducer: { pipeline: "a\"b", verify: true, disable: false }, other: { x: "0x10000000AB" } } #-}`,
		`"foo.op"() {a = dense_resource<absent> : tensor<2xi32>} : () -> ()`,
	}
}
