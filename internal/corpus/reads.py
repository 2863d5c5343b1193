"""reads.py HLOCB DIRECTORY...: compares what hlocb and jaxlib read.

Every module below the directories (*.mlir, *.bc, *.mlirbc; parts between '// -----' are modules of their own) is read
by both. Where both read it, hlocb's text must be a fixpoint, and its generic form must be, to jaxlib, the module that
jaxlib reads itself. jaxlib reads dialects that it has not registered, too. The script prints counts, what only jaxlib
reads with hlocb's error, and what differs, each as FILE#PART. It fails if a module differs or is no fixpoint."""
import collections, os, re, subprocess, sys, tempfile
from jax._src.interpreters import mlir
from jaxlib.mlir import ir

hlocb, roots = os.path.abspath(sys.argv[1]), sys.argv[2:]
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # MLIR's diagnostics


def parts():
    for root in roots:
        for directory, subdirectories, names in os.walk(root):
            subdirectories.sort()
            for name in sorted(names):
                path = os.path.join(directory, name)
                if name.endswith((".bc", ".mlirbc")):
                    with open(path, "rb") as f:
                        yield path, 0, f.read()
                elif name.endswith(".mlir"):
                    with open(path, "rb") as f:
                        for i, part in enumerate(re.split(rb"(?m)^// -----.*\n?", f.read())):
                            if re.sub(rb"(?m)//.*$", b"", part).strip():
                                yield path, i, part


def generic(module):
    """What jaxlib reads, in the generic form; None if it refuses the module, '' if MLIR ends the process."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(r)
        with os.fdopen(w, "wb") as f, mlir.make_ir_context() as context:
            context.allow_unregistered_dialects = True
            try:
                f.write(b"+" + ir.Module.parse(module).operation.get_asm(print_generic_op_form=True).encode())
            except Exception:
                f.write(b"-")
            f.flush()
            os._exit(0)
    os.close(w)
    with os.fdopen(r, "rb") as f:
        answer = f.read()
    os.waitpid(pid, 0)
    return "" if not answer else answer[1:].decode() if answer[:1] == b"+" else None


def run(module, *args):
    """hlocb's output for a module, or None, and its first error."""
    with tempfile.NamedTemporaryFile(suffix=".mlir") as f:
        f.write(module)
        f.flush()
        done = subprocess.run([hlocb, args[0], f.name, *args[1:]], capture_output=True)
    error = re.search(r"error: (.*)", done.stderr.decode(errors="replace"))
    return (done.stdout if done.returncode == 0 else None), error[1] if error else ""


count, refused, wrong = collections.Counter(), [], []
for path, i, module in parts():
    name = f"{path}#{i}"
    want, (text, error) = generic(module), run(module, "opt")
    count["modules"] += 1
    if want == "":
        count["MLIR ends the process"] += 1
    elif want is None:
        count["both refuse" if text is None else "only hlocb reads"] += 1
    elif text is None:
        count["only jaxlib reads"] += 1
        refused.append(f"{name}: {error}")
    else:
        count["both read"] += 1
        if run(text, "opt")[0] != text:
            wrong.append(f"{name}: its text is no fixpoint")
        form, error = run(module, "translate", "--to", "generic")
        if form is None or generic(form) != want:
            wrong.append(f"{name}: the generic form differs {error}".rstrip())
for what in ("modules", "both read", "both refuse", "only hlocb reads", "only jaxlib reads", "MLIR ends the process"):
    print(f"{count[what]:7} {what}")
print(*(f"only jaxlib reads {line}" for line in refused), *(f"differs: {line}" for line in wrong), sep="\n")
sys.exit(bool(wrong))
