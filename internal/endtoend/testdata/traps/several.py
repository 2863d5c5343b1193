"""several.py PROGRAM...: runs programs of JAX with four devices in one process, because starting JAX takes long."""
import os, runpy, sys

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
for program in sys.argv[1:]:
    print("==", os.path.basename(program), flush=True)
    runpy.run_path(program, run_name="__main__")
