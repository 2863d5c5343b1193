//go:build cgo

package goxla_test

import (
	"context"
	"fmt"
	"os"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/goxla"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/runtime/pjrt"
)

// Attach binds handlers to the hooks of a program that go-xla compiles and executes. The manifest comes from the
// conversion of the program's hooks.
func ExampleAttach() {
	plugin, err := goxla.Plugin("cpu", os.Getenv("HLOCB_CPU_PLUGIN"))
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := plugin.NewClient(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Destroy()
	var bindings runtime.Bindings
	bindings.Observe("*", handlers.NewPrint(os.Stdout, 0))
	attachment, err := goxla.Attach(context.Background(), client, &hook.Manifest{}, pjrt.AttachOptions{Handlers: &bindings})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer attachment.Detach()
	// Compile and execute the program with client, then ask the attachment for the failure of a hook.
	fmt.Println(attachment.Err())
}
