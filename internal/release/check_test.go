package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/peer"
)

// TestCheckGlibc: a program that needs clock_gettime of glibc 2.17 passes for 2.17 and not for 2.16; numbers are
// compared as numbers.
func TestCheckGlibc(t *testing.T) {
	dir := t.TempDir()
	source, program := filepath.Join(dir, "f.c"), filepath.Join(dir, "f.so")
	if err := os.WriteFile(source, []byte("void old(void);\n__asm__(\".symver old,clock_gettime@GLIBC_2.17\");\nvoid f(void) { old(); }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := peer.Command("cc", "-shared", "-fPIC", "-o", program, source).CombinedOutput(); err != nil {
		t.Skipf("skip: no C compiler for glibc: %v\n%s", err, out)
	}
	if err := checkGlibc(program, "2.17"); err != nil {
		t.Error(err)
	}
	if err := checkGlibc(program, "2.16"); err == nil || !strings.Contains(err.Error(), "needs clock_gettime of glibc 2.17") {
		t.Errorf("error is %v", err)
	}
	for _, v := range [][2]string{{"2.17", "2.9"}, {"3.0", "2.17"}, {"2.17.1", "2.17"}} {
		if !newer(v[0], v[1]) || newer(v[1], v[0]) || newer(v[0], v[0]) {
			t.Errorf("%s is not newer than %s", v[0], v[1])
		}
	}
}
