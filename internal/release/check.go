package main

import (
	"debug/elf"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// largestWheel is the largest size of a wheel in MB.
const largestWheel = 25

// checkGlibc fails if a program or library needs a symbol of a glibc newer than oldest, such as 2.17. pip installs a
// wheel by this version in its tag, and auditwheel compares the same.
func checkGlibc(path, oldest string) error {
	f, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	symbols, err := f.ImportedSymbols()
	if errors.Is(err, elf.ErrNoSymbols) {
		return nil // it is static
	}
	if err != nil {
		return err
	}
	for _, s := range symbols {
		if v, ok := strings.CutPrefix(s.Version, "GLIBC_"); ok && newer(v, oldest) {
			return fmt.Errorf("%s needs %s of glibc %s, which is newer than %s", path, s.Name, v, oldest)
		}
	}
	return nil
}

// newer reports whether version a is newer than b. Both are numbers with points between them.
func newer(a, b string) bool {
	for b != "" || a != "" {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		m, _ := strconv.Atoi(x)
		n, _ := strconv.Atoi(y)
		if m != n {
			return m > n
		}
	}
	return false
}
