"""Runs JAX's own tests on the engine as a PJRT plugin, and prints a table of results.

    jaxtests.py --engine libhlocb_engine.so --source JAX --results DIR [--devices 8] [--sample N] [--files a,b]

JAX is a checkout of JAX's sources at the version that this Python has. A test that fails on the engine runs again on
JAX's own CPU client; if it passes there and jaxtests.txt does not list it, the exit code is 1. DIR keeps every result:
a second run continues after the last one. Remove DIR to begin again.
"""

import argparse
import fnmatch
import os
import subprocess
import sys
import time
import zlib

FILES = """nn lax_control_flow lax linalg lax_numpy random jax_jit api python_callback debugging_primitives pjit shard_map
export lax_scipy fft lax_autodiff lax_numpy_indexing lax_numpy_reducers lax_vmap sparse""".split()

# Variables that the driver sets for pytest's process: the file of results, the sample's size, the names of tests.
RESULTS = "HLOCB_JAXTESTS_RESULTS"
SAMPLE = "HLOCB_JAXTESTS_SAMPLE"
ONLY = "HLOCB_JAXTESTS_ONLY"


def read(path):
    """Returns {test: (outcome, message)}. A test without an outcome ended the process."""
    results = {}
    if os.path.exists(path):
        with open(path) as f:
            for line in f:
                outcome, test, message = line.rstrip("\n").split("\t")
                results[test] = (outcome, message)
    return results


# The three functions below are pytest's: this file is also a plugin of pytest.

def pytest_collection_modifyitems(items):
    n, only = int(os.environ.get(SAMPLE, "0")), os.environ.get(ONLY)
    if n:
        keep = sorted(items, key=lambda i: zlib.crc32(i.nodeid.encode()))[:n]
        items[:] = [i for i in items if i in keep]
    done = read(os.environ[RESULTS])
    items[:] = [i for i in items if i.nodeid not in done and (not only or i.nodeid in only.split("\n"))]


def write(outcome, test, message=""):
    with open(os.environ[RESULTS], "a") as f:
        f.write(f"{outcome}\t{test}\t{' '.join(message.split())[:200]}\n")


def pytest_runtest_logstart(nodeid):
    write("crashed", nodeid)


def pytest_runtest_logreport(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    if report.when == "call" or report.outcome != "passed":
        write(report.outcome, report.nodeid, crash.message if crash and report.outcome == "failed" else "")


def run(args, file, engine, path, limit, only=""):
    """Runs a file's tests that have no result yet. A process that ends early is started again after its last test."""
    env = dict(os.environ, JAX_PLATFORMS="cpu", JAX_SKIP_SLOW_TESTS="1", JAX_NUM_GENERATED_CASES="5",
               JAX_ENABLE_COMPILATION_CACHE="0", JAX_NUM_CPU_DEVICES=str(args.devices))
    here = os.path.dirname(os.path.abspath(__file__))
    env["PYTHONPATH"] = os.pathsep.join([here] + ([args.packages] if args.packages else []))
    env.update({RESULTS: path, SAMPLE: str(args.sample if not only else 0), ONLY: only})
    env.pop("PJRT_NAMES_AND_LIBRARY_PATHS", None)
    env.pop("XLA_FLAGS", None)
    if args.devices > 1:
        env["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={args.devices}"
    if engine:
        env["PJRT_NAMES_AND_LIBRARY_PATHS"] = "cpu:" + engine
    command = [sys.executable, "-m", "pytest", "-q", "-p", "jaxtests", "-p", "no:cacheprovider", "--tb=short",
               "--timeout=120", f"tests/{file}_test.py"]
    end, status = time.monotonic() + limit, None
    with open(path + ".log", "a") as log:
        while time.monotonic() < end:
            before = len(read(path))
            try:
                status = subprocess.run(command, cwd=args.source, env=env, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                        timeout=end - time.monotonic()).returncode
            except subprocess.TimeoutExpired:
                results = read(path)
                last = list(results)[-1:]
                if last and results[last[0]][0] == "crashed":  # the limit ended it
                    with open(path, "w") as f:
                        f.writelines("\t".join([o, t, m]) + "\n" for t, (o, m) in results.items() if t != last[0])
                return "cut"
            if status == 0 or status in (1, 5) and read(path):
                return ""
            if len(read(path)) == before:
                return f"pytest ended with {status}, see {path}.log"
    return "cut"


def known(devices):
    """Returns [(pattern, reason)] for a number of devices."""
    rows = []
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "jaxtests.txt")) as f:
        for line in f:
            if line.strip() and line[0] != "#":
                on, pattern, reason = line.rstrip("\n").split("\t")
                if on in ("*", str(devices)):
                    rows.append((pattern, reason))
    return rows


def main():
    p = argparse.ArgumentParser()
    for name in ("engine", "source", "results"):
        p.add_argument("--" + name, required=True, type=os.path.abspath)
    p.add_argument("--packages", default="", help="a directory that holds pytest and what JAX's tests import")
    p.add_argument("--devices", type=int, default=1)
    p.add_argument("--sample", type=int, default=0, help="run this many tests of each file; 0 means all")
    p.add_argument("--files", default=",".join(FILES))
    p.add_argument("--limit", type=float, default=3600, help="seconds for each file")
    args = p.parse_args()
    os.makedirs(args.results, exist_ok=True)
    rows, bad, total, right = known(args.devices), [], 0, 0
    print(f"{'file':24}{'passed':>8}{'failed':>8}{'listed':>8}{'not in JAX':>12}{'skipped':>9}")
    for file in args.files.split(","):
        path = os.path.join(args.results, f"{file}.{args.devices}")
        note = run(args, file, args.engine, path, args.limit)
        results = read(path)
        failed = [t for t, (o, _) in results.items() if o in ("failed", "crashed")]
        if failed:
            run(args, file, "", path + ".own", args.limit, "\n".join(failed))
        own = read(path + ".own")
        count = dict.fromkeys(("failed", "listed", "other"), 0)
        for t in failed:
            reason = next((r for pattern, r in rows if fnmatch.fnmatchcase(t.rsplit("::", 1)[-1], pattern)), None)
            kind = "other" if own.get(t, ("", ""))[0] != "passed" else "listed" if reason else "failed"
            count[kind] += 1
            if kind == "failed":
                bad.append((t, *results[t]))
        passed = sum(o == "passed" for o, _ in results.values())
        skipped = sum(o == "skipped" for o, _ in results.values())
        total += passed + count["failed"] + count["listed"]
        right += passed
        print(f"{file:24}{passed:8}{count['failed']:8}{count['listed']:8}{count['other']:12}{skipped:9}  {note}", flush=True)
    for t, outcome, message in bad:
        print(f"{outcome}: {t}: {message}")
    print(f"{right} of {total} tests that JAX's own client passes pass on {args.devices} device(s)")
    return 1 if bad or not total else 0


if __name__ == "__main__":
    sys.exit(main())
