//go:build !cgo

package lapack

import "errors"

// Library is LAPACK in a shared library.
type Library struct{}

// Open fails: this build has no cgo.
func Open(string) (*Library, error) {
	return nil, errors.New("LAPACK needs a build with cgo")
}

func (l *Library) call(string, ...any) error { return errors.ErrUnsupported }
