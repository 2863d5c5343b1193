//go:build !amd64

package vec

// Bytes returns 0: there are no vectors.
func Bytes() int { return 0 }

func transposer(string) func(dst, src *byte, dstLine, srcLine, blocks int) { return nil }

func fourier() fourierLoops { return fourierLoops{} }
