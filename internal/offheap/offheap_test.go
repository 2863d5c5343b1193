package offheap

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// TestClasses: classes grow with the size, waste at most 25 % beyond the alignment, and have one size each.
func TestClasses(t *testing.T) {
	sizes := map[int]int{}
	last := 0
	for n := 0; n < 1<<50; n += 1 + n/97 {
		class, size := classOf(n)
		if n > 1<<46 {
			break
		}
		if size < n || size%Align != 0 || class < last || size > max(n, Align)+max(n/4, Align) {
			t.Fatalf("%d bytes: class %d after %d, size %d", n, class, last, size)
		}
		if s, ok := sizes[class]; ok && s != size {
			t.Fatalf("class %d has sizes %d and %d", class, s, size)
		}
		sizes[class], last = size, class
		if size > small && sizeOf(class) != size {
			t.Fatalf("class %d: size %d, sizeOf %d", class, size, sizeOf(class))
		}
	}
	if last >= classes {
		t.Fatalf("class %d", last)
	}
}

// TestBlocksAreDisjoint: allocated blocks keep their bytes while other goroutines allocate and free.
func TestBlocksAreDisjoint(t *testing.T) {
	p := New(0)
	var wg sync.WaitGroup
	for g := range byte(8) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(g)))
			held := map[int][]byte{}
			for i := range 2000 {
				k := r.IntN(20)
				if b, ok := held[k]; ok {
					for _, v := range b {
						if v != g+byte(k) {
							t.Errorf("block of %d bytes has changed", len(b))
							return
						}
					}
					p.Free(b)
					delete(held, k)
					continue
				}
				n := r.IntN(1 << r.IntN(20))
				b, err := p.Alloc(n)
				if err != nil {
					t.Error(err)
					return
				}
				if uintptr(unsafe.Pointer(unsafe.SliceData(b)))%Align != 0 || len(b) != n {
					t.Errorf("block of %d bytes at %p in step %d", len(b), b, i)
				}
				for j := range b {
					b[j] = g + byte(k)
				}
				held[k] = b
			}
			for _, b := range held {
				p.Free(b)
			}
		})
	}
	wg.Wait()
	if s := p.Stats(); s.InUse != 0 {
		t.Errorf("%d bytes are in use", s.InUse)
	}
}

func TestLimit(t *testing.T) {
	p := New(1 << 20)
	b, err := p.Alloc(700 << 10)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Alloc(400 << 10); !errors.As(err, new(*LimitError)) {
		t.Errorf("beyond the limit: %v", err)
	}
	p.Free(b)
	if b, err = p.Alloc(400 << 10); err != nil {
		t.Error(err)
	}
	p.Free(b)
	if _, err := p.Alloc(1 << 50); err == nil {
		t.Error("no error for 2^50 bytes")
	}
}

// TestIdleBlocksGoBack: large free blocks are reused at first, and go back to the operating system later.
func TestIdleBlocksGoBack(t *testing.T) {
	p := New(0)
	a, _ := p.Alloc(4 << 20)
	p.Free(a)
	b, _ := p.Alloc(4 << 20)
	if &a[0] != &b[0] {
		t.Error("the free block was not reused")
	}
	p.Free(b)
	for deadline := time.Now().Add(10 * time.Second); p.Stats().Free > 0; time.Sleep(Idle / 4) {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes wait", p.Stats().Free)
		}
	}
}
