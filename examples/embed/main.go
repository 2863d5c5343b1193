// Command embed runs a module inside a Go program: it answers one hook with a Go function and prints the other.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/runtime/handlers"
)

// module requests the rate of each of three steps from its host, and reports the value that it reaches.
//
//go:embed rates.mlir
var module []byte

func main() {
	log.SetFlags(0)
	backend := "auto"
	if len(os.Args) > 1 {
		backend = os.Args[1]
	}
	if err := run(context.Background(), backend, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, backend string, out io.Writer) (err error) {
	// Read the module. Calls to @ask are hooks.
	p, err := hlocb.Parse(ctx, "rates.mlir", module, hlocb.HookTargets("ask"))
	if err != nil {
		return err
	}
	// Compile once. The executable can run many times, from many goroutines.
	exe, err := p.Compile(ctx, hlocb.On(backend),
		hlocb.Observe("value", handlers.NewPrint(out, 0)),
		hlocb.Answer("rate", hlocb.Func(func(_ context.Context, step hlocb.Array[int32]) (hlocb.Array[float32], error) {
			return hlocb.Scalar(0.5 / float32(int32(1)<<step.Data[0])), nil
		})))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, exe.Close()) }()
	results, err := exe.Run(ctx, hlocb.Scalar[float32](64))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "result %s\n", results[0].AppendLiteral(nil, 0))
	return err
}
