package kernel

import (
	"github.com/hlocb/hlocb/tensor"
)

func Fits(t Type, got tensor.Shape) bool {
	want := t.Shape
	if want == nil && t.N < 0 { // unranked
		return true
	}
	if len(want) != len(got) {
		return false
	}
	for i, w := range want {
		if w != got[i] && w >= 0 {
			return false
		}
	}
	return t.Beyond(got) < 0
}
