// Package gen writes Go code and a page of documentation from the rows of a dialect: for each op a view, setters and a
// builder, for each enumeration a Go type, and for each name of an attribute a constant. The dialect of another module
// gets the same files as the dialects of this one.
//
// The rows stand in a package of their own. The generator is a command below it, and a comment runs the command:
//
//	//go:generate go run ./gen
//
// The names in Go follow the rows: the row of tally.repeat_until is the variable RepeatUntil, and the row of the
// enumeration tally.order is OrderEnum.
package gen

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hlocb/hlocb/ir"
)

// Options say what the rows do not.
type Options struct {
	// About is the first sentence of the page.
	About string
	// Names holds Go names that differ from the rule: of rows by the name of the op ("mhlo.topk"), and of enumerations
	// by "#" and the name ("#mhlo.kind").
	Names map[string]string
	// Imports holds the paths of packages whose enumerations the dialect uses, by dialect. Those of this module are known.
	Imports map[string]string
}

// Main writes views_gen.go into the current directory and ends the process if it cannot. With the argument -page FILE
// it also writes the page of the dialect to the file. With -samples DIR, the page shows the first op of each kind in
// the MLIR files of the directory; d and others are the dialects of these files.
func Main(d *ir.Dialect, o Options, others ...*ir.Dialect) {
	page := flag.String("page", "", "write the page of the dialect to `FILE`")
	samples := flag.String("samples", "", "show ops of the MLIR files in `DIR` on the page")
	flag.Parse()
	if err := write(d, o, *page, *samples, others); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// ViewsFile is the name of the file that holds the Go code.
const ViewsFile = "views_gen.go"

func write(d *ir.Dialect, o Options, page, samples string, others []*ir.Dialect) error {
	text, err := Views(d, o)
	if err == nil {
		err = os.WriteFile(ViewsFile, text, 0o644)
	}
	if err != nil || page == "" {
		return err
	}
	examples := map[string]string{}
	if samples != "" {
		reg, err := ir.NewRegistry(append(others, d)...)
		if err != nil {
			return err
		}
		files, err := filepath.Glob(filepath.Join(samples, "*.mlir"))
		if err != nil {
			return err
		}
		if examples, err = Examples(reg, files); err != nil {
			return err
		}
	}
	return os.WriteFile(page, Page(d, o, examples), 0o644)
}
