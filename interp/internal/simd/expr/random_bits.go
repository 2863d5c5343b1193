package expr

// ThreeFry returns the program of Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1,
// 2, 3", 2011). Its operands are the first and the second words of counters, and three words of the key: two, and
// 0x1BD11BDA xor both. Its results are the words of the random numbers.
func ThreeFry() *Program {
	p := New(4)
	u, v := p.Input("i32", false), p.Input("i32", false)
	key := []*Node{p.Input("i32", true), p.Input("i32", true), p.Input("i32", true)}
	u, v = p.iadd(u, key[0]), p.iadd(v, key[1])
	for r := range 5 {
		for _, n := range [2][4]uint64{{13, 15, 26, 6}, {17, 29, 16, 24}}[r%2] {
			u = p.iadd(u, v)
			v = p.xor(p.or(p.shl(v, n), p.shr(v, 32-n)), u)
		}
		u, v = p.iadd(u, key[(r+1)%3]), p.iadd(p.iadd(v, key[(r+2)%3]), p.bits(uint64(r+1)))
	}
	p.Output("i32", u)
	p.Output("i32", v)
	return p
}
