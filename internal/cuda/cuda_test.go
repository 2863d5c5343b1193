//go:build cgo

package cuda

import (
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"github.com/hlocb/hlocb/internal/peer"
)

// TestPinnedPool: a pool gives blocks again that the GPU has read, and frees all when the client is closed. It runs on
// a driver that ends the process if a block is freed twice.
func TestPinnedPool(t *testing.T) {
	driver := filepath.Join(t.TempDir(), "driver.so")
	if out, err := peer.Command("cc", "-O1", "-shared", "-fPIC", "-DCUDA", `-DPLUGIN=""`, "-o", driver, "../../runtime/pjrt/testdata/far_plugin.c", "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m, err := Open(driver)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	queue, p := unsafe.Pointer(&stream[0]), m.Pool(0)
	take := func(size int) *Block {
		b, err := p.Take(queue, size)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	a, b := take(100<<10), take(100<<10)
	if len(a.bytes) != 128<<10 || &a.bytes[0] == &b.bytes[0] {
		t.Errorf("blocks of %d and %d bytes, expected two of %d", len(a.bytes), len(b.bytes), 128<<10)
	}
	p.Give(queue, a, true)
	p.Give(queue, b, false)
	if c := take(90 << 10); c != a {
		t.Error("a block was not used again")
	}
	if c := take(1 << 20); c == b || len(c.bytes) != 1<<20 {
		t.Errorf("1 MiB takes a block of %d bytes", len(c.bytes))
	} else {
		p.Give(queue, c, true)
	}
	p.Give(queue, a, true)

	// The host runs ahead of a GPU that reads nothing: the pool waits for the oldest block.
	p.limit = 4 << 20
	for range 100 {
		p.Give(queue, take(1<<20), true)
		if p.kept > p.limit {
			t.Fatalf("the pool keeps %d bytes, its limit is %d", p.kept, p.limit)
		}
	}
	// Without the mark of their end, copies are awaited.
	t.Setenv("REFUSE_RECORDS", "1")
	c := take(2 << 20)
	device := make([]byte, 1)
	if err := m.FromHost(queue, unsafe.Pointer(&device[0]), c.bytes[:1]); err == nil {
		p.Give(queue, c, true)
		if C := m.Wait(queue); C != nil {
			t.Error(C)
		}
	}
	m.Release()
	if len(p.free) != 0 || p.kept != 0 {
		t.Errorf("%d blocks of %d bytes are left", len(p.free), p.kept)
	}
}
