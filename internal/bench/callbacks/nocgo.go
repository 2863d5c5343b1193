//go:build !cgo

package main

import (
	"fmt"
	"io"
)

func run(w io.Writer, _ options) error {
	_, err := fmt.Fprintln(w, "skipped: this build has no cgo, which plugins need")
	return err
}
