package kernel

// SameElements reports whether t and o have the same element type.
func (t Type) SameElements(o Type) bool { return t.DType == o.DType && t.Quant.Same(o.Quant) }
