// Command _gen generates the assembly of transposes and Fourier transforms:
// go run . -out ../vec_amd64.s -stubs ../stubs_amd64.go -pkg vec.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	writeTranspose(4)
	writeTranspose(8)
	for _, wide := range []bool{false, true} {
		writeRadix4(wide)
		writeUntangle(wide)
		writeSplit(wide)
	}
	Generate()
}
