// Command build builds the libraries of package launch into a directory.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/hlocb/hlocb/internal/launch"
)

func main() {
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := launch.Build(context.Background(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
