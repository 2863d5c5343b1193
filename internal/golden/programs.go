package golden

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/opgen"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp"
)

// Programs compares plans and results of the engine with their fingerprints in testdata/fingerprints/engine.txt: of the
// programs of testdata, of a random program for each structural op, of further random programs, and of functions of
// single numbers. The packages of the engine test themselves with it.
func Programs(t *testing.T) {
	Fingerprints(t, testkit.Testdata("fingerprints", "engine.txt"), func(add func(name, text string)) {
		for s := range testkit.Valid(testkit.Sources(t)) {
			if strings.HasPrefix(s.Name, "programs/") {
				add(s.Name, rounded(Engine(t, s.Name, "// plan\n"+s.Text)))
			}
		}
		for seed := range uint64(6) {
			g, err := opgen.New(seed)
			if err != nil {
				t.Fatal(err)
			}
			programs, err := g.EveryMaker()
			if err != nil {
				t.Fatal(err)
			}
			for i := range uint64(20) { // with a seed each: if one changes, the next ones stay
				random, err := opgen.New(1000 + 20*seed + i)
				if err != nil {
					t.Fatal(err)
				}
				p, err := random.Random()
				if err != nil {
					t.Fatal(err)
				}
				programs = append(programs, p)
			}
			if seed == 0 {
				programs = append(programs, opgen.Sample(g.Elementwise(16))...)
			}
			for i, p := range programs {
				var plan strings.Builder
				results, err := p.Outcome(context.Background(), interp.New(interp.Options{Plan: &plan}))
				text := cores.ReplaceAllString(plan.String(), "") + fmt.Sprintln(err)
				for _, r := range results {
					text += string(r.AppendLiteral(nil, 200)) + "\n"
				}
				add(fmt.Sprintf("random/%d/%d", seed, i), rounded(text))
			}
		}
	})
}

// number matches a number with a point, and the bits of a NaN or an infinity.
var number = regexp.MustCompile(`-?\d+\.\d+(?:e[+-]?\d+)?|0x[0-9A-F]+`)

// rounded returns a text whose numbers have three digits: processors with other instructions round otherwise.
func rounded(text string) string {
	return number.ReplaceAllStringFunc(text, func(s string) string {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || strings.HasPrefix(s, "0x") {
			return "bits"
		}
		return strconv.FormatFloat(v, 'g', 3, 64)
	})
}
