"""judge.py HLOCB DIRECTORY [flags]: checks with jaxlib 0.10.2 how hlocb reads and writes MLIR bytecode, portable
artifacts and files of jax.export. bytecode.py writes such a directory, and describes the files of its cases.

The checks of a case:
  read      bytecode, artifacts and exports as text: jaxlib prints that text as it prints the case
  write     the text as bytecode of each version: jaxlib prints the case
  rewrite   bytecode and artifacts written again: byte for byte the same after the producer's name
  artifact  the text as an artifact of each version: jaxlib prints the case; versions that lack an op are refused
  route     the text as an artifact of JAX's routes: jaxlib prints the expected text
  export    a file of jax.export written again: JAX finds the same fields
  bytes     an artifact of a text without locations has jaxlib's bytes; counted, and an error only with --bytes
and of all files together:
  corrupt   changed and truncated files end with 0 or 1, with a message, without a panic, within 20 s and 2 GB"""
import argparse, collections, json, os, random, resource, subprocess, sys, tempfile

parser = argparse.ArgumentParser()
parser.add_argument("hlocb")
parser.add_argument("directory")
parser.add_argument("--cases", type=int, default=150, help="how many cases are checked, chosen by --seed; 0: all")
parser.add_argument("--only", default="", help="check the cases whose name contains this text")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--corrupt", type=int, default=200, help="how many damaged files are read")
parser.add_argument("--bytes", action="store_true", help="fail if less than 95 %% of the artifacts have jaxlib's bytes")
parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many processes share the work")
parser.add_argument("--job", type=int, help="do the work of one process, and print its counts as JSON at the end")
flags = parser.parse_args()
counts = collections.Counter()


def finish():
    """prints the counts and ends the process"""
    equal, different = counts["bytes", "equal"], counts["bytes", "different"]
    if flags.bytes and equal < 0.95 * (equal + different):
        counts["bytes", "failed"] += 1
        print(f"FAIL bytes: {equal} of {equal + different} artifacts have jaxlib's bytes")
    total = lambda outcome: sum(n for (_, o), n in counts.items() if o == outcome)
    print("; ".join(f"{kind}: " + ", ".join(f"{counts[kind, o]} {o}" for o in ("passed", "failed", "equal", "different", "skipped") if counts[kind, o])
                    for kind in sorted({k for k, _ in counts})))
    print(f"{total('passed')} passed, {total('failed')} failed")
    sys.exit(total("failed") > 0)


if flags.job is None:
    jobs = [subprocess.Popen([sys.executable, *sys.argv, "--job", str(i)], stdout=subprocess.PIPE, text=True) for i in range(flags.jobs)]
    for job in jobs:
        *lines, last = job.communicate()[0].splitlines() or [""]
        if job.returncode:
            sys.exit("\n".join(lines + [last, f"judge.py: a process ended with {job.returncode}"]))
        print("\n".join(lines), flush=True) if lines else None
        for kind, outcome, n in json.loads(last):
            counts[kind, outcome] += n
    finish()

import jax
from jax import export
from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

MAGIC = b"ML\xefR"
EXPORTED = ("fun_name in_tree out_tree in_avals out_avals nr_devices platforms disabled_safety_checks calling_convention_version "
            "module_kept_var_idx uses_global_constants _in_named_shardings _out_named_shardings").split()
jax.config.update("jax_enable_x64", True)
shown, messages = 0, []
context = mlir.make_ir_context()
context.attach_diagnostic_handler(lambda d: messages.append(d.message) or True)
context.__enter__()
# Reading an artifact loads the dialect quant, which make_ir_context does not register.
stablehlo.deserialize_portable_artifact(context, stablehlo.serialize_portable_artifact(ir.Module.parse("func.func @f() { return }"), "1.0.0"))
scratch = tempfile.TemporaryDirectory()
output = os.path.join(scratch.name, "out")


def judge(kind, name, wrong):
    """counts a check, which wrong describes if it failed"""
    global shown
    counts[kind, "failed" if wrong else "passed"] += 1
    if wrong:
        shown += 1
        if shown <= 30:
            print(f"FAIL {kind}: {name}: {str(wrong)[:300]}", flush=True)


def load(path):
    with open(path, "rb") as f:
        return f.read()


def translate(path, to, **options):
    """runs hlocb, and returns the exit code, the messages and the output; the code is None if it hangs"""
    if os.path.exists(output):
        os.remove(output)
    words = [w for name, value in options.items() for w in ("--" + name.replace("_", "-"), str(value))]
    command = [flags.hlocb, "translate", path, "--to", to, "-o", output, *words]
    # The limit is set from here: with preexec_fn, subprocess copies this process, which takes longer than the command.
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as p:
        resource.prlimit(p.pid, resource.RLIMIT_CPU, (20, 20))
        try:
            messages = p.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            p.kill()
            return None, "hangs", b""
    return p.returncode, messages.decode(errors="replace"), load(output) if os.path.exists(output) else b""


def printed(data):
    """returns what jaxlib prints for a text, bytecode or an artifact"""
    messages.clear()
    if data.startswith(MAGIC) and b"StableHLO_v" in data[:24]:
        m = stablehlo.deserialize_portable_artifact(context, data)
    else:
        m = ir.Module.parse(data if data.startswith(MAGIC) else data.decode())
    if m is None:
        raise ValueError("; ".join(messages[:2]))
    return str(m)


def expect(kind, name, want, *args, **options):
    """judges whether jaxlib prints hlocb's translation as want, and returns the translation"""
    code, text, data = translate(*args, **options)
    if code != 0:
        judge(kind, name, f"exit {code}: {text}")
        return data
    try:
        got = printed(data)
    except Exception as e:
        judge(kind, name, f"jaxlib cannot read it: {(messages or [e])[0]}")
        return data
    different = ((i, g, w) for i, (g, w) in enumerate(zip(got.split("\n") + [""], want.split("\n") + [""])) if g != w)
    judge(kind, name, got != want and "line {}: {!r}, expected {!r}".format(*next(different, ("end", "", ""))))
    return data


def again(name, want, path, to, stable=True, **options):
    """judges whether a file comes back byte for byte, apart from the producer's name; jaxlib itself changes unstable files"""
    code, text, data = translate(path, to, **options)
    body = lambda d: d[d.index(0, 5):] if d.startswith(MAGIC) else d
    if code == 0 and body(data) != body(want) and not stable:
        counts["rewrite", "different"] += 1
    else:
        judge("rewrite", name, (code != 0 or body(data) != body(want)) and (text or f"{len(data)} bytes, expected {len(want)}"))


def check_export(name, path):
    want, file = printed(load(path("module.vhlo.bc"))), path("prog.jaxexport")
    expect("read", name + "/module.vhlo.bc", want, path("module.vhlo.bc"), "mlir")
    if not os.path.exists(file):
        return [path("module.vhlo.bc")]
    expect("read", name + "/prog.jaxexport", want, file, "mlir")
    version = load(path("module.vhlo.bc"))[5:].split(b"\0")[0].decode().removeprefix("StableHLO_v")
    again(name + " as an artifact", load(path("module.vhlo.bc")), file, "vhlo", target=version)
    code, text, data = translate(file, "export")
    try:
        a, b = export.deserialize(bytearray(load(file))), export.deserialize(bytearray(data))
        different = [f for f in EXPORTED if str(getattr(a, f)) != str(getattr(b, f))]
        judge("export", name, different or a.mlir_module() != b.mlir_module() and "another module")
    except NotImplementedError:  # effects that this process does not register
        counts["export", "skipped"] += 1
    except Exception as e:
        judge("export", name, text or e)
    return [file, path("module.vhlo.bc")]


def check_module(name, path):
    with open(path("case.json")) as f:
        case = json.load(f)
    file = path("text.mlir")
    text, files = (load(file).decode() if os.path.exists(file) else None), []
    for version, p in sorted(case.get("bc", {}).items()):
        files.append(path(p))
        expect("read", f"{name}/{p}", text, path(p), "mlir")
        if case.get("write", True):
            expect("write", f"{name} bytecode {version}", text, file, "bytecode", bytecode_version=version)
        again(f"{name}/{p}", load(path(p)), path(p), "bytecode", bytecode_version=version)
    for version, row in sorted(case.get("vhlo", {}).items()):
        check_artifact(name, path, case, text, version, row, files)
    for target, row in sorted(case.get("xla", {}).items()):
        if "upgraded" in row:
            want = load(path(row["upgraded"])).decode()
            expect("read", f"{name}/{row['file']}", want, path(row["file"]), "mlir")
            if text:
                route = "xla-mixed" if target.endswith("-mixed") else "xla"
                expect("route", f"{name} {target}", want, file, "vhlo", target=target.removesuffix("-mixed"), route=route)
    return files


def check_artifact(name, path, case, text, version, row, files):
    if "error" in row:
        reason = " ".join(row["error"])
        if text and ("failed to convert VHLO to v" in reason or "vhlo." in reason.split("\n")[0]):
            code, message, _ = translate(path("text.mlir"), "vhlo", target=version)
            judge("refuse", f"{name} {version}", not (code == 1 and message.strip()) and f"exit {code} {message}; jaxlib: {reason[:160]}")
        return
    p = path(row["file"])
    files.append(p)
    if "upgrade_error" in row:
        return
    want = load(path(row["upgraded"])).decode() if "upgraded" in row else text
    if want is not None:
        expect("read", f"{name}/{row['file']}", want, p, "mlir")
    else:  # newer than this jaxlib: hlocb reads the same from the artifact and from its reference
        a, b = translate(p, "mlir"), translate(path(row["reference"]), "mlir")
        judge("read", f"{name}/{row['file']}", (a[0] or b[0] or a[2] != b[2]) and (a[1] or b[1] or "another text than its reference"))
    again(f"{name}/{row['file']}", load(p), p, "vhlo", stable=row.get("roundtrip_same", True) or flags.bytes, target=version)
    if text is None or case.get("kind") == "upstream":
        return
    data = expect("artifact", f"{name} {version}", want, path("text.mlir"), "vhlo", target=version)
    if not case.get("locations", True):
        counts["bytes", "equal" if data == load(p) else "different"] += 1


def damage(r, data):
    """returns changed bytes, and whether the end is missing"""
    b, way = bytearray(data), r.random()
    at = r.randrange(len(b))
    if way < 0.25:
        return b[:at], True
    if way < 0.5:
        for _ in range(r.randrange(1, 9)):
            b[r.randrange(len(b))] = r.randrange(256)
    elif way < 0.8:
        b[at] ^= 1 << r.randrange(8)
    elif way < 0.9:
        b[at:at] = bytes(r.randrange(256) for _ in range(r.randrange(1, 5)))
    else:
        del b[at:at + r.randrange(1, 5)]
    return b, False


def check_damaged(r, source, i):
    data, truncated = damage(r, load(source))
    file = os.path.join(scratch.name, "damaged.bc")
    with open(file, "wb") as f:
        f.write(data)
    code, text, _ = translate(file, "mlir")
    wrong = code not in (0, 1) and f"exit {code} {text}"
    wrong = wrong or any(w in text.lower() for w in ("panic:", "goroutine ", "runtime error")) and "panic: " + text
    wrong = wrong or code == 1 and not text.strip() and "no message"
    wrong = wrong or code == 0 and truncated and not source.endswith(".jaxexport") and "accepted without its end"
    judge("corrupt", f"{os.path.relpath(source, flags.directory)}, damage {i} of seed {flags.seed}", wrong)


names = sorted(n for n in os.listdir(flags.directory) if flags.only in n and os.path.isdir(os.path.join(flags.directory, n)))
chance = random.Random(flags.seed)
chance.shuffle(names)
special = [n for n in names if n.startswith(("export_", "upstream_", "pjrt_"))]
plain = [n for n in names if n not in special]
chosen = special + (plain[:max(0, flags.cases - len(special))] if flags.cases else plain)
pool = []
for name in chosen[flags.job::flags.jobs]:
    path = lambda p: os.path.join(flags.directory, name, p)
    pool += (check_export if os.path.exists(path("module.vhlo.bc")) else check_module)(name, path)
for i in range(flags.job, flags.corrupt if pool else 0, flags.jobs):
    r = random.Random(f"{flags.seed} {i}")
    check_damaged(r, r.choice(pool), i)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
if peak > 2048:
    judge("corrupt", "memory", f"a run took {peak} MB")
print(json.dumps([[kind, outcome, n] for (kind, outcome), n in counts.items()]))
