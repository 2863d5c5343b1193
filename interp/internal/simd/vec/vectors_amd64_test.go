package vec

func fourierVectors() map[int]fourierLoops {
	out := map[int]fourierLoops{}
	if hasAVX2() {
		out[32] = fourierAVX2()
	}
	if hasAVX512() {
		out[64] = fourierAVX512()
	}
	return out
}
