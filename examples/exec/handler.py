#!/usr/bin/env python3
"""A handler for hlocb's exec: answers each hook with the softmax of its first operand.

hlocb run in.mlir --on 'softmax=exec:python3 handler.py'
"""
import json, struct, sys
from math import exp

inp, out = sys.stdin.buffer, sys.stdout.buffer


def answer(request, operands):
    """Returns the bytes of all results, one after the other."""
    (first,), (result,) = request["operands"], request["results"]
    if first["dtype"] != "f32" or result["shape"] != first["shape"]:
        raise ValueError(f"expected one f32 result like the operand, got {result}")
    x = struct.unpack(f"<{first['bytes'] // 4}f", operands[0])
    e = [exp(v - max(x)) for v in x]
    return struct.pack(f"<{len(e)}f", *(v / sum(e) for v in e))


while line := inp.readline():
    request = json.loads(line)
    operands = [inp.read(o["bytes"]) for o in request["operands"]]
    try:
        data = answer(request, operands)
        out.write(b'{"ok":true}\n' + data)
    except Exception as e:
        out.write(json.dumps({"error": str(e)}).encode() + b"\n")
    out.flush()
