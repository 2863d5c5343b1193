package vec

// vectors returns the loops that the processor can run, by the bytes of a vector.
func vectors(name string) map[int]loop {
	narrow, wide := assembly(name)
	out := map[int]loop{}
	if hasAVX2() {
		out[32] = narrow
	}
	if hasAVX512() {
		out[64] = wide
	}
	return out
}
