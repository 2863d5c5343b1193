package vec

// vectors returns the loops that the processor can run, by the bytes of a vector.
func vectors(name string) map[int]loop { return supported(assembly(name)) }

func foldVectors(name string) map[int]rowsLoop { return supported(folds(name)) }

func fourierVectors() map[int]fourierLoops { return supported(fourierAVX2(), fourierAVX512()) }

func supported[F any](narrow, wide F) map[int]F {
	out := map[int]F{}
	if hasAVX2() {
		out[32] = narrow
	}
	if hasAVX512() {
		out[64] = wide
	}
	return out
}
