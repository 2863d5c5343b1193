package vec

import "golang.org/x/sys/cpu"

// Bytes returns the size of the vectors in use; 0 means none.
func Bytes() int {
	switch {
	case hasAVX512():
		return 64
	case hasAVX2():
		return 32
	}
	return 0
}

// widestOf returns the function of the widest vectors that the processor has, or nil.
func widestOf[T any](narrow, wide T) (none T) {
	switch Bytes() {
	case 64:
		return wide
	case 32:
		return narrow
	}
	return none
}

// transposer returns the loop that transposes blocks side by side, if there is one.
func transposer(name string) func(dst, src *byte, dstLine, srcLine, blocks int) {
	if name == "transpose32" {
		return widestOf(transpose32AVX2, transpose32AVX2)
	}
	return widestOf(transpose64AVX2, transpose64AVX2)
}

// fourier returns the loops of the widest vectors.
func fourier() fourierLoops { return widestOf(fourierAVX2(), fourierAVX512()) }

func fourierAVX512() fourierLoops {
	return fourierLoops{8, radix4AVX512, untangleAVX512, splitAVX512, joinAVX512}
}

func fourierAVX2() fourierLoops {
	return fourierLoops{4, radix4AVX2, untangleAVX2, splitAVX2, joinAVX2}
}

func hasAVX512() bool {
	return hasAVX2() && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL
}

func hasAVX2() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }
