//go:build !cgo

package callbacks

import (
	"fmt"
	"io"

	"github.com/hlocb/hlocb/internal/bench/meter"
)

func run(w io.Writer, _ options) ([]meter.Row, error) {
	_, err := fmt.Fprintln(w, "skipped: this build has no cgo, which plugins need")
	return nil, err
}
