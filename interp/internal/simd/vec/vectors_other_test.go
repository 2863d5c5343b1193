//go:build !amd64

package vec

func vectors(string) map[int]loop { return nil }

func foldVectors(string) map[int]rowsLoop { return nil }

func radix4Vectors() map[int]radix4Pass { return nil }
