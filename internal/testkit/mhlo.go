package testkit

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	bounds = regexp.MustCompile(`#mhlo\.bounds<([^>]*)>`)
	rng    = regexp.MustCompile(`#mhlo<(rng_\w+) (\w+)>`)
	arrays = regexp.MustCompile(`array<i64(?:: ([^>]*))?>`)
)

// MHLO returns a StableHLO module in generic form with MHLO's names.
func MHLO(text string) string {
	for _, prefix := range []string{"\"", "#", "!"} {
		text = strings.ReplaceAll(text, prefix+"stablehlo", prefix+"mhlo")
	}
	text = bounds.ReplaceAllString(text, "#mhlo.type_extensions<bounds = [$1]>")
	text = rng.ReplaceAllString(text, "#mhlo.$1<$2>")
	// MHLO writes StableHLO's arrays of integers as tensors.
	return arrays.ReplaceAllStringFunc(text, func(s string) string {
		list := arrays.FindStringSubmatch(s)[1]
		if list == "" {
			return "dense<> : tensor<0xi64>"
		}
		return fmt.Sprintf("dense<[%s]> : tensor<%dxi64>", list, strings.Count(list, ",")+1)
	})
}
