//go:build static || !(linux || darwin) || !(amd64 || arm64)

package lapack

// Open returns Pure: this build loads no shared libraries.
func Open(string) (*Library, error) { return Pure(), nil }
