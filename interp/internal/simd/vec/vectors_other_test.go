//go:build !amd64

package vec

func vectors(string) map[int]loop { return nil }

func foldVectors(string) map[int]rowsLoop { return nil }

func fourierVectors() map[int]fourierLoops { return nil }
