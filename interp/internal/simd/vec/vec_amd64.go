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

// transposer returns the loop that transposes blocks side by side, if there is one.
func transposer(name string) func(dst, src *byte, dstLine, srcLine, blocks int) {
	switch {
	case !hasAVX2():
		return nil
	case name == "transpose32":
		return transpose32AVX2
	}
	return transpose64AVX2
}

// widest returns the loop of the widest vectors that the processor has, and their number of lanes.
func widest(name string, width int) (loop, int) {
	narrow, wide := assembly(name)
	switch {
	case wide != nil && hasAVX512():
		return wide, 64 / width
	case narrow != nil && hasAVX2():
		return narrow, 32 / width
	}
	return nil, 0
}

// widestFold returns the fold of the widest vectors that the processor has, or nil.
func widestFold(name string) rowsLoop {
	narrow, wide := folds(name)
	switch {
	case hasAVX512():
		return wide
	case hasAVX2():
		return narrow
	}
	return nil
}

// fourier returns the loops of the widest vectors that the processor has.
func fourier() fourierLoops {
	switch {
	case hasAVX512():
		return fourierAVX512()
	case hasAVX2():
		return fourierAVX2()
	}
	return fourierLoops{}
}

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
