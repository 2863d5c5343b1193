package runtime_test

import (
	"bytes"
	"testing"

	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestResultBytesOfI1: other languages write any byte for true.
func TestResultBytesOfI1(t *testing.T) {
	r := tensor.New(tensor.I1, tensor.Shape{4})
	c := &runtime.Call{Results: []*tensor.Tensor{r}}
	if err := c.SetResultBytes(0, []byte{0, 1, 2, 255}); err != nil {
		t.Fatal(err)
	}
	if want := []byte{0, 1, 1, 1}; !bytes.Equal(r.Bytes(), want) {
		t.Errorf("the result holds %v, want %v", r.Bytes(), want)
	}
}
