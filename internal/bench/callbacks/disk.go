//go:build cgo

package callbacks

import (
	"errors"
	"io"
	"os"
)

func createFile(name string) (io.WriteCloser, error) { return os.Create(name) }

// syncFile waits until a file's bytes are on the disk.
func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
