//go:build !amd64

package vec

// widest returns no loop: there are none for this processor.
func widest(string, int) (loop, int) { return nil, 0 }

// Bytes returns 0: there are no vectors.
func Bytes() int { return 0 }

func transposer(string) func(dst, src *byte, dstLine, srcLine, blocks int) { return nil }

func widestFold(string) rowsLoop { return nil }

func fourier() fourierLoops { return fourierLoops{} }
