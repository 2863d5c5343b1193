//go:build !amd64 || !(linux || darwin || freebsd || netbsd || openbsd || windows)

package machine

const supported = false

func executable([]byte) ([]byte, error) { return nil, errUnsupported }

func release([]byte) error { return nil }
