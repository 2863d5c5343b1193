package backends_test

import (
	"context"
	"fmt"

	"github.com/hlocb/hlocb/runtime/backends"
)

// Open opens a backend by its name: the embedded engine, a platform, or the path of a plugin.
func ExampleOpen() {
	b, err := backends.Open(context.Background(), backends.Engine, backends.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	fmt.Println(b.Name() == backends.Engine)

	_, err = backends.Open(context.Background(), "abacus", backends.Options{})
	fmt.Println(err)
	// Output:
	// true
	// unknown backend "abacus": expected auto, engine, cpu, cuda or the path of a PJRT plugin
}
