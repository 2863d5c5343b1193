package viewtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/internal/view"
	"github.com/hlocb/hlocb/ir"
)

// TestEveryModule: pages of modules of all kinds open, unfold and show each of their ops without a mistake.
func TestEveryModule(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	b := open(t)
	var files []string
	for _, pattern := range []string{"mlir/*.mlir", "order/*.mlir", "programs/*.mlir", "partitioned/*.mlir", "hooks/*.mlir", "hooks/hlo/*", "ops/*.mlir", "today/*"} {
		found, err := filepath.Glob("../../testdata/" + pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: no files: %v", pattern, err)
		}
		files = append(files, found[:min(len(found), 6)]...)
	}
	opened := 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := reader.Parse(diag.NewSource(filepath.Base(path), text), ir.NewContext(reader.Registry()), reader.MaxErrors)
		if err != nil {
			continue // not a module
		}
		opened++
		b.show(write(t, &view.Document{Title: path, Steps: []view.Step{{Name: path, Module: m}}}), "#view=gx")
		b.keys("e")
		wrong := eval[string](b, everyOp)
		if wrong != "" {
			t.Errorf("%s: %s", path, wrong)
		}
		b.check()
	}
	if opened < 30 {
		t.Errorf("only %d of %d files are modules", opened, len(files))
	}
}

// everyOp selects up to 60 ops, and returns a mistake of the picture: a child outside of its box, or two boxes that
// overlap.
const everyOp = `(() => {
	const L = hlocb.layout, { items, children } = hlocb.model;
	const all = hlocb.state.step.items, step = Math.ceil(all.length / 60);
	for (let k = 0; k < all.length; k += step) hlocb.select(all[k]);
	for (const i of L.visible) {
		const p = items.parent[i];
		if (p > 0 && (L.x[i] < L.x[p] - 1 || L.y[i] < L.y[p] - 1 || L.x[i] + L.width[i] > L.x[p] + L.width[p] + 1 || L.y[i] + L.height[i] > L.y[p] + L.height[p] + 1))
			return hlocb.labelOf(i) + " is outside of " + hlocb.labelOf(p);
	}
	for (let p = 0; p < hlocb.model.n; p++) {
		if (!children[p] || !L.open[p]) continue;
		const list = children[p].slice(0, 400);
		for (let a = 0; a < list.length; a++) for (let b = a + 1; b < list.length; b++) {
			const i = list[a], k = list[b];
			if (L.x[i] + L.width[i] > L.x[k] + 1 && L.x[k] + L.width[k] > L.x[i] + 1 && L.y[i] + L.height[i] > L.y[k] + 1 && L.y[k] + L.height[k] > L.y[i] + 1)
				return hlocb.labelOf(i) + " covers " + hlocb.labelOf(k);
		}
	}
	return "";
})()`
