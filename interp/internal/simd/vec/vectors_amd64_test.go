package vec

// vectors returns the loops that the processor can run, by the bytes of a vector.
func vectors(name string) map[int]loop { return supported(assembly(name)) }

func foldVectors(name string) map[int]rowsLoop { return supported(folds(name)) }

func radix4Vectors() map[int]radix4Pass { return supported[radix4Pass](radix4AVX2, radix4AVX512) }

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
