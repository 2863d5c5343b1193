//go:build cgo

package ffi

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestHeader: ffi.h changes with the header that it includes, so Go builds this package again.
func TestHeader(t *testing.T) {
	header, err := os.ReadFile("../../runtime/pjrt/abi.h")
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile("ffi.h")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("// sha256 %x\n", sha256.Sum256(header)); !strings.Contains(string(own), want) {
		t.Errorf("abi.h has changed; write to ffi.h: %s", want)
	}
}
