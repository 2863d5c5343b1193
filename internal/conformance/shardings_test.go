package conformance_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
)

// sdyPiece matches the pieces of text that a mutation of shardings changes.
var sdyPiece = regexp.MustCompile(`"[a-z]*"(:\(\d+\)\d+)?|@[a-z]+|%[a-z0-9]+|[A-Za-z_]+|\d+|\s+|->|.`)

// sdyChoices has the replacements of a piece by its first letter; an empty string removes the piece.
var sdyChoices = map[byte][]string{
	'"': {`"a"`, `"b"`, `"c"`, `"z"`, `"c":(1)2`, `"c":(2)2`, `"c":(1)4`, `"c":(2)4`, `"a":(1)1`, `"c":(3)2`, `"a", "b"`, `"b", "a"`, `"c":(1)2, "c":(2)2`, ``},
	'@': {"@m", "@n", "@one", "@none", "@nothing", "@f"},
	'{': {"{", `{"a"`, "{?", "{}, {"},
	'}': {"}", `, ?}`, "}p0", "}p01", "}, {}"},
	'>': {">", `, replicated={"c"}>`, `, unreduced={"b"}>`, `, replicated={"b", "a"}>`, `, replicated={"c":(1)2}>`},
	'%': {"%x", "%y", "%t", "%0", "%1", "%p"},
	'[': {"[", "[{},", "[["},
	'i': {"i", "j", "k", "ij", "z_1", "a"},
	'j': {"i", "j", "k", ""},
	'k': {"i", "k", "l"},
}

// reshard changes a few pieces of the text.
func reshard(r *rand.Rand, text string) string {
	pieces := sdyPiece.FindAllString(text, -1)
	for range 1 + r.IntN(4)/3 {
		for range 50 {
			i := r.IntN(len(pieces))
			p := pieces[i]
			if p == "" || p == ">" && (i == 0 || pieces[i-1] != "]") {
				continue
			}
			switch c := p[0]; {
			case c >= '0' && c <= '9':
				pieces[i] = [...]string{"0", "1", "2", "3", "4", "8", "16", "?"}[r.IntN(8)]
			case c == 'i' && p != "i" || c == 'j' && p != "j" || c == 'k' && p != "k":
				if p == "i" || strings.HasPrefix(p, "in_") || p != "ij" {
					continue
				}
				pieces[i] = "i"
			case sdyChoices[c] != nil:
				pieces[i] = sdyChoices[c][r.IntN(len(sdyChoices[c]))]
			case p == "unreduced":
				pieces[i] = "replicated"
			case p == "replicated":
				pieces[i] = "unreduced"
			case p == "BACKWARD":
				pieces[i] = [...]string{"BOTH", "NONE", "FORWARD", "BACK"}[r.IntN(4)]
			default:
				continue
			}
			break
		}
	}
	return strings.Join(pieces, "")
}

// TestShardingsAsMLIR changes modules of Shardy's dialects at random and checks that hlocb refuses the modules that
// jaxlib refuses, at jaxlib's places with jaxlib's messages.
func TestShardingsAsMLIR(t *testing.T) {
	peer.Each(t, label.Part, checkShardingsAsMLIR)
}

func checkShardingsAsMLIR(t *testing.T, python *peer.Interpreter) {
	for _, dialect := range [...]string{"sdy", "mpmd"} {
		t.Run(dialect, func(t *testing.T) { shardingsAsMLIR(t, python, dialect) })
	}
}

// TestShardyPrintsAsMLIR compares the texts of the same modules and of the samples with jaxlib's.
func TestShardyPrintsAsMLIR(t *testing.T) {
	peer.Each(t, label.Part, checkShardyPrintsAsMLIR)
}

func checkShardyPrintsAsMLIR(t *testing.T, python *peer.Interpreter) {
	texts := testkit.Texts(t, "ops/mpmd.mlir", "ops/sdy.mlir")
	for _, dialect := range [...]string{"sdy", "mpmd"} {
		text, err := os.ReadFile(filepath.Join("testdata", dialect, "valid.mlir"))
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range chunks(string(text)) {
			texts[dialect+" "+strconv.Itoa(i+1)] = m
		}
	}
	compareWithJaxlib(t, python, texts)
}

func shardingsAsMLIR(t *testing.T, python *peer.Interpreter, dialect string) {
	text, err := os.ReadFile(filepath.Join("testdata", dialect, "valid.mlir"))
	if err != nil {
		t.Fatal(err)
	}
	rounds := 150
	if os.Getenv("HLOCB_LONG") != "" {
		rounds = 4000
	}
	r := rand.New(rand.NewPCG(3, uint64(rounds)))
	seen := map[string]bool{}
	var texts []string
	for _, m := range chunks(string(text)) {
		texts = append(texts, m)
		for range rounds {
			if x := reshard(r, m); !seen[x] {
				seen[x] = true
				texts = append(texts, x)
			}
		}
	}
	theirs := verdicts(t, python, texts)
	reg := testkit.Registry(t)
	place := regexp.MustCompile(`^"-":(\d+):\d+: (.*)$`)
	refused, same, wrong := 0, 0, map[string]int{}
	for i, text := range texts {
		if theirs[i] == "crash" {
			continue
		}
		list := findings(reg, diag.NewSource("-", []byte(text)))
		if (len(list) > 0) != (theirs[i] != "") {
			t.Errorf("here: %v\njaxlib: %s\n%s", list, theirs[i], text)
			continue
		}
		if len(list) == 0 {
			continue
		}
		refused++
		line, _ := list[0].Source.LineColumn(list[0].Pos)
		if m := place.FindStringSubmatch(theirs[i]); m != nil && m[1] == strconv.Itoa(line) && (m[2] == list[0].Message || strings.HasSuffix(m[2], list[0].Message)) {
			same++
		} else {
			wrong[list[0].Message+"\n      "+theirs[i]]++
		}
	}
	t.Logf("%d modules: %d refused, as jaxlib does; %d of them on its line with its words", len(texts), refused, same)
	if same*100 < refused*90 {
		t.Errorf("%d of %d with jaxlib's line and words, want 90%%", same, refused)
	}
	if path := os.Getenv("HLOCB_FAILURES"); path != "" {
		out := ""
		for w, n := range wrong {
			out += strconv.Itoa(n) + " " + w + "\n"
		}
		if err := os.WriteFile(path, []byte(out), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
