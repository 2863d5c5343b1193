package lapack

import (
	"encoding/binary"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"
)

// Pure returns Gonum as a library, for machines without OpenBLAS. It has the real types only, and computes f32 in f64.
func Pure() *Library { return &Library{pure{}} }

// pure calls Gonum's functions by LAPACK's names and with LAPACK's arguments. Gonum's matrices are in row-major order,
// and its indices start at 0.
type pure struct{}

func (pure) has(t target) bool { return !t.complex() }

func (pure) call(name string, args ...any) error {
	p := &pureCall{args: args, part: 8}
	if name[0] == 's' {
		p.part = 4
	}
	r, ok := pureRoutines[name[1:]]
	if !ok {
		return fmt.Errorf("subroutine %s is not part of Gonum", name)
	}
	if r.work == 0 || !p.isQuery(r.work) {
		r.run(p)
	}
	return nil
}

// pureCall is a call: its arguments from left to right.
type pureCall struct {
	args []any
	part int // bytes of a number
	la   gonum.Implementation
}

func (p *pureCall) char(i int) byte    { return p.args[i].(byte) }
func (p *pureCall) int(i int) int      { return p.args[i].(int) }
func (p *pureCall) ints(i int) []int32 { return p.args[i].([]int32) }

// info sets the last argument.
func (p *pureCall) info(n int) { *p.args[len(p.args)-1].(*int32) = int32(n) }

// isQuery reports whether the caller asks for the size of the workspace. It answers 1, because Gonum's functions
// allocate their own workspace.
func (p *pureCall) isQuery(work int) bool {
	if p.int(work+1) >= 0 {
		return false
	}
	b := p.args[work].([]byte)
	put(b, 1, p.part)
	return true
}

func get(b []byte, i, part int) float64 {
	if part == 4 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
}

func put(b []byte, v float64, part int) {
	if part == 4 {
		binary.LittleEndian.PutUint32(b, math.Float32bits(float32(v)))
	} else {
		binary.LittleEndian.PutUint64(b, math.Float64bits(v))
	}
}

// list reads n numbers of argument i.
func (p *pureCall) list(i, n int) []float64 {
	out := make([]float64, n)
	for k := range out {
		out[k] = get(p.args[i].([]byte), k, p.part)
	}
	return out
}

func (p *pureCall) setList(i int, list []float64) {
	for k, v := range list {
		put(p.args[i].([]byte)[k*p.part:], v, p.part)
	}
}

// matrix reads argument i, m by n, as rows.
func (p *pureCall) matrix(i, m, n int) []float64 {
	b, out := p.args[i].([]byte), make([]float64, m*n)
	for r := range m {
		for c := range n {
			out[r*n+c] = get(b, c*m+r, p.part)
		}
	}
	return out
}

func (p *pureCall) setMatrix(i, m, n int, rows []float64) {
	b := p.args[i].([]byte)
	for r := range m {
		for c := range n {
			put(b[(c*m+r)*p.part:], rows[r*n+c], p.part)
		}
	}
}

func finite(list []float64) bool {
	for _, v := range list {
		if v-v != 0 {
			return false
		}
	}
	return true
}

// withWorkspace calls f to learn the size of its workspace, and then with a workspace of that size.
func withWorkspace(f func(work []float64, size int)) {
	one := make([]float64, 1)
	f(one, -1)
	size := max(1, int(one[0]))
	f(make([]float64, size), size)
}

// pureRoutine is a subroutine.
type pureRoutine struct {
	work int // the position of the workspace among the arguments, before its size; 0: call answers no query
	run  func(p *pureCall)
}

// pureRoutines are LAPACK's subroutines by their names without the type.
var pureRoutines = map[string]pureRoutine{
	"potrf": {0, func(p *pureCall) { // uplo, n, a, lda, info
		n := p.int(1)
		a := p.matrix(2, n, n)
		if !p.la.Dpotrf(blas.Uplo(p.char(0)), n, a, max(1, n)) {
			p.info(p.leadingMinor(n))
			return
		}
		p.setMatrix(2, n, n, a)
	}},
	"getrf": {0, func(p *pureCall) { // m, n, a, lda, ipiv, info
		m, n := p.int(0), p.int(1)
		a, pivots := p.matrix(2, m, n), make([]int, min(m, n))
		if !p.la.Dgetrf(m, n, a, n, pivots) {
			for i := range pivots {
				if a[i*n+i] == 0 {
					p.info(i + 1)
					break
				}
			}
		}
		p.setMatrix(2, m, n, a)
		for i, v := range pivots {
			p.ints(4)[i] = int32(v + 1)
		}
	}},
	"geqrf": {5, func(p *pureCall) { // m, n, a, lda, tau, work, lwork, info
		m, n := p.int(0), p.int(1)
		a, tau := p.matrix(2, m, n), make([]float64, min(m, n))
		withWorkspace(func(work []float64, size int) { p.la.Dgeqrf(m, n, a, n, tau, work, size) })
		p.setMatrix(2, m, n, a)
		p.setList(4, tau)
	}},
	"orgqr": {6, func(p *pureCall) { // m, n, k, a, lda, tau, work, lwork, info
		m, n, k := p.int(0), p.int(1), p.int(2)
		a, tau := p.matrix(3, m, n), p.list(5, k)
		withWorkspace(func(work []float64, size int) { p.la.Dorgqr(m, n, k, a, n, tau, work, size) })
		p.setMatrix(3, m, n, a)
	}},
	"ormqr": {10, func(p *pureCall) { // side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info
		m, n, k, rows := p.int(2), p.int(3), p.int(4), p.int(6)
		a, tau, c := p.matrix(5, rows, k), p.list(7, k), p.matrix(8, m, n)
		withWorkspace(func(work []float64, size int) {
			p.la.Dormqr(blas.Side(p.char(0)), blas.Transpose(p.char(1)), m, n, k, a, max(1, k), tau, c, n, work, size)
		})
		p.setMatrix(8, m, n, c)
	}},
	"geqp3": {6, func(p *pureCall) { // m, n, a, lda, jpvt, tau, work, lwork, info
		m, n := p.int(0), p.int(1)
		a, tau, pivots := p.matrix(2, m, n), make([]float64, min(m, n)), make([]int, n)
		for i, v := range p.ints(4) {
			pivots[i] = i // first
			if v == 0 {
				pivots[i] = -1 // free
			}
		}
		withWorkspace(func(work []float64, size int) { p.la.Dgeqp3(m, n, a, n, pivots, tau, work, size) })
		p.setMatrix(2, m, n, a)
		p.setList(5, tau)
		for i, v := range pivots {
			p.ints(4)[i] = int32(v + 1)
		}
	}},
	"gesdd": {10, func(p *pureCall) { // jobz, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, iwork, info
		p.singular(p.char(0), 1)
	}},
	"gesvd": {11, func(p *pureCall) { // jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, info
		p.singular(p.char(0), 2)
	}},
	"syevd": {0, func(p *pureCall) { // jobz, uplo, n, a, lda, w, work, lwork, iwork, liwork, info
		if p.isQuery(6) {
			p.ints(8)[0] = 1
			return
		}
		n := p.int(2)
		a, w := p.matrix(3, n, n), make([]float64, n)
		if !finite(a) {
			p.info(1)
			return
		}
		ok := false
		withWorkspace(func(work []float64, size int) {
			ok = p.la.Dsyev(lapack.EVJob(p.char(0)), blas.Uplo(p.char(1)), n, a, n, w, work, size)
		})
		if !ok {
			p.info(1)
		}
		p.setMatrix(3, n, n, a)
		p.setList(5, w)
	}},
	"sytrd": {7, func(p *pureCall) { // uplo, n, a, lda, d, e, tau, work, lwork, info
		n := p.int(1)
		a, d, e, tau := p.matrix(2, n, n), make([]float64, n), make([]float64, n-1), make([]float64, n-1)
		withWorkspace(func(work []float64, size int) { p.la.Dsytrd(blas.Uplo(p.char(0)), n, a, n, d, e, tau, work, size) })
		p.setMatrix(2, n, n, a)
		p.setList(4, d)
		p.setList(5, e)
		p.setList(6, tau)
	}},
	"geev": {11, func(p *pureCall) { // jobvl, jobvr, n, a, lda, wr, wi, vl, ldvl, vr, ldvr, work, lwork, info
		n := p.int(2)
		a, wr, wi, vl, vr := p.matrix(3, n, n), make([]float64, n), make([]float64, n), make([]float64, n*n), make([]float64, n*n)
		first := 0
		withWorkspace(func(work []float64, size int) {
			first = p.la.Dgeev(lapack.LeftEVJob(p.char(0)), lapack.RightEVJob(p.char(1)), n, a, n, wr, wi, vl, n, vr, n, work, size)
		})
		p.info(first)
		p.setList(5, wr)
		p.setList(6, wi)
		p.setMatrix(7, n, n, vl)
		p.setMatrix(9, n, n, vr)
	}},
	"gees": {11, func(p *pureCall) { // jobvs, sort, select, n, a, lda, sdim, wr, wi, vs, ldvs, work, lwork, bwork, info
		n := p.int(3)
		a, wr, wi := p.matrix(4, n, n), make([]float64, n), make([]float64, n)
		if !finite(a) {
			p.info(1)
			return
		}
		// The Hessenberg form, its vectors, and then its Schur form.
		tau := make([]float64, n-1)
		withWorkspace(func(work []float64, size int) { p.la.Dgehrd(n, 0, n-1, a, n, tau, work, size) })
		z := append([]float64(nil), a...)
		withWorkspace(func(work []float64, size int) { p.la.Dorghr(n, 0, n-1, z, n, tau, work, size) })
		for r := 2; r < n; r++ {
			clear(a[r*n : r*n+r-1])
		}
		left := 0
		withWorkspace(func(work []float64, size int) {
			left = p.la.Dhseqr(lapack.EigenvaluesAndSchur, lapack.SchurOrig, n, 0, n-1, a, n, wr, wi, z, n, work, size)
		})
		p.info(left)
		p.setMatrix(4, n, n, a)
		p.setList(7, wr)
		p.setList(8, wi)
		p.setMatrix(9, n, n, z)
	}},
	"gehrd": {6, func(p *pureCall) { // n, ilo, ihi, a, lda, tau, work, lwork, info
		n := p.int(0)
		a, tau := p.matrix(3, n, n), make([]float64, n-1)
		withWorkspace(func(work []float64, size int) { p.la.Dgehrd(n, p.int(1)-1, p.int(2)-1, a, n, tau, work, size) })
		p.setMatrix(3, n, n, a)
		p.setList(5, tau)
	}},
	"gtsv": {0, func(p *pureCall) { // n, nrhs, dl, d, du, b, ldb, info
		n, right := p.int(0), p.int(1)
		dl, d, du, b := p.list(2, n-1), p.list(3, n), p.list(4, n-1), p.matrix(5, n, right)
		if !p.la.Dgtsv(n, right, dl, d, du, b, max(1, right)) {
			p.info(1)
		}
		p.setList(2, dl)
		p.setList(3, d)
		p.setList(4, du)
		p.setMatrix(5, n, right, b)
	}},
	"trsm": {0, func(p *pureCall) { // side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb
		m, n := p.int(4), p.int(5)
		a, b := p.matrix(7, p.int(8), p.int(8)), p.matrix(9, m, n)
		right, lower, transposed := p.char(0) == 'R', p.char(1) == 'L', p.char(2) != 'N'
		if right { // x·a = b is aᵀ·xᵀ = bᵀ
			lower, transposed = !lower, !transposed
			b, m, n = transposeRows(b, m, n), n, m
		}
		if transposed != right {
			lower = !lower
		}
		if transposed {
			a = transposeRows(a, m, m)
		}
		solve(a, b, m, n, lower, p.char(3) == 'U')
		if right {
			b, m, n = transposeRows(b, m, n), n, m
		}
		p.setMatrix(9, m, n, b)
	}},
}

func transposeRows(a []float64, m, n int) []float64 {
	out := make([]float64, len(a))
	for r := range m {
		for c := range n {
			out[c*m+r] = a[r*n+c]
		}
	}
	return out
}

// solve replaces the m by n matrix b by the solution of a·x = b. It multiplies by the inverse of the diagonal, even if
// that is zero, as OpenBLAS does. Results of singular matrices then have NaNs in the same elements as JAX's results.
// Gonum's solver skips zeros.
func solve(a, b []float64, m, n int, lower, unit bool) {
	for k := range m {
		row, first, last := k, 0, k
		if !lower {
			row, first, last = m-1-k, m-k, m
		}
		x := b[row*n : (row+1)*n]
		for j := first; j < last; j++ {
			for c, v := range b[j*n : (j+1)*n] {
				x[c] -= a[row*m+j] * v
			}
		}
		if !unit {
			inverse := 1 / a[row*m+row]
			for c := range x {
				x[c] *= inverse
			}
		}
	}
}

// leadingMinor returns the order of the first leading minor of argument 2 that is not positive.
func (p *pureCall) leadingMinor(n int) int {
	a := p.matrix(2, n, n)
	for order := 1; order <= n; order++ {
		minor := make([]float64, order*order)
		for r := range order {
			copy(minor[r*order:], a[r*n:r*n+order])
		}
		if !p.la.Dpotrf(blas.Uplo(p.char(0)), order, minor, order) {
			return order
		}
	}
	return n
}

// singular computes singular values and vectors: m, n, a, lda, s, u, ldu, vt, ldvt are the arguments from at on.
func (p *pureCall) singular(mode byte, at int) {
	m, n := p.int(at), p.int(at+1)
	k := min(m, n)
	a, s := p.matrix(at+2, m, n), make([]float64, k)
	if !finite(a) {
		p.info(-4)
		return
	}
	columns, rows := m, n // of u and of vt
	if mode != 'A' {
		columns, rows = k, k
	}
	u, vt := make([]float64, m*columns), make([]float64, rows*n)
	ok := false
	withWorkspace(func(work []float64, size int) {
		ok = p.la.Dgesvd(lapack.SVDJob(mode), lapack.SVDJob(mode), m, n, a, n, s, u, columns, vt, n, work, size)
	})
	if !ok {
		p.info(1)
	}
	p.setList(at+4, s)
	if mode != 'N' {
		p.setMatrix(at+5, m, columns, u)
		p.setMatrix(at+7, rows, n, vt)
	}
}
