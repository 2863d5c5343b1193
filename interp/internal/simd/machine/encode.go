package machine

import (
	"errors"
	"math"
	"slices"

	"github.com/hlocb/hlocb/interp/internal/simd/expr"
)

// maxArrays is the number of operands and results of a program.
const maxArrays = 64

// spillBytes is the memory for vectors that have no register.
const spillBytes = 8192

var errTooLarge = errors.New("the program needs too many registers")

// pointers are the registers that hold the addresses of the first arrays. rdi holds the table of addresses, rsi the
// number of elements, rdx the first element of a vector, rax an address, and r12 the memory of spilled vectors.
var pointers = []int{rbx, rcx, r8, r9, r10, r11, r13}

// encode returns the loop over the elements of the arrays of p, in vectors of the given bytes.
func encode(p *expr.Program, bytes int) ([]byte, error) {
	if len(p.In)+len(p.Out) > maxArrays {
		return nil, errTooLarge
	}
	code, err := encodeOnce(p, bytes, true)
	if err != nil { // too many masks or spilled vectors
		return encodeOnce(p, bytes, false)
	}
	return code, nil
}

// encodeOnce returns the loop, of two vectors in an iteration if pair is set.
func encodeOnce(p *expr.Program, bytes int, pair bool) ([]byte, error) {
	e := newEncoder(p, bytes)
	one := copies{live: p.Live()}
	for i, o := range p.In {
		e.of(o.Node).array = i
	}
	for _, o := range p.Out {
		one.out = append(one.out, o.Node)
	}
	var two copies
	if pair {
		two = e.paired(one)
	}
	// Constants stay in the registers that the loop does not need. The operations of two vectors show how many that is.
	first := two
	if !pair {
		first = one
	}
	e.body(first)
	if e.failed {
		return nil, errTooLarge
	}
	var keys []value
	for k := range e.reads {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b value) int { return e.reads[a].compare(e.reads[b]) })
	kept := map[value]int{}
	for i, k := range keys[:min(e.registers-e.most, len(keys))] {
		kept[k] = e.registers - 1 - i
	}
	e.again(kept)
	if err := e.loop(one, two); err != nil {
		return nil, err
	}
	return e.finish(), nil
}

// value is a constant or an operand with equal elements.
type value struct {
	bits  uint64
	width int
	array int // of an operand, or -1
}

// reading says how often a value is read, and when first.
type reading struct{ count, first int }

func (r reading) compare(s reading) int {
	if r.count != s.count {
		return s.count - r.count
	}
	return r.first - s.first
}

// encoder encodes one program. It assigns registers to values in the order of the operations. If no register is free,
// the value that is read last loses its register.
type encoder struct {
	assembler
	p         *expr.Program
	bytes     int        // of a vector
	width     int        // of the current operation's lanes
	single    *expr.Loop // the loop on single values, or nil
	index     *expr.Node // the value in rax
	leaves    []leave
	registers int
	lowest    int // register that values may have
	most      int // registers in use at one time
	kept      map[value]int
	reads     map[value]reading
	owner     [32]*expr.Node // of a register; temporary for one that an operation uses for itself
	masks     [8]*expr.Node  // of mask registers; 0 means no mask
	slots     int
	places    []place // by the number of the node
	at        int
	locked    []int
	failed    bool
}

// place is what the encoder knows of a value.
type place struct {
	reg    int   // its register, or -1
	slot   int   // its memory if it was spilled, or -1
	array  int   // of an operand, or -1
	vector int   // of an iteration, 0 or 1, that holds an operand
	uses   []int // the operations that read the value; stores are after the last one
	passed int   // number of uses before the current operation
}

// temporary stands for values within an operation.
var temporary = &expr.Node{}

// of returns the place of a node.
func (e *encoder) of(n *expr.Node) *place { return &e.places[n.ID] }

// grow makes places for nodes up to a number.
func (e *encoder) grow(nodes int) {
	for len(e.places) <= nodes {
		e.places = append(e.places, place{reg: -1, slot: -1, array: -1})
	}
}

func newEncoder(p *expr.Program, bytes int) *encoder {
	e := &encoder{p: p, bytes: bytes, reads: map[value]reading{}}
	e.wide, e.width = bytes == 64, p.Width
	e.registers = 16
	if e.wide {
		e.registers = 32
	}
	e.grow(p.Nodes())
	return e
}

// again prepares the encoder to encode the same operations again, with values that stay in registers.
func (e *encoder) again(kept map[value]int) {
	e.assembler = assembler{wide: e.wide, code: e.code[:0]}
	e.kept, e.width = kept, e.p.Width
	e.index, e.leaves = nil, nil
	e.owner, e.masks = [32]*expr.Node{}, [8]*expr.Node{}
	e.most, e.slots, e.at, e.locked, e.failed = 0, 0, 0, nil, false
	clear(e.reads)
	for i := range e.places {
		e.places[i].reg = -1
	}
	e.fresh()
}

// fresh forgets which values are in memory, and who reads values: the code before may not have been executed.
func (e *encoder) fresh() {
	for i := range e.places {
		p := &e.places[i]
		p.slot, p.uses, p.passed = -1, p.uses[:0], 0
	}
}

func (e *encoder) length() byte {
	switch {
	case e.wide:
		return bits512
	case e.single != nil:
		return bits128
	}
	return bits256
}

// w returns the W bit of instructions on lanes of eight bytes.
func (e *encoder) w() byte { return byte(e.width / 8) }

// copies are operations of one vector of a loop's iteration.
type copies struct {
	live []*expr.Node
	out  []*expr.Node // the results
}

// loop encodes the loop. Its iterations compute two vectors if there are operations of two; then one more vector may
// follow.
func (e *encoder) loop(one, two copies) error {
	pair := len(two.out) > 0
	for i := range len(e.p.In) + len(e.p.Out) {
		if i < len(pointers) {
			e.loadPointer(pointers[i], rdi, int32(8*i))
		}
	}
	for _, k := range e.keptInOrder() {
		r := e.kept[k]
		if k.array >= 0 {
			e.load(r, e.p.In[k.array].Format, e.array(k.array, e.p.In[k.array].Format, true, 0))
		} else {
			e.move(r, e.constant(k.bits, k.width))
		}
	}
	e.clear(rdx)
	lanes := int32(e.bytes / e.p.Width)
	end := -1
	if pair {
		e.addImmediate(rsi, -lanes)
		single := e.jumpUnlessLess(rdx, rsi)
		begin := len(e.code)
		e.body(two)
		e.addImmediate(rdx, 2*lanes)
		e.jumpLess(rdx, rsi, begin)
		e.land(single)
		e.addImmediate(rsi, lanes)
		end = e.jumpUnlessLess(rdx, rsi)
	}
	begin := len(e.code)
	e.body(one)
	if pair {
		e.land(end)
	} else {
		e.addImmediate(rdx, lanes)
		e.jumpLess(rdx, rsi, begin)
	}
	e.end()
	if e.failed || e.slots*e.bytes > spillBytes {
		return errTooLarge
	}
	return nil
}

// paired returns the operations of two vectors, in turns, as most operations wait for the one before them: a million
// e^x of f32 take 0.47 ms on one core, 0.68 a vector at a time.
func (e *encoder) paired(one copies) copies {
	var two copies
	twins := [2][]*expr.Node{make([]*expr.Node, e.p.Nodes()+1), make([]*expr.Node, e.p.Nodes()+1)} // by the number of the node
	nodes := make([]expr.Node, 0, 2*e.p.Nodes())
	twin := func(k int, n *expr.Node) *expr.Node {
		i := e.of(n).array
		switch {
		case twins[k][n.ID] != nil:
			return twins[k][n.ID]
		case n.Op == "const" || i >= 0 && e.p.In[i].Same:
			return n
		}
		nodes = append(nodes, *n)
		c := &nodes[len(nodes)-1]
		c.ID = e.p.Nodes() + len(nodes)
		e.grow(c.ID)
		twins[k][n.ID] = c
		e.of(c).array, e.of(c).vector = i, k
		return c
	}
	two.live = make([]*expr.Node, 0, 2*len(one.live))
	arguments := 0
	for _, n := range one.live {
		arguments += 2 * len(n.Args)
	}
	args := make([]*expr.Node, 0, arguments)
	for _, n := range one.live {
		for k := range twins {
			c := twin(k, n)
			from := len(args)
			for _, a := range n.Args {
				args = append(args, twin(k, a))
			}
			c.Args = args[from:]
			two.live = append(two.live, c)
		}
	}
	for k := range twins {
		for _, n := range one.out {
			two.out = append(two.out, twin(k, n))
		}
	}
	return two
}

// body encodes the operations and the stores of results.
func (e *encoder) body(c copies) {
	live, results := c.live, len(e.p.Out)
	stores := map[*expr.Node][]int{}
	e.fresh()
	e.count(live)
	for i, n := range c.out {
		stores[n] = append(stores[n], i)
		if n.Op == "in" || n.Op == "const" { // a result that nothing computes
			e.read(n, len(live))
		}
	}
	save := func(i int, n *expr.Node) {
		e.store(e.p.Out[i%results].Format, n, len(e.p.In)+i%results, i/results)
	}
	for i, n := range live {
		e.at = i
		e.locked = e.locked[:0]
		e.node(n)
		e.locked = e.locked[:0]
		for _, out := range stores[n] {
			save(out, n)
		}
		e.free()
	}
	e.at = len(live)
	for i, n := range c.out {
		if n.Op == "in" || n.Op == "const" {
			e.locked = e.locked[:0]
			e.use(n)
			save(i, n)
			e.free()
		}
	}
}

// count notes which operations read a value.
func (e *encoder) count(live []*expr.Node) {
	for i, n := range live {
		for _, a := range n.Args {
			e.read(a, i)
		}
	}
}

// read notes that an operation reads a value.
func (e *encoder) read(n *expr.Node, at int) { e.of(n).uses = append(e.of(n).uses, at) }

func (e *encoder) keptInOrder() []value {
	var out []value
	for k := range e.kept {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b value) int { return e.kept[b] - e.kept[a] })
	return out
}

// array returns the memory of array i: its only vector, or a vector of the iteration.
func (e *encoder) array(i int, format string, same bool, vector int) operand {
	if e.single != nil {
		return e.register(e.single.In[i])
	}
	base := rax
	if i < len(pointers) {
		base = pointers[i]
	} else {
		e.loadPointer(rax, rdi, int32(8*i))
	}
	if same {
		return memory(base, -1, 1, 0)
	}
	return memory(base, rdx, expr.Size(format), int32(vector*e.bytes/e.p.Width*expr.Size(format)))
}

// next returns the next operation that reads n.
func (e *encoder) next(n *expr.Node, from int) int {
	p := e.of(n)
	for p.passed < len(p.uses) && p.uses[p.passed] < e.at {
		p.passed++
	}
	for _, at := range p.uses[p.passed:] {
		if at >= from {
			return at
		}
	}
	return math.MaxInt
}

// free frees the registers of values that no later operation reads, and of temporary values.
func (e *encoder) free() {
	for r, n := range e.owner {
		if n != nil && (n == temporary || e.next(n, e.at+1) == math.MaxInt) {
			e.drop(r)
		}
	}
	for k, n := range e.masks {
		if n != nil && e.next(n, e.at+1) == math.MaxInt {
			e.of(n).reg = -1
			e.masks[k] = nil
		}
	}
}

func (e *encoder) drop(r int) {
	if n := e.owner[r]; n != nil {
		e.of(n).reg = -1
		e.owner[r] = nil
	}
}

// allocate returns a register for n. It is locked until the operation is encoded.
func (e *encoder) allocate(n *expr.Node) int {
	limit := e.registers - len(e.kept)
	best, far := -1, -1
	for r := e.lowest; r < limit; r++ {
		switch o := e.owner[r]; {
		case o == nil:
			return e.own(r, n)
		case o == temporary || slices.Contains(e.locked, r):
		default:
			if at := e.next(o, e.at); at > far {
				best, far = r, at
			}
		}
	}
	if best < 0 {
		e.failed = true
		return 0
	}
	o := e.owner[best]
	if e.of(o).slot < 0 && (e.single == nil || o.Op != "in") {
		e.of(o).slot = e.slots
		e.slots++
		e.emit(opcode{0, 1, 0, 0x11}, e.length(), best, 0, e.spilled(o), 0, false)
	}
	e.drop(best)
	return e.own(best, n)
}

func (e *encoder) own(r int, n *expr.Node) int {
	e.owner[r] = n
	e.of(n).reg = r
	e.locked = append(e.locked, r)
	e.most = max(e.most, r+1)
	return r
}

func (e *encoder) spilled(n *expr.Node) operand {
	return memory(r12, -1, 1, int32(e.of(n).slot*e.bytes))
}

// keptRegister returns the register that holds a constant or an operand with equal elements in every iteration.
func (e *encoder) keptRegister(n *expr.Node) (int, bool) {
	k, ok := e.keyOf(n)
	if !ok {
		return 0, false
	}
	r, seen := e.reads[k]
	if !seen {
		r.first = len(e.reads)
	}
	r.count++
	e.reads[k] = r
	reg, ok := e.kept[k]
	return reg, ok
}

// keyOf returns the key of a value that is the same in every iteration.
func (e *encoder) keyOf(n *expr.Node) (value, bool) {
	if n.Op == "const" {
		return value{n.Bits, n.Width, -1}, true
	}
	if i := e.of(n).array; i >= 0 && n.Op == "in" && e.p.In[i].Same && (n.Kind != expr.Mask || !e.wide) {
		return value{array: i}, true
	}
	return value{}, false
}

// use returns the register of a value.
func (e *encoder) use(n *expr.Node) int {
	if r := e.of(n).reg; r >= 0 {
		if n.Kind != expr.Mask || !e.wide {
			e.locked = append(e.locked, r)
		}
		return r
	}
	if r, ok := e.keptRegister(n); ok {
		return r
	}
	if n.Op == "in" && e.of(n).slot < 0 {
		i := e.of(n).array
		return e.loadNode(n, e.p.In[i].Format, e.array(i, e.p.In[i].Format, e.p.In[i].Same, e.of(n).vector))
	}
	if n.Kind == expr.Mask && e.wide { // masks are not spilled
		e.failed = true
		return 1
	}
	var r int
	if n.Op == "const" {
		r = e.allocate(temporary)
		e.move(r, e.constant(n.Bits, n.Width))
		return r
	}
	r = e.allocate(n)
	e.move(r, e.spilled(n))
	return r
}

// value returns the register of a value, or the memory of a constant or a spilled value.
func (e *encoder) value(n *expr.Node) operand {
	if e.of(n).reg < 0 {
		if r, ok := e.keptRegister(n); ok {
			return register(r)
		}
		if n.Op == "const" {
			return e.constant(n.Bits, n.Width)
		}
		if e.of(n).slot >= 0 {
			return e.spilled(n)
		}
	}
	return register(e.use(n))
}

func (e *encoder) move(to int, from operand) {
	if from.memory || from.reg != to {
		e.emit(opcode{0, 1, 0, 0x10}, e.length(), to, 0, from, 0, false)
	}
}

// result returns the register of an operation's result. Unless the operation needs several instructions, it may be the
// register of an operand that no later operation reads.
func (e *encoder) result(n *expr.Node, several bool) int {
	if !several {
		for _, a := range n.Args {
			if r := e.of(a).reg; r >= 0 && (a.Kind != expr.Mask || !e.wide) && e.owner[r] == a && e.next(a, e.at+1) == math.MaxInt {
				e.drop(r)
				return e.own(r, n)
			}
		}
	}
	return e.allocate(n)
}

// instructions are the operations with two operands, on lanes of four and of eight bytes.
var instructions = map[string][2]opcode{
	"add": {{0, 1, 0, 0x58}, {1, 1, 1, 0x58}}, "sub": {{0, 1, 0, 0x5C}, {1, 1, 1, 0x5C}},
	"mul": {{0, 1, 0, 0x59}, {1, 1, 1, 0x59}}, "div": {{0, 1, 0, 0x5E}, {1, 1, 1, 0x5E}},
	"and": {{1, 1, 0, 0xDB}, {1, 1, 1, 0xDB}}, "or": {{1, 1, 0, 0xEB}, {1, 1, 1, 0xEB}}, "xor": {{1, 1, 0, 0xEF}, {1, 1, 1, 0xEF}},
	"min": {{0, 1, 0, 0x5D}, {1, 1, 1, 0x5D}}, "max": {{0, 1, 0, 0x5F}, {1, 1, 1, 0x5F}},
	"imin": {0: {1, 2, 0, 0x39}}, "imax": {0: {1, 2, 0, 0x3D}},
	"iadd": {{1, 1, 0, 0xFE}, {1, 1, 1, 0xD4}}, "isub": {{1, 1, 0, 0xFA}, {1, 1, 1, 0xFB}}, "imul": {0: {1, 2, 0, 0x40}},
	"vshl": {{1, 2, 0, 0x47}, {1, 2, 1, 0x47}}, "vshr": {{1, 2, 0, 0x45}, {1, 2, 1, 0x45}}, "vsar": {0: {1, 2, 0, 0x46}},
}

var commutes = map[string]bool{"add": true, "mul": true, "iadd": true, "and": true, "or": true, "xor": true}

// node encodes one operation.
func (e *encoder) node(n *expr.Node) {
	if e.single != nil && e.singleNode(n) {
		return
	}
	a, w := n.Args, e.w()
	if n.Kind == expr.Mask {
		e.mask(n)
		return
	}
	switch n.Op {
	case "sqrt":
		v := e.value(a[0])
		e.emit(opcode{w, 1, w, 0x51}, e.length(), e.result(n, false), 0, v, 0, false)
	case "fma":
		e.fma(n)
	case "shl", "shr":
		r := e.use(a[0])
		digit := 6
		if n.Op == "shr" {
			digit = 2
		}
		d := e.result(n, false)
		e.emit(opcode{1, 1, w, 0x72 + w}, e.length(), digit, d, register(r), 0, false, byte(n.Imm))
	case "round": // the same codes with both prefixes
		v := e.value(a[0])
		e.emit(opcode{1, 3, w, 0x08 + w}, e.length(), e.result(n, false), 0, v, 0, false, byte(n.Imm))
	case "i2f":
		v := e.value(a[0])
		e.emit(opcode{0, 1, 0, 0x5B}, e.length(), e.result(n, false), 0, v, 0, false)
	case "f2i":
		v := e.value(a[0])
		e.emit(opcode{2, 1, 0, 0x5B}, e.length(), e.result(n, false), 0, v, 0, false)
	case "mulhi":
		e.highProduct(n)
	case "widen": // the low halves of the lanes, packed
		r := e.use(a[0])
		d := e.result(n, true)
		if e.wide {
			e.emit(opcode{2, 2, 0, 0x35}, bits512, r, 0, register(d), 0, false)
		} else {
			e.emit(opcode{1, 3, 0, 0x39}, bits256, r, 0, register(d), 0, false, 1)
			e.emit(opcode{0, 1, 0, 0xC6}, bits128, d, r, register(d), 0, false, 0x88)
		}
		e.emit(opcode{0, 1, 0, 0x5A}, e.length(), d, 0, register(d), 0, false)
	case "narrow":
		r := e.use(a[0])
		d := e.result(n, false)
		e.emit(opcode{1, 1, w & bit(e.wide), 0x5A}, e.length(), d, 0, register(r), 0, false)
		e.emit(opcode{1, 2, 0, 0x35}, e.length(), d, 0, register(d), 0, false)
	case "sel":
		m, v, r := e.use(a[0]), e.value(a[1]), e.use(a[2])
		d := e.result(n, false)
		if e.wide {
			e.emit(opcode{1, 2, w, 0x65}, e.length(), d, r, v, m, false)
		} else {
			e.emit(opcode{1, 3, 0, 0x4A + w}, e.length(), d, r, v, 0, false, byte(m)<<4)
		}
	default:
		x, y := a[0], a[1]
		if commutes[n.Op] && e.of(x).reg < 0 && x.Op == "const" {
			x, y = y, x
		}
		r, v := e.use(x), e.value(y)
		e.emit(instructions[n.Op][w], e.length(), e.result(n, false), r, v, 0, false)
	}
}

// fma encodes a*b + c. The result takes the register of an operand.
func (e *encoder) fma(n *expr.Node) {
	w := e.w()
	a, b, c := n.Args[0], n.Args[1], n.Args[2]
	dies := func(x *expr.Node) bool {
		r := e.of(x).reg
		return r >= 0 && e.owner[r] == x && e.next(x, e.at+1) == math.MaxInt
	}
	if a.Op == "const" {
		a, b = b, a
	}
	if !dies(c) && !dies(a) && dies(b) {
		a, b = b, a
	}
	switch {
	case dies(c) && c != a && c != b:
		x, y := e.use(a), e.value(b)
		d := e.use(c)
		e.drop(d)
		e.emit(opcode{1, 2, w, 0xB8}, e.length(), e.own(d, n), x, y, 0, false)
	case dies(a) && c != a:
		d := e.use(a)
		y := d
		if b != a {
			y = e.use(b)
		}
		z := e.value(c)
		e.drop(d)
		e.emit(opcode{1, 2, w, 0xA8}, e.length(), e.own(d, n), y, z, 0, false)
	default:
		x := e.use(a)
		y, z := e.value(b), e.value(c)
		d := e.allocate(n)
		e.move(d, z)
		e.emit(opcode{1, 2, w, 0xB8}, e.length(), d, x, y, 0, false)
	}
}

// highProduct encodes the high halves of products: of the even and of the odd lanes, blended.
func (e *encoder) highProduct(n *expr.Node) {
	a, b := e.use(n.Args[0]), e.use(n.Args[1])
	x, y, d := e.allocate(temporary), e.allocate(temporary), e.allocate(n)
	right := func(to, from int) {
		e.emit(opcode{1, 1, 1, 0x73}, e.length(), 2, to, register(from), 0, false, 32)
	}
	product := func(to, p, q int) {
		e.emit(opcode{1, 2, 1, 0x28}, e.length(), to, p, register(q), 0, false)
	}
	right(x, a)
	right(y, b)
	product(x, x, y)
	product(d, a, b)
	right(d, d)
	e.emit(instructions["and"][1], e.length(), x, x, e.constant(0xffffffff<<32, 8), 0, false)
	e.emit(instructions["or"][1], e.length(), d, d, register(x), 0, false)
}

// predicates are the comparisons of floats.
var predicates = map[string]byte{"eq": 0, "unord": 3, "lt": 17, "le": 18}

// greater are the comparisons of signed integers.
var greater = [2]opcode{{1, 1, 0, 0x66}, {1, 2, 0, 0x37}}

// mask encodes an operation whose result is a mask.
func (e *encoder) mask(n *expr.Node) {
	a, w := n.Args, e.w()
	if e.wide {
		switch n.Op {
		case "mand", "mor":
			x, y := e.use(a[0]), e.use(a[1])
			code := byte(0x41)
			if n.Op == "mor" {
				code = 0x45
			}
			e.narrow(opcode{0, 1, 0, code}, bits256, e.maskRegister(n), x, register(y))
		case "mnot":
			x := e.use(a[0])
			e.narrow(opcode{0, 1, 0, 0x44}, bits128, e.maskRegister(n), 0, register(x))
		case "sel":
			e.failed = true
		case "ilt", "ieq":
			r, v := e.use(a[0]), e.value(a[1])
			e.emit(opcode{1, 3, w, 0x1F}, e.length(), e.maskRegister(n), r, v, 0, false, bit(n.Op == "ilt"))
		default:
			r, v := e.use(a[0]), e.value(a[1])
			e.emit(opcode{w, 1, w, 0xC2}, e.length(), e.maskRegister(n), r, v, 0, false, predicates[n.Op])
		}
		return
	}
	var o opcode
	x, y := a[0], a[0]
	if len(a) > 1 {
		y = a[1]
	}
	switch n.Op {
	case "mand":
		o = instructions["and"][0]
	case "mor":
		o = instructions["or"][0]
	case "mnot":
		r := e.use(x)
		e.emit(instructions["xor"][0], e.length(), e.result(n, false), r, e.constant(1<<64-1, 8), 0, false)
		return
	case "ilt":
		x, y = y, x
		o = greater[w]
	case "ieq":
		o = [2]opcode{{1, 1, 0, 0x76}, {1, 2, 0, 0x29}}[w]
	default:
		r, v := e.use(x), e.value(y)
		e.emit(opcode{w, 1, 0, 0xC2}, e.length(), e.result(n, false), r, v, 0, false, predicates[n.Op])
		return
	}
	r, v := e.use(x), e.value(y)
	e.emit(o, e.length(), e.result(n, false), r, v, 0, false)
}

// maskRegister returns a mask register for n.
func (e *encoder) maskRegister(n *expr.Node) int {
	for k := 1; k < len(e.masks); k++ {
		if e.masks[k] == nil {
			e.masks[k] = n
			e.of(n).reg = k
			return k
		}
	}
	e.failed = true
	return 1
}

// loadNode loads an operand and returns its register.
func (e *encoder) loadNode(n *expr.Node, format string, m operand) int {
	if format == "i1" && e.wide {
		d := e.allocate(temporary)
		e.emit(opcode{1, 2, 0, 0x31 + e.w()}, e.length(), d, 0, m, 0, false)
		k := e.maskRegister(n)
		e.emit(opcode{1, 2, e.w(), 0x27}, e.length(), k, d, register(d), 0, false)
		return k
	}
	d := e.allocate(n)
	e.load(d, format, m)
	return d
}

// load encodes the load of a vector into register d.
func (e *encoder) load(d int, format string, m operand) {
	if e.single != nil {
		e.loadSingle(d, format, m)
		return
	}
	w := e.w()
	switch {
	case format == "i1":
		e.emit(opcode{1, 2, 0, 0x31 + w}, e.length(), d, 0, m, 0, false)
		zero := e.allocate(temporary)
		e.emit(instructions["xor"][0], e.length(), zero, zero, register(zero), 0, false)
		e.emit(greater[w], e.length(), d, d, register(zero), 0, false)
	case format == "bf16":
		e.emit(opcode{1, 2, 0, 0x33}, e.length(), d, 0, m, 0, false)
		e.emit(opcode{1, 1, 0, 0x72}, e.length(), 6, d, register(d), 0, false, 16)
	case format == "f16":
		e.emit(opcode{1, 2, 0, 0x13}, e.length(), d, 0, m, 0, false)
	case format == "f32" && w == 1:
		e.emit(opcode{0, 1, 0, 0x5A}, e.length(), d, 0, m, 0, false)
	case format == "i32" && w == 1:
		e.emit(opcode{1, 2, 0, 0x25}, e.length(), d, 0, m, 0, false)
	default:
		e.move(d, m)
	}
}

// store encodes the store of a result.
func (e *encoder) store(format string, n *expr.Node, array, vector int) {
	r := e.use(n)
	e.storeTo(format, r, e.array(array, format, false, vector))
}

// storeTo encodes the store of register r.
func (e *encoder) storeTo(format string, r int, m operand) {
	w := e.w()
	var ones operand
	if format == "i1" {
		ones = e.constant(0x0101010101010101, 8)
	}
	switch {
	case format == "i1" && e.wide:
		b := e.allocate(temporary)
		e.emit(opcode{3, 1, 0, 0x6F}, bits128, b, 0, ones, r, true) // vmovdqu8 with zeros
		if w == 1 {
			e.emit(opcode{1, 1, 1, 0xD6}, bits128, b, 0, m, 0, false)
		} else {
			e.emit(opcode{2, 1, 0, 0x7F}, bits128, b, 0, m, 0, false)
		}
	case format == "i1":
		h := e.allocate(temporary)
		e.emit(opcode{1, 3, 0, 0x39}, bits256, r, 0, register(h), 0, false, 1)
		e.emit(opcode{1, 1, 0, 0x6B}, bits128, h, r, register(h), 0, false)
		if w == 1 {
			e.emit(opcode{1, 1, 0, 0x6B}, bits128, h, h, register(h), 0, false)
		}
		e.emit(opcode{1, 1, 0, 0x63}, bits128, h, h, register(h), 0, false)
		e.emit(instructions["and"][0], bits128, h, h, ones, 0, false)
		e.storeLow(8>>w, h, m)
	case format == "bf16" && e.wide:
		e.emit(opcode{2, 2, 0, 0x33}, bits512, r, 0, m, 0, false)
	case format == "bf16":
		h := e.allocate(temporary)
		e.emit(opcode{1, 3, 0, 0x39}, bits256, r, 0, register(h), 0, false, 1)
		e.emit(opcode{1, 2, 0, 0x2B}, bits128, h, r, register(h), 0, false)
		e.emit(opcode{2, 1, 0, 0x7F}, bits128, h, 0, m, 0, false)
	case format == "f16":
		e.emit(opcode{1, 3, 0, 0x1D}, e.length(), r, 0, m, 0, false, 0)
	case format == "i32" && w == 1 && e.wide:
		e.emit(opcode{2, 2, 0, 0x35}, bits512, r, 0, m, 0, false)
	case format == "i32" && w == 1: // the low halves of the lanes
		h := e.allocate(temporary)
		e.emit(opcode{1, 3, 0, 0x39}, bits256, r, 0, register(h), 0, false, 1)
		e.emit(opcode{0, 1, 0, 0xC6}, bits128, h, r, register(h), 0, false, 0x88)
		e.emit(opcode{0, 1, 0, 0x11}, bits128, h, 0, m, 0, false)
	case format == "f32" && w == 1:
		h := e.allocate(temporary)
		e.emit(opcode{1, 1, w & bit(e.wide), 0x5A}, e.length(), h, 0, register(r), 0, false)
		e.emit(opcode{0, 1, 0, 0x11}, e.length()-1, h, 0, m, 0, false)
	default:
		e.emit(opcode{0, 1, 0, 0x11}, e.length(), r, 0, m, 0, false)
	}
}
