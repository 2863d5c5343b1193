package hlocb_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/values"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/plugins"
)

// boundsScript writes decompositions with 'write DIR' and, with 'judge DIR BACKEND', prints for each the residual and
// the loss of orthogonality of the results, as multiples of n·eps: {"qr": 0.3, ...}, the largest over the types.
const boundsScript = `
import json, os, sys
import numpy as np
what, out = sys.argv[1:3]
H = lambda a: np.conj(a.T)
def orth(q): return q.shape[0], np.abs(H(q) @ q - np.eye(q.shape[1])).sum(0).max()
def off(n, a, b): return n, np.linalg.norm(a - b) / np.linalg.norm(a)
def triangular(kind, a): return np.tril(a) if kind == "L" else np.triu(a)
# The name, the function, the kind of matrix, and what must be small.
fs = {
    "cholesky": (lambda j, l, s: j.linalg.cholesky, "positive", lambda a, x: [off(len(a), a, x[0] @ H(x[0]))]),
    "lu": (lambda j, l, s: l.lu, "general", lambda a, x: [off(len(a), a[x[2]], (np.tril(x[0], -1) + np.eye(len(a))) @ np.triu(x[0]))]),
    "qr": (lambda j, l, s: j.linalg.qr, "tall", lambda a, x: [off(len(a), a, x[0] @ x[1]), orth(x[0])]),
    "qr with pivots": (lambda j, l, s: (lambda a: s.linalg.qr(a, pivoting=True, mode="economic")), "tall", lambda a, x: [off(len(a), a[:, x[2]], x[0] @ x[1]), orth(x[0])]),
    "svd": (lambda j, l, s: (lambda a: j.linalg.svd(a, full_matrices=False)), "tall", lambda a, x: [off(len(a), a, x[0] * x[1] @ x[2]), orth(x[0]), orth(H(x[2]))]),
    "svd by QR": (lambda j, l, s: (lambda a: l.svd(a, full_matrices=False, algorithm=l.SvdAlgorithm.QR)), "tall", lambda a, x: [off(len(a), a, x[0] * x[1] @ x[2]), orth(x[0]), orth(H(x[2]))]),
    "eigh": (lambda j, l, s: j.linalg.eigh, "positive", lambda a, x: [off(len(a), a, x[1] * x[0] @ H(x[1])), orth(x[1])]),
    "eig": (lambda j, l, s: j.linalg.eig, "general", lambda a, x: [off(len(a), a @ x[1], x[1] * x[0])]),
    "schur": (lambda j, l, s: l.schur, "general", lambda a, x: [off(len(a), a, x[1] @ x[0] @ H(x[1])), orth(x[1])]),
    "hessenberg": (lambda j, l, s: (lambda a: (lambda h, t: (j.triu(h, -1), l.householder_product(j.tril(h[..., 1:, :-1], 0), t)))(*l.hessenberg(a))), "general",
                   lambda a, x: (lambda q: [off(len(a), a, q @ x[0] @ H(q)), orth(q)])(np.block([[np.eye(1), np.zeros((1, len(a) - 1))], [np.zeros((len(a) - 1, 1)), x[1]]]))),
    "solve": (lambda j, l, s: (lambda a: j.linalg.solve(a, j.ones((len(a), 1), a.dtype))), "positive", lambda a, x: [(len(a), np.linalg.norm(a @ x[0] - 1) / (np.linalg.norm(a) * np.linalg.norm(x[0])))]),
    "triangular solve": (lambda j, l, s: (lambda a: s.linalg.solve_triangular(a, j.ones((len(a), 1), a.dtype), lower=True)), "lower",
                         lambda a, x: [(len(a), np.linalg.norm(a @ x[0] - 1) / (np.linalg.norm(a) * np.linalg.norm(x[0])))]),
    "tridiagonal solve": (lambda j, l, s: (lambda a: l.tridiagonal_solve(j.pad(j.diag(a, -1), (1, 0)), j.diag(a), j.pad(j.diag(a, 1), (0, 1)), j.ones((len(a), 1), a.dtype))), "band",
                         lambda a, x: [(len(a), np.linalg.norm(a @ x[0] - 1) / (np.linalg.norm(a) * np.linalg.norm(x[0])))]),
}
def matrix(kind, dt, n, rng):
    m = n if kind != "tall" else n + n // 2
    a = rng.standard_normal((m, n)) + (1j * rng.standard_normal((m, n)) if np.issubdtype(dt, np.complexfloating) else 0)
    if kind == "positive": a = a @ H(a) + n * np.eye(n)
    if kind == "lower": a = np.tril(a, -1) / n + 2 * np.eye(n)
    if kind == "band": a = np.tril(np.triu(a, -1), 1) + 6 * np.eye(n)
    return a.astype(dt)
sizes = {np.float32: 65, np.float64: 40, np.complex64: 20, np.complex128: 3}
if what == "write":
    import jax, jax.numpy as jnp, jax.scipy
    jax.config.update("jax_enable_x64", True)
    rng = np.random.default_rng(1)
    for name, (f, kind, _) in fs.items():
        for dt, n in sizes.items():
            d = f"{out}/{name}-{np.dtype(dt).name}"; os.makedirs(d)
            a = matrix(kind, dt, n, rng)
            with open(d + "/f.mlir", "w") as o: o.write(jax.jit(f(jnp, jax.lax.linalg, jax.scipy)).lower(a).as_text())
            np.savez(d + "/args.npz", a)
else:
    worst = {}
    for d in sorted(os.listdir(out)):
        name, dt = d.rsplit("-", 1)
        wide = np.clongdouble if "complex" in dt else np.longdouble
        a = np.load(f"{out}/{d}/args.npz")["arr_0"]
        x = np.load(f"{out}/{d}/{sys.argv[3]}.npz")
        x = [x[str(i)] for i in range(len(x.files))]
        x = [v.astype(np.clongdouble if np.iscomplexobj(v) else np.longdouble) if v.dtype.kind in "fc" else v for v in x]
        for n, e in fs[name][2](a.astype(wide), x):
            e = float(e / (n * np.finfo(dt).eps))
            worst[name] = max(worst.get(name, 0), e if e == e else 1e300)
    print(json.dumps(worst))
`

// TestLinearAlgebraBounds: residuals and the loss of orthogonality stay below c·n·eps; docs/accuracy.md has c.
func TestLinearAlgebraBounds(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	peer.Each(t, nil, checkLinearAlgebraBounds)
}

func checkLinearAlgebraBounds(t *testing.T, python *peer.Interpreter) {
	env := plugins.System()
	if _, ok := env.Library("lapack"); !ok {
		t.Skip("skip: no LAPACK; 'hlocb plugin install lapack' installs it")
	}
	page, err := os.ReadFile(filepath.Join("docs", "accuracy.md"))
	if err != nil {
		t.Fatal(err)
	}
	limits := map[string]float64{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([\w ]+) \| .* \| ([\d.]+) \|$`).FindAllStringSubmatch(string(page), -1) {
		limits[m[1]], _ = strconv.ParseFloat(m[2], 64)
	}
	dir := t.TempDir()
	python.Run(t, boundsScript, nil, "write", dir)
	cases, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"engine", "cpu"} {
		t.Run(name, func(t *testing.T) {
			b, err := backends.Open(ctx, name, backends.Options{Plugins: env})
			if err != nil {
				t.Skipf("skip: %v", err)
			}
			defer b.Close()
			for _, c := range cases {
				if err := decompose(filepath.Join(dir, c.Name()), name, hlocb.OnBackend(b)); err != nil {
					t.Fatalf("%s: %v", c.Name(), err)
				}
			}
			var worst map[string]float64
			if err := json.Unmarshal(python.Run(t, boundsScript, nil, "judge", dir, name), &worst); err != nil {
				t.Fatal(err)
			}
			if len(worst) < 13 {
				t.Errorf("%d decompositions", len(worst))
			}
			for what, c := range worst {
				t.Logf("%s: %.3g", what, c)
				if limit, ok := limits[what]; !ok || !(c <= limit) {
					t.Errorf("%s: %.3g·n·eps, docs/accuracy.md allows %g (in its table: %t)", what, c, limit, ok)
				}
			}
		})
	}
}

// decompose runs the program of a directory and writes its results to name.npz.
func decompose(dir, name string, opts ...hlocb.CompileOption) error {
	results, err := execute(dir, opts...)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, name+".npz"))
	if err != nil {
		return err
	}
	defer f.Close()
	w := values.NewArchive(f)
	for i, r := range results {
		if err := w.Write(strconv.Itoa(i), r); err != nil {
			return err
		}
	}
	return w.Close()
}
