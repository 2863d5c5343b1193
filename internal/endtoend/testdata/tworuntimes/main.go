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
	"syscall"
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
	begin := processorTime()
	for range 20 {
		runtime.GC()
	}
	took := processorTime() - begin
	if took < 2*time.Second {
		fmt.Println("20 collections in under two seconds")
	}
	fmt.Fprintln(os.Stderr, took)
}

// processorTime returns the processor time of this process. The load of the machine does not change it much.
func processorTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
