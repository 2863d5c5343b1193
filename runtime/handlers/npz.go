package handlers

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/tensorio"
	"github.com/hlocb/hlocb/runtime"
)

// NPZ writes every operand as an array of a .npz file, which numpy.load reads. An array's name is
// HOOK.RUN.DEVICE.SEQ.OPERAND. In HOOK, '_' replaces every character except letters, digits and "_-#" of ASCII. Of a
// longer name, '~' and the hook's id follow the first 128 bytes. The arrays are stored, not compressed. NPZ
// is safe for concurrent devices. Close writes the directory, which readers need.
type NPZ struct {
	mu     sync.Mutex
	z      *zip.Writer
	c      io.Closer
	closed bool
}

// NewNPZ returns a handler that writes to w. Close closes w if it is an io.Closer.
func NewNPZ(w io.Writer) *NPZ {
	n := &NPZ{z: zip.NewWriter(w)}
	n.c, _ = w.(io.Closer)
	return n
}

func newNPZ(args string, env *Env) (runtime.Handler, error) {
	if args == "" {
		return nil, errors.New("needs a file: npz:FILE")
	}
	create := env.Whole
	if create == nil {
		create = env.Create
	}
	if create == nil {
		return nil, errors.New("no files can be created here")
	}
	f, err := create(args)
	if err != nil {
		return nil, err
	}
	return NewNPZ(f), nil
}

// Handle writes the operands of one event.
func (n *NPZ) Handle(_ context.Context, c *runtime.Call) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return errors.New("recording is closed")
	}
	for i, t := range c.Operands {
		name := fmt.Sprintf("%s.%d.%d.%d.%d.npy", fileName(c.Site), c.Run, c.Device, c.Seq, i)
		w, err := n.z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			return err
		}
		if err := tensorio.WriteNPY(w, t); err != nil {
			return err
		}
	}
	return nil
}

// maxFileName limits the part of an array's name that the module chooses. Zip allows 65,535 bytes for the whole name.
const maxFileName = 128

// fileName returns a form of the hook's name that every file system accepts.
func fileName(s *hook.Site) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '#':
			return r
		}
		return '_'
	}, s.Name)
	if len(name) > maxFileName {
		return name[:maxFileName] + "~" + s.ID.String()
	}
	return name
}

// Close writes the directory and closes the file.
func (n *NPZ) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil
	}
	n.closed = true
	err := n.z.Close()
	if n.c != nil {
		err = errors.Join(err, n.c.Close())
	}
	return err
}
