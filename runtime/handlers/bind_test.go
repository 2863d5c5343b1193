package handlers

import "testing"

func TestCutBinding(t *testing.T) {
	for _, c := range []struct{ spec, name, handler string }{
		{"loss=print", "loss", "print"},
		{"a=b=print", "a=b", "print"},
		{"train.py:41=x#2=const:1.0", "train.py:41=x#2", "const:1.0"},
		{"loss=sample:every=2,to=print", "loss", "sample:every=2,to=print"},
		{"loss=exec:tool --kind=print", "loss", "exec:tool --kind=print"},
		{"loss=delay=1s", "loss", "delay=1s"},
		{"a=b=error@2", "a=b", "error@2"},
		{"loss=prnt", "loss", "prnt"},
		{"=print", "", "print"},
		{"print", "print", ""},
	} {
		name, handler, ok := CutBinding(c.spec)
		if name != c.name || handler != c.handler || ok != (c.name != "" && c.handler != "") {
			t.Errorf("%s is split into %q and %q (%t), want %q and %q", c.spec, name, handler, ok, c.name, c.handler)
		}
	}
}
