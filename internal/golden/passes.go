package golden

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/opt"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/print"
)

// Passes compares the results of each pass on the modules in testdata with their fingerprints in
// testdata/fingerprints/passes.txt: the module, or the error. Packages under the passes test themselves with it.
func Passes(t *testing.T) {
	Fingerprints(t, testkit.Testdata("fingerprints", "passes.txt"), func(add func(name, text string)) {
		table := opt.Passes()
		for s, m := range testkit.Valid(testkit.Sources(t)) {
			before := print.String(m, print.Options{})
			for _, name := range table.Names() {
				if strings.HasSuffix(name, "-hooks") && !strings.HasPrefix(s.Name, "order/") { // Hooks runs them
					continue
				}
				p, err := pass.Parse(name, table)
				if err != nil {
					continue // it needs options
				}
				out := m.Clone()
				driver := pass.Driver{Verify: ir.VerifyContext, VerifyResult: true}
				c := pass.NewContext(context.Background(), out)
				if err := driver.Run(c, p); err != nil {
					add(fmt.Sprintf("%s/%s", s.Name, name), err.Error())
				} else if after := print.String(out, print.Options{}); after != before {
					add(fmt.Sprintf("%s/%s", s.Name, name), after)
				}
			}
		}
	})
}
