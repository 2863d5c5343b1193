# Computes the exact values of element-wise functions with mpmath and as many digits as necessary. If an operand is not
# finite, or zero in both parts, the value follows C99 (annex G); numpy computes it with the C library.
#
# Write the part of a line before " = " to ask for another element, then
#
#	python3 truth.py < testdata/truth.txt > new.txt
#
# A line has the op, the type, the operands, "=" and for each part of the value high,low. Their sum is the part. ",s"
# follows if the sign of a zero counts. Numbers are hexadecimal, complex operands "real,imaginary". The script omits
# elements whose value mpmath cannot compute.
import signal, sys
import mpmath
import numpy as np
from mpmath import mp, mpf, mpc

np.seterr(all='ignore')
INF, NAN = float('inf'), float('nan')

def lgamma(x): return mp.log(abs(mp.gamma(x))) if x < 1e4 else mp.loggamma(x)
def erf_inv(x): return mp.erfinv(x)
def i1e(x): return mp.exp(-abs(x)) * mp.besseli(1, x)
def euler_maclaurin(s, q):
    """Returns Hurwitz's zeta at high orders, for which mpmath takes long."""
    total, a = mpf(0), q
    while a < max(s, mp.prec / 4, 40):
        t = a ** -s
        total += t
        if t < total * mpf(2) ** (-mp.prec - 10): return total
        a += 1
    total += a ** (1 - s) / (s - 1) + a ** -s / 2
    t = s * a ** (-s - 1) / 2
    for k in range(1, 2000):
        v = t * mp.bernoulli(2 * k)
        total += v
        if abs(v) < total * mpf(2) ** (-mp.prec - 10): return total
        t = t / a / a * (s + 2 * k - 1) * (s + 2 * k) / ((2 * k + 1) * (2 * k + 2))
    return None
def hurwitz(s, q):
    if s == INF:
        return None if q <= 0 else mpf(0) if q > 1 else mpf(1) if q == 1 else mpf(INF)
    if q == INF: return mpf(0)
    if q <= 0 and (s != int(s) or q == int(q)): return None
    if q > 0:
        if q > 1 and s > 1e5 and mp.log(2 + q) - s * mp.log(q) < -760: return mpf(0)
        # At high orders only the first term counts.
        return q ** -s if s > 1e5 and q * 200 < s else euler_maclaurin(s, q) if s > 20 else mp.zeta(s, q)
    # The m+1 terms below 0 are terms of zeta at the fraction of -q.
    m = int(mp.floor(-q))
    f = -q - m
    sign = 1 if s > 2 ** 60 or int(s) % 2 == 0 else -1
    if s > 1e5: return (1 - f) ** -s + sign * f ** -s
    below = sum((f + j) ** -s for j in range(m + 1)) if m < 60 else hurwitz(s, f) - hurwitz(s, m + 1 + f)
    return hurwitz(s, 1 - f) + sign * below
def polygamma(n, x):
    if n < 0 or n == INF or n != int(n) or x == -INF or x <= 0 and x == int(x): return None
    if n == 0: return mp.psi(0, x)
    even = n > 2 ** 60 or int(n) % 2 == 0
    sign = -1 if even else 1
    if x == INF: return mpf(0)
    if n > 170:
        with mp.workprec(mp.prec + 40 + 2 * int(mp.log(n, 2))):
            if x < 0:
                f = -x - mp.floor(-x)
                if not even or f != 0.5: return mpf(INF) * (1 if not even or f < 0.5 else -1)
                x = 1 - x
            size = mp.loggamma(n + 1) - (n + 1) * mp.log(x) # of the first term, and so many there are:
            if size > 2000: return sign * mpf(INF)
            if size + mp.log(2 + x) < -760: return mpf(0)
            return sign * mp.exp(mp.loggamma(n + 1)) * hurwitz(n + 1, x)
    return sign * mp.factorial(int(n)) * hurwitz(n + 1, x)
def zeta(s, q): return hurwitz(s, q) if s > 1 and q > -INF else None
def cbrt(x): return mp.sign(x) * mp.root(abs(x), 3)
def divide(a, b): return a / b
def sign(z): return z / abs(z)
def power(a, b): return mp.exp(b * mp.log(a)) if isinstance(a, mpc) else mp.power(a, b)
def expm1(z):
    if not isinstance(z, mpc): return mp.expm1(z)
    h = mp.sin(z.imag / 2)
    return mpc(mp.expm1(z.real) * mp.cos(z.imag) - 2 * h * h, mp.exp(z.real) * mp.sin(z.imag))
def log1p(z):
    if not isinstance(z, mpc): return mp.log1p(z) if z > -1 else mp.log(1 + z)
    a, b = z.real, z.imag
    return mpc(mp.log1p(2 * a + a * a + b * b) / 2, mp.atan2(b, 1 + a))
def atan2(a, b):
    if not isinstance(a, mpc): return mp.atan2(a, b)
    return -mpc(0, 1) * mp.log((b + mpc(0, 1) * a) / mp.sqrt(a * a + b * b))

def asin_acos_kernel(z):
    return mpc(mp.sqrt(1 - z * z).real, abs(mp.asin(z).imag))

FUNCTIONS = {
    'abs': abs, 'atan2': atan2, 'cbrt': cbrt, 'cosine': mp.cos, 'divide': divide, 'exponential': mp.exp,
    'exponential_minus_one': expm1, 'log': mp.log, 'log_plus_one': log1p,
    'logistic': lambda z: 1 / (1 + mp.exp(-z)), 'multiply': lambda a, b: a * b, 'power': power, 'rsqrt': lambda z: 1 / mp.sqrt(z),
    'sign': sign, 'sine': mp.sin, 'sqrt': mp.sqrt, 'tan': mp.tan, 'tanh': mp.tanh, 'acos': mp.acos, 'acosh': mp.acosh,
    'asin': mp.asin, 'asinh': mp.asinh, 'atan': mp.atan, 'atanh': mp.atanh, 'bessel_i1e': i1e, 'cosh': mp.cosh, 'sinh': mp.sinh,
    'digamma': mp.digamma, 'erf': mp.erf, 'erfc': mp.erfc, 'erf_inv': erf_inv, 'lgamma': lgamma, 'square': lambda z: z * z,
    'polygamma': polygamma, 'zeta': zeta, '_asin_acos_kernel': asin_acos_kernel,
}
C99 = {
    'abs': np.abs, 'cosine': np.cos, 'exponential': np.exp, 'log': np.log,
    'sine': np.sin, 'sqrt': np.sqrt, 'tan': np.tan, 'tanh': np.tanh, 'acos': np.arccos, 'acosh': np.arccosh, 'asin': np.arcsin,
    'asinh': np.arcsinh, 'atan': np.arctan, 'atanh': np.arctanh, 'cosh': np.cosh, 'sinh': np.sinh,
}
TINY = mpf(2) ** -1200
# Functions without branch cuts. A zero part of their operands is exactly zero.
PLAIN = {'abs', 'divide', 'multiply', 'sign', 'square'}

class Slow(Exception): pass
def give_up(*_): raise Slow()
signal.signal(signal.SIGVTALRM, give_up) # by processor time: other work must not change what is asked

def pair(v):
    hi = float(v)
    if hi in (float('inf'), float('-inf')) or hi != hi or hi == 0:
        return [hi.hex(), '0x0p+0']
    return [hi.hex(), float(v - mpf(hi)).hex()]

def annex_g(x, y):
    """Returns the quotient if an operand is not finite or the divisor is zero (C99, G.5.1)."""
    (a, b), (c, d) = [[np.float64(v) for v in z] for z in (x, y)]
    one = lambda v: np.copysign(1 if np.isinf(v) else 0, v)
    e, m = 0, max(abs(c), abs(d))
    if np.isfinite(c) and np.isfinite(d) and m > 0:
        e = int(np.frexp(m)[1]) - 1
        c, d = np.ldexp(c, -e), np.ldexp(d, -e)
    n = c * c + d * d
    re, im = np.ldexp((a * c + b * d) / n, -e), np.ldexp((b * c - a * d) / n, -e)
    if not (np.isnan(re) and np.isnan(im)): return re, im
    if n == 0 and not (np.isnan(a) and np.isnan(b)):
        return np.copysign(INF, c) * a, np.copysign(INF, c) * b
    if (np.isinf(a) or np.isinf(b)) and np.isfinite(c) and np.isfinite(d):
        a, b = one(a), one(b)
        return INF * (a * c + b * d), INF * (b * c - a * d)
    if (np.isinf(c) or np.isinf(d)) and np.isfinite(a) and np.isfinite(b):
        c, d = one(c), one(d)
        return 0 * (a * c + b * d), 0 * (b * c - a * d)
    return re, im

def agree(a, b, last):
    if a == 0 and b == 0: return last
    if mp.isinf(a) or mp.isinf(b): return last and a == b
    return abs(a - b) <= abs(b) * mpf(2) ** -80

def exact(f, args, cplx):
    """Returns the value as (real, imag) or (value,)."""
    before = None
    steps = [100, 180, 400, 1200, 2900, 6000] if cplx else [100, 200, 420, 1200, 2600]
    if f is atan2 and cplx:
        steps = [3000, 6000] # fewer bits lose parts that are small beside 1
    if f is power and cplx:
        mp.prec = 100
        if abs((args[1] * mp.log(args[0])).imag) > 2 ** 30: return None # turns beyond counting
    for k, bits in enumerate(steps):
        mp.prec = bits
        v = f(*args)
        if v is None: return None
        parts = (v.real, v.imag) if cplx else (v,)
        if any(p is None or isinstance(p, mpc) for p in parts): return None
        last = k == len(steps) - 1
        if f in (polygamma, zeta): last = args[1] > 0 or mp.isinf(v) # by their size; below 0 more cancels than there are bits
        if before and all(agree(a, b, last) for a, b in zip(before, parts)):
            return parts
        before = parts
    return None

def element(name, cplx, args):
    f = FUNCTIONS[name]
    if not cplx:
        if name == 'power' and not all(np.isfinite(a) for a in args): return [[float(np.power(np.float64(args[0]), np.float64(args[1]))).hex(), '0x0p+0']]
        if not all(np.isfinite(a) for a in args) and (name not in ('polygamma', 'zeta') or any(a != a for a in args)): return None
        if name == 'atan2' and args[0] == 0: return None # its sign counts
        try:
            parts = exact(f, [mpf(a) for a in args], False)
        except Slow:
            raise
        except Exception:
            return None
        return parts and [pair(p) for p in parts]
    special = any(not (np.isfinite(a) and np.isfinite(b)) for a, b in args) or any(a == 0 and b == 0 for a, b in args)
    def c99():
        if name == 'divide':
            return [[float(v).hex(), '0x0p+0'] for v in annex_g(*args)]
        if name in ('exponential_minus_one', 'log_plus_one') and args[0] == (0, 0): return [[v.hex(), '0x0p+0', 's'] for v in args[0]]
        if name not in C99: return None
        if name == 'exponential' and np.isinf(args[0][0]) and not np.isfinite(args[0][1]): return None # upstream's tests say NaN
        w = C99[name](np.array([complex(*args[0])], np.complex128))[0]
        if name == 'abs': return [[float(w).hex(), '0x0p+0']]
        sign = ['s'] if all(np.isfinite(v) for z in args for v in z) else [] # C99 leaves it open beside NaN
        return [[float(w.real).hex(), '0x0p+0'] + sign, [float(w.imag).hex(), '0x0p+0'] + sign]
    def signed(parts):
        """Returns the parts. Zeros have the sign that C99 requires."""
        if not parts: return parts
        parts = [pair(v) for v in parts]
        if name in C99 and name != 'abs' and any(float.fromhex(v[0]) == 0 for v in parts):
            w = C99[name](np.array([complex(*args[0])], np.complex128))[0]
            for v, s in zip(parts, (w.real, w.imag)):
                if float.fromhex(v[0]) == 0: v[0], v[2:] = np.copysign(0.0, s).item().hex(), ['s']
        return parts
    if special and not (name == 'divide' and args[1] != (0, 0) and all(np.isfinite(v) for z in args for v in z)): return c99()
    if name == 'log_plus_one' and args[0] in [(-1, 0)]: return None
    if name in PLAIN:
        parts = exact(f, [mpc(a, b) for a, b in args], name != 'abs')
        return parts and [pair(p) for p in parts]
    if any(a == 0 or b == 0 for a, b in args):
        w = c99()
        if w and any(float.fromhex(p[0]) in (float('inf'), float('-inf')) for p in w): return w
    if name == 'atan2':
        (a, b), (c, d) = args
        mp.prec = 10000
        if c != 0 and (a or b) and mpf(a) * d == mpf(b) * c: # the quotient is real, and so is the angle
            mp.prec = 300
            v = mp.atan(mpf(a) / mpf(c))
            if c < 0: v += mp.pi if v < 0 else -mp.pi
            return [pair(v), ['0x0p+0', '0x0p+0']]
        parts = [abs(v) for v in (a, b, c, d) if v != 0]
        if len(parts) < 4 and min(parts) < max(parts) * 2.0 ** -500: return None # no zero is that much smaller
        mp.prec = 10000
        if len(parts) < 4 and (abs(a) == abs(d) and abs(b) == abs(c)): return None # infinite, maybe
        # The operand is on a branch cut, and no sign selects the side.
        if mpf(a) * c + mpf(b) * d == 0 and np.signbit(a * c) != np.signbit(b * d): return None
        if mpf(a) * b + mpf(c) * d == 0 and np.signbit(a * b) != np.signbit(c * d): return None
    def value(tiny):
        def part(v):
            return mpf(v) if v != 0 else tiny * (1 if np.copysign(1, v) > 0 else -1)
        return exact(f, [mpc(part(a), part(b)) for a, b in args], name != 'abs')
    try:
        parts = value(TINY)
        if parts and any(a == 0 or b == 0 for a, b in args):
            # A zero stands for a very small number of its sign. A result that shrinks with the number is a zero.
            less = value(TINY * mpf(2) ** -100)
            if less is None: return None
            parts = [p if abs(p) < 2 * abs(q) else p * 0 for p, q in zip(parts, less)]
    except Slow:
        raise
    except Exception:
        return None
    if parts and name == 'power' and max(abs(p) for p in parts) > 1e38 and min(abs(p) for p in parts) < max(abs(p) for p in parts) * 2.0 ** -20:
        return None # one part overflows, and the other may with any sign
    return signed(parts)

def number(v):
    """Returns a hexadecimal float in Go's form."""
    v, e = float.fromhex(v), 0
    if 0 < abs(v) < 2.0 ** -1022: v, e = v * 2.0 ** 200, -200
    mantissa, _, exponent = v.hex().partition('p')
    if not exponent: return {'inf': '+Inf', '-inf': '-Inf', 'nan': 'NaN'}[mantissa]
    if '.' in mantissa: mantissa = mantissa.rstrip('0').rstrip('.')
    e += int(exponent)
    return '%sp%s%02d' % (mantissa, '-' if e < 0 else '+', abs(e))

for line in sys.stdin:
    asked = line.split(' = ')[0].strip()
    op, kind, *args = asked.split()
    cplx = kind.startswith('complex')
    args = [tuple(float.fromhex(v) for v in a.split(',')) for a in args]
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.2)
        v = element(op.split('.')[1], cplx, tuple(args if cplx else [a for a, in args]))
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except Slow:
        v = None
    if v:
        if cplx and len(v) == 1: v = v + [['0x0p+0', '0x0p+0']] # abs
        print(asked, '=', *(','.join([number(p[0]), number(p[1])] + p[2:3]) for p in v))
