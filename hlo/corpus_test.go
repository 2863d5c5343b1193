package hlo

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
)

func TestGive(t *testing.T) {
	dir := os.Getenv("HLO_GIVE")
	if dir == "" {
		t.Skip("no HLO_GIVE")
	}
	f, _ := os.Open(filepath.Join(dir, "index.jsonl"))
	lenient := map[string]bool{}
	l, _ := os.ReadFile(filepath.Join(dir, "lenient.txt"))
	for _, n := range strings.Fields(string(l)) {
		lenient[n] = true
	}
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	counts := map[string]int{}
	shown := map[string]int{}
	show := func(k, format string, args ...any) {
		counts[k]++
		if shown[k]++; shown[k] <= 25 {
			fmt.Printf(k+": "+format+"\n", args...)
		}
	}
	for sc.Scan() {
		var r struct{ File, Want string }
		json.Unmarshal(sc.Bytes(), &r)
		if strings.HasSuffix(r.File, ".pb") {
			continue
		}
		text, _ := os.ReadFile(filepath.Join(dir, r.File))
		if len(text) > 4<<20 {
			continue
		}
		m, err := Parse(diag.NewSource(r.File, text))
		switch r.Want {
		case "refused":
			if err == nil {
				if lenient[r.File] {
					continue
				}
				x, _ := os.ReadFile(filepath.Join(dir, r.File+".refused"))
				show("accepted", "%s: %.150s", r.File, string(x[max(0, strings.LastIndex(string(x), "error: ")):]))
			} else {
				counts["refused ok"]++
			}
			continue
		case "elided":
			if err != nil {
				show("elided refused", "%s", err)
			}
			continue
		}
		if err != nil {
			if lenient[r.File] {
				continue
			}
			show("refused", "%s", err)
			continue
		}
		out := m.AppendText(nil, TextOptions{})
		if m2, err := Parse(diag.NewSource(r.File+".again", out)); err != nil {
			show("reparse", "%s", err)
		} else if again := m2.AppendText(nil, TextOptions{}); string(again) != string(out) {
			show("fixpoint", "%s %s", r.File, firstDiff(string(again), string(out)))
		}
		want, _ := os.ReadFile(filepath.Join(dir, r.File+".want"))
		w, o := strings.TrimSpace(string(want)), strings.TrimSpace(string(out))
		if w == o {
			counts["same"]++
		} else if strings.TrimSpace(string(text)) == w {
			show("canonical", "%s %s", r.File, firstDiff(o, w))
		} else {
			counts["differs"]++
			if os.Getenv("HLO_DIFF") != "" && len(w) == len(o) {
				show("diff", "%s %s", r.File, firstDiff(o, w))
			}
		}
	}
	fmt.Println(counts)
}

func firstDiff(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	s := max(0, i-50)
	return fmt.Sprintf("\n   ours …%q\n   want …%q", a[s:min(len(a), i+60)], b[s:min(len(b), i+60)])
}
