package main

// support is the file that a package with mutants gets. mutants__on is the number of the mutant to run: 0 for none,
// -1 to append the numbers of all mutants that run to the file HLOCB_MUTANTS_REACHED.
const support = `
import (
	"os"
	"strconv"
	"sync/atomic"
)

var mutants__on = func() int {
	n, _ := strconv.Atoi(os.Getenv("HLOCB_MUTANT"))
	return n
}()

var mutants__reached [1 << 17]atomic.Bool

func mutants__is(id int) bool {
	if mutants__on == id {
		return true
	}
	if mutants__on < 0 {
		mutants__reach(id)
	}
	return false
}

func mutants__reach(id int) {
	if seen := &mutants__reached[id]; seen.Load() || seen.Swap(true) {
		return
	}
	f, err := os.OpenFile(os.Getenv("HLOCB_MUTANTS_REACHED"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		panic(err)
	}
	_, err = f.WriteString(strconv.Itoa(id) + "\n")
	if err := f.Close(); err != nil {
		panic(err)
	}
	if err != nil {
		panic(err)
	}
}

type mutants__integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

type mutants__number interface {
	mutants__integer | ~float32 | ~float64
}

type mutants__ordered interface {
	mutants__number | ~string
}

func mutants__one[T mutants__integer](id int) T {
	if mutants__is(id) {
		return 1
	}
	return 0
}

func mutants__less[T mutants__ordered](id int, x, y T) bool {
	if mutants__is(id) {
		return x <= y
	}
	return (x < y) != mutants__is(id+1)
}

func mutants__lessEqual[T mutants__ordered](id int, x, y T) bool {
	if mutants__is(id) {
		return x < y
	}
	return (x <= y) != mutants__is(id+1)
}

func mutants__greater[T mutants__ordered](id int, x, y T) bool {
	if mutants__is(id) {
		return x >= y
	}
	return (x > y) != mutants__is(id+1)
}

func mutants__greaterEqual[T mutants__ordered](id int, x, y T) bool {
	if mutants__is(id) {
		return x > y
	}
	return (x >= y) != mutants__is(id+1)
}

func mutants__add[T mutants__number](id int, x, y T) T {
	if mutants__is(id) {
		return x - y
	}
	return x + y
}

func mutants__sub[T mutants__number](id int, x, y T) T {
	if mutants__is(id) {
		return x + y
	}
	return x - y
}

func mutants__mul[T mutants__number](id int, x, y T) T {
	if mutants__is(id) {
		return x / y
	}
	return x * y
}

func mutants__quo[T mutants__number](id int, x, y T) T {
	if mutants__is(id) {
		return x * y
	}
	return x / y
}

func mutants__rem[T mutants__integer](id int, x, y T) T {
	if mutants__is(id) {
		return x * y
	}
	return x % y
}

func mutants__and[T mutants__integer](id int, x, y T) T {
	if mutants__is(id) {
		return x | y
	}
	return x & y
}

func mutants__or[T mutants__integer](id int, x, y T) T {
	if mutants__is(id) {
		return x & y
	}
	return x | y
}

func mutants__shl[T, N mutants__integer](id int, x T, n N) T {
	if mutants__is(id) {
		return x >> n
	}
	return x << n
}

func mutants__shr[T, N mutants__integer](id int, x T, n N) T {
	if mutants__is(id) {
		return x << n
	}
	return x >> n
}
`
