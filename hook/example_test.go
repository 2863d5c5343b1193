package hook_test

import (
	"encoding/json"
	"fmt"

	"github.com/hlocb/hlocb/hook"
)

// A site describes one hook. Its id is the same on every machine and in every run; JSON spells it in hexadecimal.
func Example() {
	id, _ := hook.ParseID("4d65822107fcfd52")
	s := &hook.Site{ID: id, Name: "loss", Kind: hook.Tap, Loc: `"train.py":41:8`}
	b, err := json.Marshal(s.ID)
	fmt.Println(s.Name, s.Kind, string(b), err)
	fmt.Println(hook.Frame(`callsite("loss_fn"("train.py":41:8) at "lib.py":3:1)`))
	// Output:
	// loss tap "4d65822107fcfd52" <nil>
	// train.py:41:8 loss_fn
}
