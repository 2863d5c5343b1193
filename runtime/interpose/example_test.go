//go:build cgo

package interpose_test

import (
	"fmt"
	"os"

	"github.com/hlocb/hlocb/runtime/interpose"
)

// A program that loads PJRT plugins itself wraps their tables. 'hlocb exec' does the same for programs in any language.
func Example() {
	config := interpose.Config{Taps: []string{`train.py:41=stats`, `tanh=finite`}, Events: []string{os.DevNull}}
	i, err := interpose.New(config, interpose.Host{Out: os.Stdout, Err: os.Stderr})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer i.Close()
	// table, err := i.WrapPlugin("xla_cpu_pjrt.so")
	// err = pjrt.RegisterPreloadedPlugin("cpu", table) // of go-xla
	_, err = interpose.New(interpose.Config{Taps: []string{"("}}, interpose.Host{})
	fmt.Println(err)
	// Output: tap (: error parsing regexp: missing closing ): `(`
}
