package lapack

// compute factors or solves the current matrix.
func (c *call) compute() error {
	name := string(c.target.letter) + c.target.routine
	run := func(args ...any) error { return c.library.call(name, args...) }
	// withWorkspace calls f once to learn the size of the workspace, and again with a workspace of that size.
	withWorkspace := func(f func(work []byte, size int) error) error {
		work := make([]byte, c.element)
		if err := f(work, -1); err != nil {
			return err
		}
		size := max(1, c.number(work))
		return f(make([]byte, size*c.element), size)
	}
	real := func(n int) []byte { return make([]byte, max(1, n)*c.part) }
	complex := c.target.complex()
	out := c.results
	var info int32
	if c.target.routine == "gtsv" {
		n := length(c.operands[1])
		_, right := dims(c.operands[3])
		for i := range 3 {
			copy(c.bytes(out[i]), c.bytes(c.operands[i]))
		}
		b := c.columns(c.operands[3])
		if n > 0 {
			if err := run(n, right, c.bytes(out[0])[c.element:], c.bytes(out[1]), c.bytes(out[2]), b, n, &info); err != nil {
				return err
			}
		}
		c.store(out[3], b)
		c.setInt(out[4], info)
		return nil
	}
	m, n := dims(c.operands[0])
	if m == 0 || n == 0 {
		return nil
	}
	a := c.columns(c.operands[0])
	var err error
	switch c.target.routine {
	case "potrf":
		err = run(c.char("uplo"), n, a, n, &info)
		c.store(out[0], a)
		c.setInt(out[1], info)
	case "getrf":
		pivots := make([]int32, min(m, n))
		err = run(m, n, a, m, pivots, &info)
		c.store(out[0], a)
		c.setInts(out[1], pivots)
		c.setInt(out[2], info)
	case "geqrf":
		err = withWorkspace(func(work []byte, size int) error { return run(m, n, a, m, c.bytes(out[1]), work, size, &info) })
		c.store(out[0], a)
	case "orgqr", "ungqr":
		tau := c.bytes(c.operands[1])
		err = withWorkspace(func(work []byte, size int) error {
			return run(m, n, length(c.operands[1]), a, m, tau, work, size, &info)
		})
		c.store(out[0], a)
	case "ormqr", "unmqr":
		side, trans := byte('R'), byte('N')
		if c.attrs["left"] != 0 {
			side = 'L'
		}
		if c.attrs["transpose"] != 0 {
			if trans = 'T'; complex {
				trans = 'C'
			}
		}
		b := c.columns(c.operands[2])
		if bm, bn := dims(c.operands[2]); bm > 0 && bn > 0 {
			tau := c.bytes(c.operands[1])
			err = withWorkspace(func(work []byte, size int) error {
				return run(side, trans, bm, bn, length(c.operands[1]), a, m, tau, b, bm, work, size, &info)
			})
		}
		c.store(out[0], b)
	case "geqp3":
		pivots := make([]int32, n)
		for i := range pivots {
			pivots[i] = int32(c.operands[1].IntAt(c.at*n + i))
		}
		err = withWorkspace(func(work []byte, size int) error {
			if complex {
				return run(m, n, a, m, pivots, c.bytes(out[2]), work, size, real(2*n), &info)
			}
			return run(m, n, a, m, pivots, c.bytes(out[2]), work, size, &info)
		})
		c.store(out[0], a)
		c.setInts(out[1], pivots)
	case "gesdd", "gesvd":
		err = c.singular(run, withWorkspace, real, a, m, n, &info)
	case "syevd", "heevd":
		err = c.symmetric(run, a, n, &info)
		c.store(out[0], a)
		c.setInt(out[2], info)
	case "sytrd", "hetrd":
		err = withWorkspace(func(work []byte, size int) error {
			return run(c.char("uplo"), n, a, n, c.bytes(out[1]), c.bytes(out[2]), c.bytes(out[3]), work, size, &info)
		})
		c.store(out[0], a)
		c.setInt(out[4], info)
	case "geev":
		err = c.general(run, withWorkspace, real, a, n, &info)
	case "gees":
		err = c.schur(run, withWorkspace, real, a, n, &info)
	case "gehrd":
		low, high := int(c.attrs["low"]), int(c.attrs["high"])
		if low < 1 || high > n || low > high {
			low, high = 1, n
		}
		err = withWorkspace(func(work []byte, size int) error {
			return run(n, low, high, a, n, c.bytes(out[1]), work, size, &info)
		})
		c.store(out[0], a)
		c.setInt(out[2], info)
	case "trsm":
		bm, bn := dims(c.operands[1])
		b := c.columns(c.operands[1])
		alpha := make([]byte, c.element)
		if c.part == 4 {
			alpha[2], alpha[3] = 0x80, 0x3f
		} else {
			alpha[6], alpha[7] = 0xf0, 0x3f
		}
		if bm > 0 && bn > 0 {
			err = run(c.char("side"), c.char("uplo"), c.char("trans_x"), c.char("diag"), bm, bn, alpha, a, n, b, bm)
		}
		c.store(out[0], b)
	}
	return err
}

type (
	runFunc       = func(args ...any) error
	workspaceFunc = func(f func(work []byte, size int) error) error
)

// singular computes singular values and vectors.
func (c *call) singular(run runFunc, withWorkspace workspaceFunc, real func(int) []byte, a []byte, m, n int, info *int32) error {
	out, mode, k := c.results, c.char("mode"), min(m, n)
	um, un := dims(out[2])
	vm, vn := dims(out[3])
	u, v := make([]byte, um*un*c.element), make([]byte, vm*vn*c.element)
	s := c.bytes(out[1])
	ldv := max(1, vm)
	err := withWorkspace(func(work []byte, size int) error {
		if c.target.routine == "gesvd" {
			if c.target.complex() {
				return run(mode, mode, m, n, a, m, s, u, max(1, um), v, ldv, work, size, real(5*k), info)
			}
			return run(mode, mode, m, n, a, m, s, u, max(1, um), v, ldv, work, size, info)
		}
		small := make([]int32, 8*k)
		if !c.target.complex() {
			return run(mode, m, n, a, m, s, u, max(1, um), v, ldv, work, size, small, info)
		}
		rwork := 7 * k
		if mode != 'N' {
			rwork = max(5*k*k+5*k, 2*max(m, n)*k+2*k*k+k)
		}
		return run(mode, m, n, a, m, s, u, max(1, um), v, ldv, work, size, real(rwork), small, info)
	})
	c.store(out[0], a)
	c.store(out[2], u)
	c.store(out[3], v)
	c.setInt(out[4], *info)
	return err
}

// symmetric computes eigenvalues and eigenvectors of a symmetric or Hermitian matrix.
func (c *call) symmetric(run runFunc, a []byte, n int, info *int32) error {
	w := c.bytes(c.results[1])
	call := func(work []byte, size int, rwork []byte, rsize int, iwork []int32, isize int) error {
		if c.target.complex() {
			return run(c.char("mode"), c.char("uplo"), n, a, n, w, work, size, rwork, rsize, iwork, isize, info)
		}
		return run(c.char("mode"), c.char("uplo"), n, a, n, w, work, size, iwork, isize, info)
	}
	work, rwork, iwork := make([]byte, c.element), make([]byte, c.part), make([]int32, 1)
	if err := call(work, -1, rwork, -1, iwork, -1); err != nil {
		return err
	}
	size, rsize, isize := max(1, c.number(work)), max(1, c.number(rwork)), max(1, int(iwork[0]))
	return call(make([]byte, size*c.element), size, make([]byte, rsize*c.part), rsize, make([]int32, isize), isize)
}

// general computes eigenvalues and eigenvectors of a square matrix.
func (c *call) general(run runFunc, withWorkspace workspaceFunc, real func(int) []byte, a []byte, n int, info *int32) error {
	out := c.results
	left, right := c.char("compute_left"), c.char("compute_right")
	vl, vr := make([]byte, n*n*c.element), make([]byte, n*n*c.element)
	info0 := out[len(out)-1]
	if !c.finite(a) { // LAPACK may not return
		c.setInt(info0, -4)
		return nil
	}
	err := withWorkspace(func(work []byte, size int) error {
		if c.target.complex() {
			return run(left, right, n, a, n, c.bytes(out[0]), vl, n, vr, n, work, size, real(2*n), info)
		}
		return run(left, right, n, a, n, c.bytes(out[0]), c.bytes(out[1]), vl, n, vr, n, work, size, info)
	})
	c.setInt(info0, *info)
	for i, v := range [][]byte{vl, vr} {
		t := out[len(out)-3+i]
		if !c.target.complex() {
			v = c.pairs(v, c.bytes(out[1]), n)
		}
		c.store(t, v)
	}
	return err
}

// pairs makes complex eigenvectors of real eigenvectors: two columns hold the real and imaginary parts of a conjugate
// pair.
func (c *call) pairs(v, imag []byte, n int) []byte {
	out := make([]byte, 2*len(v))
	size := c.element
	zero := func(j int) bool {
		for k, b := range imag[j*size : (j+1)*size] {
			if b != 0 && !(k == size-1 && b == 0x80) {
				return false
			}
		}
		return true
	}
	for j := 0; j < n; j++ {
		column := v[j*n*size : (j+1)*n*size]
		if zero(j) || j+1 == n {
			for i := range n {
				copy(out[2*(j*n+i)*size:][:size], column[i*size:])
			}
			continue
		}
		next := v[(j+1)*n*size : (j+2)*n*size]
		for i := range n {
			for k, at := range []int{j*n + i, (j+1)*n + i} {
				copy(out[2*at*size:][:size], column[i*size:])
				copy(out[(2*at+1)*size:][:size], next[i*size:])
				if k == 1 {
					out[(2*at+2)*size-1] ^= 0x80
				}
			}
		}
		j++
	}
	return out
}

// schur computes the Schur form.
func (c *call) schur(run runFunc, withWorkspace workspaceFunc, real func(int) []byte, a []byte, n int, info *int32) error {
	out := c.results
	var sorted int32
	vs := make([]byte, n*n*c.element)
	none, flags := []byte(nil), make([]int32, n)
	err := withWorkspace(func(work []byte, size int) error {
		if c.target.complex() {
			return run(c.char("mode"), c.char("sort"), none, n, a, n, &sorted, c.bytes(out[2]), vs, n, work, size, real(n), flags, info)
		}
		return run(c.char("mode"), c.char("sort"), none, n, a, n, &sorted, c.bytes(out[2]), c.bytes(out[3]), vs, n, work, size, flags, info)
	})
	c.store(out[0], a)
	c.store(out[1], vs)
	c.setInt(out[len(out)-2], sorted)
	c.setInt(out[len(out)-1], *info)
	return err
}
