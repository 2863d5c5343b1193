// Command tally-opt is the opt binary of another compiler: a dialect with a loop of its own, passes made of patterns,
// and the command line of hlocb opt. It is a module of its own and imports only public packages of hlocb.
package main

import (
	"os"

	"example.com/tally/tally"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/opt"
)

func main() {
	cfg, err := config()
	if err != nil {
		panic(err) // two passes have the same name
	}
	os.Exit(opt.Main(os.Args[1:], opt.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, cfg))
}

// config returns the dialects and passes of the command: hlocb's and this module's.
func config() (opt.Config, error) {
	passes, err := opt.Passes().With(Absorb, Double{}, Simplify{}, Lower{})
	return opt.Config{Name: "tally-opt", Dialects: append(all.Dialects(), tally.Dialect()), Passes: passes}, err
}
