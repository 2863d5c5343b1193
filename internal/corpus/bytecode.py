"""bytecode.py SOURCES DIRECTORY: writes modules of StableHLO's tests as jaxlib 0.10.2 writes them, for judge.py. A module
is a directory:

  text.mlir           the module as jaxlib prints it
  bc/vN.bc            bytecode of each version
  vhlo/X.Y.Z.bc       portable artifacts; X.Y.Z.up.mlir is what jaxlib prints after reading one, if it is another text
  xla/K.bc            artifacts as JAX makes them for plugins, with K.up.mlir; K ends with -mixed if Shardy's ops stay
  case.json           the files, and the messages of versions that jaxlib refuses
and export_* are programs that jax.export wrote: prog.jaxexport, and module.vhlo.bc in it."""
import json, os, re, sys
import jax
import jax.numpy as jnp
from jax import export
from jax._src.interpreters import mlir
from jaxlib import _jax
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

sources, out = sys.argv[1:3]
versions = ["0.9.0", "1.0.0", "1.4.0", "1.9.0", "1.13.7", "1.15.0", "1.17.0"]
routes = [(v, mixed) for v in ("1.8.0", "1.13.7", "1.17.0") for mixed in (False, True)]
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # MLIR's diagnostics


def write(case, name, data):
    path = os.path.join(out, case, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    return name


class Writer:
    """writes cases in a context of MLIR"""

    def __init__(self):
        self.messages = []
        self.context = mlir.make_ir_context()
        self.context.attach_diagnostic_handler(lambda d: self.messages.append(f"{d.location}: {d.message}") or True)

    def artifact(self, make, case, stem, text):
        """writes what make returns and what jaxlib prints for it, and returns the row of case.json"""
        self.messages.clear()
        try:
            data = make()
        except Exception as e:
            return {"error": list(self.messages) or [str(e)]}
        row = {"file": write(case, stem + ".bc", data)}
        read = stablehlo.deserialize_portable_artifact(self.context, data)
        if read is None:
            return row | {"upgrade_error": list(self.messages)}
        if text is None or str(read) != text:
            row["upgraded"] = write(case, stem + ".up.mlir", str(read))
        return row

    def module(self, case, name, text):
        """writes a module, unless jaxlib refuses it or its own text"""
        with self.context:
            try:
                m = ir.Module.parse(text)
                printed, used = str(m), set()
                m.operation.walk(lambda op: used.add(op.name.split(".")[0]) or ir.WalkResult.ADVANCE)
                if used - {"builtin", "chlo", "func", "sdy", "stablehlo"} or str(ir.Module.parse(printed)) != printed:
                    return
            except Exception:
                return
            write(case, "text.mlir", printed)
            rows = {"name": name, "locations": False, "bc": {}, "vhlo": {}, "xla": {}}
            for v in range(7):
                path = os.path.join(out, case, "bc", f"v{v}.bc")
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as f:
                    ir.Module.parse(printed).operation.write_bytecode(f, desired_version=v)
                rows["bc"][v] = f"bc/v{v}.bc"
            for v in versions:
                # Serializing changes the module. A text has the location of each op, so the module is stripped of them.
                bare = lambda: ir.Module.parse(ir.Module.parse(printed).operation.get_asm())
                rows["vhlo"][v] = row = self.artifact(lambda: stablehlo.serialize_portable_artifact(bare(), v), case, "vhlo/" + v, printed)
                if "file" in row and "upgrade_error" not in row:
                    with open(os.path.join(out, case, row["file"]), "rb") as f:
                        data = f.read()
                    back = stablehlo.serialize_portable_artifact(stablehlo.deserialize_portable_artifact(self.context, data), v)
                    row["roundtrip_same"] = back[back.index(0, 5):] == data[data.index(0, 5):]
            for v, mixed in routes:
                target = v + "-mixed" * mixed
                make = lambda: _jax.mlir.serialize_portable_artifact(ir.Module.parse(printed), v, mixed)
                rows["xla"][target] = self.artifact(make, case, "xla/" + target, None)
            rows["locations"] = True  # a parsed op has the location of its text
            write(case, "case.json", json.dumps(rows, indent=1))


def chunks():
    """the modules of StableHLO's tests: many of its ops, one of each group of testdata"""
    tests, groups = os.path.join(sources, "stablehlo", "tests"), {}
    for directory, _, names in sorted(os.walk(tests)):
        for name in sorted(names):
            if name.endswith(".mlir"):
                path = os.path.join(directory, name)
                with open(path) as f:
                    parts = re.split(r"^// -----.*\n", f.read(), flags=re.M)
                stem = os.path.relpath(path, tests)
                yield from ((f"{stem}#{i}", p) for i, p in enumerate(parts) if i % 3 == 0)
    data = os.path.join(sources, "stablehlo", "testdata")
    for name in sorted(os.listdir(data)):
        if name.endswith(".mlir"):
            groups.setdefault(name.split("_")[0], name)
    for name in groups.values():
        with open(os.path.join(data, name)) as f:
            yield name, f.read()


def exports():
    x = jax.ShapeDtypeStruct((4, 8), jnp.float32)
    n, = export.symbolic_shape("n")
    programs = {
        "sine": (lambda x: jnp.sin(x) + 1, [x]),
        "gradient": (jax.grad(lambda x: (jnp.tanh(x @ x.T) ** 2).sum()), [x]),
        "scan": (lambda x: jax.lax.scan(lambda c, v: (c + v, c * v), x[0], x), [x]),
        "tree": (lambda t: {"sum": t["a"] + t["b"][0], "none": None}, [{"a": x, "b": [x]}]),
        "polymorphic": (lambda x: x.sum(0), [jax.ShapeDtypeStruct((n, 3), jnp.float32)]),
        "sort": (lambda x: jax.lax.top_k(x, 3), [x]),
    }
    for name, (f, args) in programs.items():
        exported = export.export(jax.jit(f))(*args)
        write("export_" + name, "prog.jaxexport", bytes(exported.serialize()))
        write("export_" + name, "module.vhlo.bc", exported.mlir_module_serialized)


def name_of(text):
    return re.sub(r"\W+", "_", text)


todo = list(chunks())
done = 0
while done < len(todo):  # an assertion of MLIR ends the child that writes the cases; the next one starts after that case
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(r)
        writer = Writer()
        for name, text in todo[done:]:
            writer.module(name_of(name), name, text)
            os.write(w, b".")
        os._exit(0)
    os.close(w)
    with os.fdopen(r, "rb") as f:
        finished = len(f.read())
    os.waitpid(pid, 0)
    done += finished
    if done < len(todo):
        done += 1
for directory in os.listdir(out):  # a child that ended may have left a part of a case
    path = os.path.join(out, directory)
    if not any(os.path.exists(os.path.join(path, f)) for f in ("case.json", "module.vhlo.bc")):
        for root, names, files in os.walk(path, topdown=False):
            for f in files:
                os.remove(os.path.join(root, f))
            os.rmdir(root)
exports()  # JAX starts threads, which a child would lack
