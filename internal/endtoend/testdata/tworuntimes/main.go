// Command tworuntimes loads a c-shared library, a second Go runtime, and then needs asynchronous preemption: it
// collects garbage while a goroutine loops without a call.
package main

// #cgo LDFLAGS: -ldl
// #include <dlfcn.h>
// #include <stdlib.h>
// static const void *load(const char *path) {
//   void *library = dlopen(path, RTLD_NOW);
//   const void *(*get)(void) = library ? (const void *(*)(void))dlsym(library, "GetPjrtApi") : 0;
//   return get ? get() : 0;
// }
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"time"
	"unsafe"
)

var sum int

func main() {
	runtime.GOMAXPROCS(2)
	path := C.CString(os.Args[1])
	defer C.free(unsafe.Pointer(path))
	if C.load(path) == nil {
		fmt.Println("no table")
		os.Exit(1)
	}
	started := make(chan bool)
	go func() {
		close(started)
		for i := 0; ; i++ {
			sum += i
		}
	}()
	<-started
	begin := time.Now()
	for range 20 {
		runtime.GC()
	}
	fmt.Println("20 collections")
	fmt.Fprintln(os.Stderr, time.Since(begin))
}
