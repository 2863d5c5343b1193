"""hlo.py SOURCES DIRECTORY: writes the HLO in XLA's tests, and what jaxlib 0.10.2 makes of it, for TestCorpus of package
hlo: for each file F in index.jsonl either F.want, the text that XLA prints, or F.refused, XLA's message.

A test of XLA has HLO in a file .hlo, or in a raw string of C++ that starts with HloModule."""
import hashlib, json, os, re, sys
from jaxlib import _hlo

sources, out = sys.argv[1:3]
options = _hlo.HloPrintOptions()
options.print_large_constants = True
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # XLA's log
literal = re.compile(r'R"([A-Za-z_]*)\(\s*(HloModule\b.*?)\)\1"', re.S)


def texts():
    """names and texts, each text once"""
    seen = set()
    for directory, subdirectories, names in os.walk(sources):
        subdirectories.sort()
        for name in sorted(names):
            path = os.path.join(directory, name)
            stem, suffix = os.path.splitext(name)
            if suffix not in (".hlo", ".cc"):
                continue
            with open(path, encoding="utf-8", errors="surrogateescape") as f:
                text = f.read()
            found = [text] if suffix == ".hlo" else [m.group(2) for m in literal.finditer(text)]
            for i, t in enumerate(found):
                key = hashlib.sha256(t.encode(errors="surrogateescape")).hexdigest()
                # A text with $ is a template, one with CHECK is printed by a tool.
                if key not in seen and "HloModule" in t and "$" not in t and "{...}" not in t:
                    seen.add(key)
                    yield f"{stem}_{i}_{key[:6]}.hlo", os.path.relpath(path, sources), t


def judged(text):
    """XLA's text and None, or None and XLA's message"""
    try:
        return _hlo.hlo_module_from_text(text).to_string(options), None
    except Exception as e:
        return None, str(e)


def write(name, text):
    with open(os.path.join(out, name), "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write(text)


todo, done, rows, lenient = list(texts()), 0, [], []
while done < len(todo):  # a failed check of XLA ends the child that asks it; the next one starts after that text
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(r)
        for name, _, text in todo[done:]:
            want, message = judged(text)
            again = want is not None and judged(want)[0]
            write(name + (".want" if want is not None else ".refused"), want if want is not None else message)
            os.write(w, b"1" if want is not None and again == want else b"2" if want is not None else b"0")
        os._exit(0)
    os.close(w)
    with os.fdopen(r, "rb") as f:
        answers = f.read()
    os.waitpid(pid, 0)
    for (name, source, text), answer in zip(todo[done:], answers.decode()):
        write(name, text)
        rows.append({"file": name, "src": source, "want": "refused" if answer == "0" else "ok"})
        if answer == "2":  # XLA refuses or changes its own text
            lenient.append(name)
    done += len(answers) + (done + len(answers) < len(todo))
write("index.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
write("lenient.txt", "".join(name + "\n" for name in lenient))
count = lambda want: sum(row["want"] == want for row in rows)
print(f"hlo: XLA reads {count('ok')} texts and refuses {count('refused')}")
