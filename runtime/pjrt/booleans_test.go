//go:build cgo

package pjrt

import (
	"testing"
)

// Booleans in hexadecimal, as MLIR prints more than a hundred of them, are listed; other text stays.
func TestListBooleans(t *testing.T) {
	for in, want := range map[string]string{
		`%0 = dense<"0x010001"> : tensor<3xi1>; %1 = dense<"0x000100"> : tensor<3x1xi1>.`: `%0 = dense<[true, false, true]> : tensor<3xi1>; %1 = dense<[[false], [true], [false]]> : tensor<3x1xi1>.`,
		`dense<"0x0D01"> : tensor<9xi1>`:     `dense<[true, false, true, true, false, false, false, false, true]> : tensor<9xi1>`,
		`dense<"0x010001"> : tensor<3xi8>`:   `dense<"0x010001"> : tensor<3xi8>`,
		`dense<"0x010001"> : tensor<3xi1`:    `dense<"0x010001"> : tensor<3xi1`,
		`dense<"0x010001" : tensor<3xi1>`:    `dense<"0x010001" : tensor<3xi1>`,
		`dense<"0x010001`:                    `dense<"0x010001`,
		`dense<"0x01000101"> : tensor<3xi1>`: `dense<"0x01000101"> : tensor<3xi1>`,
		``:                                   ``,
	} {
		if got := string(listBooleans([]byte(in))); got != want {
			t.Errorf("%s becomes\n%s, not\n%s", in, got, want)
		}
	}
}
