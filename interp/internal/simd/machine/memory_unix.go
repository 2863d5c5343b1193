//go:build amd64 && (linux || darwin || freebsd || netbsd || openbsd)

package machine

import "golang.org/x/sys/unix"

const supported = true

// executable returns memory that holds the code and may be executed, but not written.
func executable(code []byte) ([]byte, error) {
	m, err := unix.Mmap(-1, 0, len(code), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	copy(m, code)
	if err := unix.Mprotect(m, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		_ = unix.Munmap(m)
		return nil, err
	}
	return m, nil
}

func release(m []byte) error { return unix.Munmap(m) }
