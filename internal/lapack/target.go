package lapack

import (
	"maps"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/tensor"
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

// routines are the families that JAX calls, with their signatures for real and for complex types; "" is none. A
// signature lists the operands, and after ">" the results: the element type, then the dimensions without the batch.
// Type t is the call's type, r its real part, i a 32-bit integer, c complex. Equal letters are equal dimensions; k is
// min(m, n) and o is n-1, where m and n are those of operand 0.
var routines = map[string][2]string{
	"potrf": {"tnn > tnn i", "tnn > tnn i"},
	"getrf": {"tmn > tmn ik i", "tmn > tmn ik i"},
	"geqrf": {"tmn > tmn tk", "tmn > tmn tk"},
	"orgqr": {"tmn tq > tmn", ""},
	"ungqr": {"", "tmn tq > tmn"},
	"ormqr": {"tmn tq tab > tab", ""},
	"unmqr": {"", "tmn tq tab > tab"},
	"geqp3": {"tmn in > tmn in tk", "tmn in > tmn in tk"},
	"gesdd": {"tmn > tmn rk tuv twx i", "tmn > tmn rk tuv twx i"},
	"gesvd": {"tmn > tmn rk tuv twx i", "tmn > tmn rk tuv twx i"},
	"syevd": {"tnn > tnn rn i", ""},
	"heevd": {"", "tnn > tnn rn i"},
	"sytrd": {"tnn > tnn rn ro to i", ""},
	"hetrd": {"", "tnn > tnn rn ro to i"},
	"geev":  {"tnn > tn tn cnn cnn i", "tnn > tn tnn tnn i"},
	"gees":  {"tnn > tnn tnn tn tn i i", "tnn > tnn tnn tn i i"},
	"gehrd": {"tnn > tnn to i", "tnn > tnn to i"},
	"gtsv":  {"tn tn tn tnb > tn tn tn tnb i", "tn tn tn tnb > tn tn tn tnb i"},
	"trsm":  {"tnn tab > tab", "tnn tab > tab"},
}

// required lists the attributes that each routine needs. jaxlib's handlers refuse a call without one of them.
var required = map[string][]string{
	"potrf": {"uplo"},
	"ormqr": {"left", "transpose"},
	"unmqr": {"left", "transpose"},
	"gesdd": {"mode"},
	"gesvd": {"mode"},
	"syevd": {"mode", "uplo"},
	"heevd": {"mode", "uplo"},
	"sytrd": {"uplo"},
	"hetrd": {"uplo"},
	"geev":  {"compute_left", "compute_right"},
	"gees":  {"mode", "sort"},
	"gehrd": {"low", "high"},
	"trsm":  {"side", "uplo", "trans_x", "diag"},
}

// signature returns the signature of the target's routine, or "" if it is none of JAX's.
func (t target) signature() string {
	switch t.letter {
	case 's', 'd':
		return routines[t.routine][0]
	case 'c', 'z':
		return routines[t.routine][1]
	}
	return ""
}

func parse(name string) (target, bool) {
	rest, ok := strings.CutPrefix(name, "lapack_")
	rest, ffi := strings.CutSuffix(rest, "_ffi")
	if !ok || !ffi || len(rest) < 2 {
		return target{}, false
	}
	t := target{rest[1:], rest[0]}
	return t, t.signature() != ""
}

// own are jaxlib's custom call targets that no routine of LAPACK computes.
var own = map[string]func(order Order, in, out []*tensor.Tensor) error{
	sparseTarget:      sparseDense,
	tridiagonalTarget: solveTridiagonal,
}

// Targets returns all custom call targets that this package computes.
func Targets() []string {
	list := slices.Collect(maps.Keys(own))
	for routine, signatures := range routines {
		for i, letters := range []string{"sd", "cz"} {
			for _, l := range letters {
				if signatures[i] != "" {
					list = append(list, "lapack_"+string(l)+routine+"_ffi")
				}
			}
		}
	}
	slices.Sort(list)
	return list
}

// Supports reports whether a custom call target is one of JAX that this package computes.
func Supports(name string) bool {
	_, ok := parse(name)
	return ok || own[name] != nil
}
