package main

import (
	"strings"
	"testing"
)

func TestSummarize(t *testing.T) {
	tests := []struct {
		name, in, want string
		code           int
	}{
		{"pass and skip", `{"Action":"pass","Package":"p","Test":"A"}
{"Action":"output","Package":"p","Test":"B","Output":"    b_test.go:3: skip: no plugin\n"}
{"Action":"skip","Package":"p","Test":"B"}
{"Action":"pass","Package":"p","Elapsed":0.25}
`, "ok  \tp\t0.250s\nskipped 1: no plugin: p.B\ntests: 1 passed, 0 failed, 1 skipped\n", 0},
		{"fail", `{"Action":"output","Package":"p","Test":"A","Output":"bad\n"}
{"Action":"fail","Package":"p","Test":"A"}
{"Action":"fail","Package":"p","Elapsed":1}
`, "bad\nFAIL\tp\t1.000s\nfailed 1: p.A\ntests: 0 passed, 1 failed, 0 skipped\n", 1},
		{"died", `{"Action":"output","Package":"p","Test":"A","Output":"SIGSEGV\n"}
{"Action":"fail","Package":"p","Elapsed":1}
`, "SIGSEGV\nFAIL\tp\t1.000s\ntests: 0 passed, 0 failed, 0 skipped\n", 1},
		{"build failure", `{"ImportPath":"p","Action":"build-output","Output":"x.go:1: no\n"}
{"ImportPath":"p","Action":"build-fail"}
{"Action":"pass","Package":"q","Test":"A"}
`, "x.go:1: no\ntests: 1 passed, 0 failed, 0 skipped\n", 1},
		{"killed", `{"Action":"start","Package":"p"}
{"Action":"pass","Package":"p","Test":"A"}
{"Action":"start","Package":"q"}
{"Action":"pass","Package":"q","Test":"A"}
{"Action":"pass","Package":"q","Elapsed":1}
`, "ok  \tq\t1.000s\nFAIL\tp: its tests did not end\ntests: 2 passed, 0 failed, 0 skipped\n", 1},
		{"slow", `{"Action":"pass","Package":"p","Test":"A","Elapsed":1}
{"Action":"pass","Package":"p","Test":"B/1","Elapsed":22}
{"Action":"pass","Package":"p","Test":"B","Elapsed":22}
{"Action":"pass","Package":"p","Test":"C","Elapsed":0.9}
{"Action":"pass","Package":"p","Elapsed":24}
`, "ok  \tp\t24.000s\nslow:   22.0 s p.B\nslow:    1.0 s p.A\ntests: 4 passed, 0 failed, 0 skipped\n", 0},
		{"nothing", "", "tests: 0 passed, 0 failed, 0 skipped\n", 1},
	}
	for _, tt := range tests {
		var out strings.Builder
		code := summarize(strings.NewReader(tt.in), &out)
		if out.String() != tt.want || code != tt.code {
			t.Errorf("%s: code %d, output\n%s\nwant code %d,\n%s", tt.name, code, out.String(), tt.code, tt.want)
		}
	}
}
