package ir

// segments returns how many of n values belong to each of args, given the segment sizes attribute (nil if the op has
// none). ok is false if the numbers do not add up, or if an optional value is several values.
func segments(buf []int, args []Arg, n int, sizes Attr, same bool) (counts []int, ok bool) {
	counts = buf[:0]
	if arr, isArray := sizes.(*DenseArrayAttr); isArray {
		total := 0
		for _, v := range arr.values {
			if v < 0 || v > int64(n) {
				return nil, false
			}
			counts = append(counts, int(v))
			total += int(v)
		}
		return counts, total == n && len(counts) == len(args) && severalAt(args, counts) < 0
	}
	fixed, variable := countArgs(args)
	rest := n - fixed
	if rest < 0 || variable == 0 && rest > 0 || variable > 1 && (!same || rest%variable != 0) {
		return nil, false
	}
	for i := range args {
		if args[i].Mult == One {
			counts = append(counts, 1)
		} else {
			counts = append(counts, rest/variable)
		}
	}
	return counts, severalAt(args, counts) < 0
}

// severalAt returns the index of the first optional arg that has several values, or -1.
func severalAt(args []Arg, counts []int) int {
	for i := range args {
		if args[i].Mult == Optional && counts[i] > 1 {
			return i
		}
	}
	return -1
}

// OperandSegments returns the number of operands for each operand Arg of the op's definition.
func (o *Op) OperandSegments(buf []int) (counts []int, ok bool) {
	var sizes Attr
	if o.def.Traits&AttrSizedOperands != 0 {
		sizes = o.Attr("operandSegmentSizes")
	}
	return segments(buf, o.def.Operands, o.NumOperands(), sizes, o.def.Traits&SameVariadicOperands != 0)
}

// ResultSegments returns the number of results for each result Arg of the op's definition.
func (o *Op) ResultSegments(buf []int) (counts []int, ok bool) {
	var sizes Attr
	if o.def.Traits&AttrSizedResults != 0 {
		sizes = o.Attr("resultSegmentSizes")
	}
	return segments(buf, o.def.Results, o.NumResults(), sizes, false)
}
