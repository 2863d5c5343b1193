package jaxexport_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/hlocb/hlocb/internal/jaxexport"
)

// file returns a file of jax.export with a name and a module and nothing else.
func file(name, module string) []byte {
	const slots = 14
	b := make([]byte, 4)
	vtable := len(b)
	b = binary.LittleEndian.AppendUint16(b, 4+2*slots)
	b = binary.LittleEndian.AppendUint16(b, 12)
	for i := range slots {
		off := uint16(0)
		switch i {
		case 1: // the function's name
			off = 4
		case 13: // the module
			off = 8
		}
		b = binary.LittleEndian.AppendUint16(b, off)
	}
	table := len(b)
	binary.LittleEndian.PutUint32(b, uint32(table))
	b = binary.LittleEndian.AppendUint32(b, uint32(table-vtable))
	b = append(b, make([]byte, 8)...)
	for i, s := range [...]string{name, module} {
		field := table + 4 + 4*i
		binary.LittleEndian.PutUint32(b[field:], uint32(len(b)-field))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	return b
}

func TestReplace(t *testing.T) {
	data := file("f", "ML\xefR module")
	for _, module := range []string{"ML\xefR module", "short", "ML\xefR a module that is longer than the one before"} {
		f, err := jaxexport.Read(data)
		if err != nil {
			t.Fatal(err)
		}
		out, err := jaxexport.Replace(data, f, []byte(module))
		if err != nil {
			t.Fatal(err)
		}
		g, err := jaxexport.Read(out)
		if err != nil || string(out[g.Module[0]:g.Module[1]]) != module || g.Name != "f" {
			t.Errorf("replaced by %q: %+v, %v", module, g, err)
		}
		if f.Module != g.Module && bytes.Contains(out[:f.Module[1]], []byte("module")) {
			t.Errorf("replaced by %q: the old module is still in the file", module)
		}
	}
}

// TestTruncatedFilesAreRefused cuts a file at every byte: each part is refused with an offset in it.
func TestTruncatedFilesAreRefused(t *testing.T) {
	data := file("name", "ML\xefR module")
	for n := range data {
		_, err := jaxexport.Read(data[:n:n])
		e, ok := err.(*jaxexport.Error)
		if !ok || e.Offset > n {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
}

// TestCorpus reads files of JAX.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("HLOCB_BYTECODE")
	if dir == "" {
		t.Skip("HLOCB_BYTECODE is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "prog.jaxexport"))
	if err != nil || len(files) == 0 {
		t.Fatal("the corpus has no file of jax.export")
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := jaxexport.Read(data)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		module, err := os.ReadFile(filepath.Join(filepath.Dir(path), "module.vhlo.bc"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(data[f.Module[0]:f.Module[1]], module) || len(f.Platforms) == 0 || len(f.Outputs) == 0 {
			t.Errorf("%s: %+v", path, f)
		}
	}
}
