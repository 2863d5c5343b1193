package lapack

import (
	"strings"
)

// target is a parsed custom call target: lapack_dgesdd_ffi is routine gesdd of type d.
type target struct {
	routine string // without the letter of the type
	letter  byte   // s, d, c, z
}

func (t target) complex() bool { return t.letter == 'c' || t.letter == 'z' }

// size returns the bytes of an element and the bytes of its real part.
func (t target) size() (element, part int) {
	switch t.letter {
	case 's':
		return 4, 4
	case 'd':
		return 8, 8
	case 'c':
		return 8, 4
	}
	return 16, 8
}

// routines are the families that JAX calls, and the types of each.
var routines = map[string]string{
	"potrf": "sdcz", "getrf": "sdcz", "geqrf": "sdcz", "orgqr": "sd", "ungqr": "cz", "ormqr": "sd", "unmqr": "cz", "geqp3": "sdcz", "gesdd": "sdcz",
	"gesvd": "sdcz", "syevd": "sd", "heevd": "cz", "sytrd": "sd", "hetrd": "cz", "geev": "sdcz", "gees": "sdcz",
	"gehrd": "sdcz", "gtsv": "sdcz", "trsm": "sdcz",
}

func parse(name string) (target, bool) {
	rest, ok := strings.CutPrefix(name, "lapack_")
	rest, ffi := strings.CutSuffix(rest, "_ffi")
	if !ok || !ffi || len(rest) < 2 {
		return target{}, false
	}
	t := target{rest[1:], rest[0]}
	return t, strings.IndexByte(routines[t.routine], t.letter) >= 0
}

// Supports reports whether a custom call target is a LAPACK call of JAX that this package computes.
func Supports(name string) bool {
	_, ok := parse(name)
	return ok
}
