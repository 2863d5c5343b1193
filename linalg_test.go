package hlocb_test

import (
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/values"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/plugins"
	"github.com/hlocb/hlocb/tensor"
)

// linalgPrograms writes modules of jax.numpy.linalg, jax.scipy.linalg and jax.lax.linalg, with arguments and JAX's
// results. The phases of eigenvectors and Schur vectors are free and differ between versions of OpenBLAS: the programs
// with them return values that do not depend on phases. The second argument names the parts that are wanted: "0" is
// every twelfth program, "1" the others of every fourth, "2" all others.
const linalgPrograms = `
import os, sys
import jax, jax.numpy as jnp, numpy as np
jax.config.update("jax_enable_x64", True)
import jax.scipy.linalg as jsl
from jax.lax import linalg as ll
from jax.experimental import sparse
rng = np.random.default_rng(0)
def general(dt, *shape):
    a = rng.standard_normal(shape)
    return (a + 1j * rng.standard_normal(shape)).astype(dt) if np.issubdtype(dt, np.complexfloating) else a.astype(dt)
def positive(dt, *shape):
    a = general(dt, *shape)
    return (a @ np.conj(np.swapaxes(a, -1, -2)) + 5 * np.eye(shape[-1])).astype(dt)
out, parts, count = sys.argv[1], sys.argv[2], 0
for dt in (np.float32, np.float64, np.complex64, np.complex128):
    n = np.dtype(dt).name
    g, p = general(dt, 2, 4, 4), positive(dt, 2, 4, 4)
    fs = {
        "cholesky": (jnp.linalg.cholesky, [p]), "cholesky_fails": (jnp.linalg.cholesky, [-p]),
        "lu": (ll.lu, [general(dt, 2, 3, 4)]), "det": (jnp.linalg.det, [g]), "solve": (jnp.linalg.solve, [g, general(dt, 2, 4, 3)]),
        "inv": (jnp.linalg.inv, [g]), "qr": (jnp.linalg.qr, [general(dt, 5, 3)]), "qr_full": (lambda x: jnp.linalg.qr(x, mode="complete"), [general(dt, 2, 5, 3)]),
        "svd": (jnp.linalg.svd, [general(dt, 2, 4, 3)]), "svd_small": (lambda x: jnp.linalg.svd(x, full_matrices=False), [general(dt, 3, 5)]),
        "singular_values": (lambda x: jnp.linalg.svd(x, compute_uv=False), [general(dt, 3, 5)]), "svd_qr": (lambda x: ll.svd(x, algorithm=ll.SvdAlgorithm.QR), [general(dt, 4, 3)]),
        "eigh": (jnp.linalg.eigh, [p]), "eigvalsh": (jnp.linalg.eigvalsh, [p]), "eig": (lambda x: [f(v) for f, v in zip((jnp.asarray, jnp.abs), jnp.linalg.eig(x))], [g]), "eig_both": (lambda x: [jnp.abs(v) for v in ll.eig(x)], [g]), "eig_nan": (jnp.linalg.eig, [g * np.nan]),
        "triangular": (lambda a, b: jsl.solve_triangular(a, b, lower=True, trans=1), [p[0], general(dt, 4, 2)]),
        "triangular_right": (lambda a, b: ll.triangular_solve(a, b, left_side=False, conjugate_a=True, transpose_a=True), [p, general(dt, 2, 3, 4)]),
        "hessenberg": (lambda x: ll.hessenberg(x), [g]), "tridiagonal": (lambda x: ll.tridiagonal(x), [p]),
        "tridiagonal_solve": (ll.tridiagonal_solve, [general(dt, 4), general(dt, 4) + 5, general(dt, 4), general(dt, 4, 2)]),
        "tridiagonal_solve_perturbed": (lambda l, d, u, b: jax.vmap(lambda l, d, u, b: ll.tridiagonal_solve(l, d, u, b, perturb_singular=True))(l, d, u, b), [general(dt, 2, 4), general(dt, 2, 4), general(dt, 2, 4), general(dt, 2, 4, 3)]),
        "schur": (lambda x: (lambda t, z: (z @ t @ jnp.conj(jnp.swapaxes(z, -1, -2)), z @ jnp.conj(jnp.swapaxes(z, -1, -2)), jnp.abs(jnp.tril(t, -2))))(*ll.schur(x)), [g]), "qr_pivots": (lambda x: jsl.qr(x, pivoting=True, mode="economic"), [general(dt, 4, 3)]),
        "householder": (ll.householder_product, [general(dt, 4, 3), general(dt, 3)]), "lstsq": (lambda a, b: jnp.linalg.lstsq(a, b)[0], [general(dt, 5, 3), general(dt, 5, 2)]),
    }
    fs["sparse"] = (lambda a, x: (sparse.BCSR.fromdense(a, nse=20) @ x, sparse.CSR.fromdense(a, nse=20) @ x[:, 0]), [general(dt, 4, 5) * (rng.random((4, 5)) > 0.5), general(dt, 5, 3)])
    for left in (True, False):
        for transpose in (True, False):
            fs[f"ormqr_{left}_{transpose}"] = (lambda a, tau, c, left=left, transpose=transpose: ll.ormqr(a, tau, c, left=left, transpose=transpose), [general(dt, 4, 3), general(dt, 3), general(dt, *((4, 2) if left else (2, 4)))])
    # What fails: not positive definite, singular, NaN.
    singular = np.zeros((3, 3), dt); singular[0, 0] = 1
    for what, bad in (("negative", -np.eye(3, dtype=dt)), ("singular", singular), ("nan", np.full((3, 3), np.nan, dt)), ("batch", np.stack([np.eye(3, dtype=dt), -np.eye(3, dtype=dt)]))):
        fs["cholesky_" + what], fs["lu_" + what], fs["svd_" + what] = (jnp.linalg.cholesky, [bad]), (lambda x: ll.lu(x), [bad]), (lambda x: jnp.linalg.svd(x, compute_uv=False), [bad])
        fs["eigvals_" + what], fs["eigh_" + what], fs["solve_" + what] = (lambda x: jnp.sort_complex(jnp.linalg.eigvals(x)), [bad]), (jnp.linalg.eigvalsh, [bad]), (lambda a: jnp.linalg.solve(a, jnp.ones((3, 1), a.dtype)), [bad])
        fs["inv_" + what], fs["qr_" + what], fs["schur_" + what] = (jnp.linalg.inv, [bad]), (lambda x: jnp.abs(jnp.linalg.qr(x, mode="r")), [bad]), (lambda x: ll.schur(x, compute_schur_vectors=False), [bad])
    for name, (f, args) in fs.items():
        if name == "eig_both" and "float" in n: continue
        count += 1
        if ("0" if count % 12 == 0 else "1" if count % 4 == 0 else "2") not in parts: continue
        d = f"{out}/{name}_{n}"; os.makedirs(d)
        jitted = jax.jit(f)
        open(d + "/f.mlir", "w").write(jitted.lower(*args).as_text())
        leaves = [np.asarray(x) for x in jax.tree.leaves(jitted(*args))]
        np.savez(d + "/args.npz", *args); np.savez(d + "/results.npz", *leaves)
`

// TestLinearAlgebra runs JAX's linear algebra on the backends with LAPACK, and the real types on the engine without it.
func TestLinearAlgebra(t *testing.T) {
	peer.EachPart(t, label.Part, func(t *testing.T, p *peer.Interpreter, part func(first bool) bool) {
		parts := ""
		if part(true) {
			parts += "0"
		}
		if part(false) {
			parts += "1"
		}
		if part(false) && p.Version() == peer.MainVersion {
			parts += "2"
		}
		checkLinearAlgebra(t, p, parts)
	})
}

func checkLinearAlgebra(t *testing.T, python *peer.Interpreter, parts string) {
	dir := t.TempDir()
	python.Run(t, linalgPrograms, nil, dir, parts)
	cases, err := os.ReadDir(dir)
	least := 50
	if parts == "0" {
		least = 20
	}
	if err != nil || len(cases) < least {
		t.Fatalf("%d programs, %v", len(cases), err)
	}
	for _, backend := range []string{"engine without LAPACK", "engine", "cpu"} {
		name, env, pure := backend, plugins.System(), backend == "engine without LAPACK"
		if pure {
			name, env = "engine", plugins.Environment{}
		} else if _, ok := env.Library("lapack"); !ok || name == "cpu" && !haveCgo {
			t.Run(backend, func(t *testing.T) {
				t.Skip("skip: no LAPACK ('hlocb plugin install lapack' installs it), or no plugin without cgo")
			})
			continue
		}
		b, err := backends.Open(ctx, name, backends.Options{Plugins: env})
		if err != nil {
			t.Skipf("skip: %v", err)
		}
		for _, c := range cases {
			if pure && strings.Contains(c.Name(), "_complex") {
				continue
			}
			t.Run(backend+"/"+c.Name(), func(t *testing.T) {
				signs := pure && strings.HasPrefix(c.Name(), "svd_float") // singular vectors that differ from OpenBLAS's
				if err := linalg(filepath.Join(dir, c.Name()), signs, hlocb.OnBackend(b)); err != nil {
					t.Error(err)
				}
			})
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// linalg runs a program and compares its results with JAX's, or their absolute values if signs are free.
func linalg(dir string, signs bool, opts ...hlocb.CompileOption) error {
	got, err := execute(dir, opts...)
	if err != nil {
		return err
	}
	want, err := readAll(filepath.Join(dir, "results.npz"))
	if err != nil {
		return err
	}
	for i, w := range want {
		for k := range w.NumElements() {
			if signs {
				w.SetFloat(k, math.Abs(w.FloatAt(k)))
				got[i].SetFloat(k, math.Abs(got[i].FloatAt(k)))
			}
		}
		if err := near(got[i], w); err != nil {
			return fmt.Errorf("result %d: %w", i, err)
		}
	}
	return nil
}

// execute returns the results of the program of a directory.
func execute(dir string, opts ...hlocb.CompileOption) ([]*tensor.Tensor, error) {
	p, err := hlocb.Load(ctx, filepath.Join(dir, "f.mlir"))
	if err != nil {
		return nil, err
	}
	exe, err := p.Compile(ctx, opts...)
	if err != nil {
		return nil, err
	}
	defer exe.Close()
	args, err := readAll(filepath.Join(dir, "args.npz"))
	if err != nil {
		return nil, err
	}
	return exe.RunTensors(ctx, args)
}

func readAll(path string) ([]*tensor.Tensor, error) {
	s, err := values.Open(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	out := make([]*tensor.Tensor, len(s.Names()))
	for i := range out {
		if out[i], err = s.Read(s.Find(i), tensor.Invalid); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// near compares two results: they differ by at most a few hundred units in the last place of the largest element, and
// have NaNs at the same indices.
func near(got, want *tensor.Tensor) error {
	if got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) {
		return fmt.Errorf("%s%v, want %s%v", got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	at := func(t *tensor.Tensor, i int) complex128 {
		if t.DType().IsComplex() {
			return t.ComplexAt(i)
		}
		return complex(t.FloatAt(i), 0)
	}
	largest := 1.0
	for i := range want.NumElements() {
		if a := cmplx.Abs(at(want, i)); a > largest {
			largest = a
		}
	}
	eps := 0x1p-52
	if d := want.DType(); d == tensor.F32 || d == tensor.Complex64 {
		eps = 0x1p-23
	}
	for i := range want.NumElements() {
		g, w := at(got, i), at(want, i)
		if cmplx.IsNaN(g) != cmplx.IsNaN(w) || !cmplx.IsNaN(w) && !(cmplx.Abs(g-w) <= 300*eps*largest) && !math.IsInf(real(w), 0) {
			return fmt.Errorf("element %d is %v, want %v", i, g, w)
		}
	}
	return nil
}

// TestMissingLAPACK: the error of both backends names the library that complex types need.
func TestMissingLAPACK(t *testing.T) {
	const text = `func.func @main(%a: tensor<3x3xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>>, tensor<i32>) {
  %0:2 = stablehlo.custom_call @lapack_cpotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}, api_version = 4 : i32} : (tensor<3x3xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>>, tensor<i32>)
  return %0#0, %0#1 : tensor<3x3xcomplex<f32>>, tensor<i32>
}`
	for _, name := range []string{"engine", "cpu"} {
		t.Run(name, func(t *testing.T) {
			path := name
			if name == "cpu" {
				found, err := plugins.System().Find("cpu")
				if err != nil || !haveCgo {
					t.Skipf("skip: no CPU plugin (%v)", err)
				}
				path = found[0].Path
			}
			b, err := backends.Open(ctx, path, backends.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			_, err = parse(t, text).Compile(ctx, hlocb.OnBackend(b))
			var missing *backends.LibraryError
			if !errors.As(err, &missing) || missing.Library != "lapack" || !strings.Contains(err.Error(), `needs the library "lapack"`) {
				t.Errorf("error is %v", err)
			}
		})
	}
}
