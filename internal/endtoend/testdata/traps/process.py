"""process.py LIBRARY MODE: does what a process may do after it loads the library. The library must not change it."""
import _ctypes, ctypes, faulthandler, multiprocessing, os, signal, sys, threading, time

path, mode = sys.argv[1:]
if mode == "fault before":
    faulthandler.enable()
if mode == "settings":  # of the program's own, before it opens the plugin
    os.environ["HLOCB_TAP"] = "("
library = ctypes.CDLL(path)
library.GetPjrtApi.restype = ctypes.c_void_p
table = library.GetPjrtApi()
assert table


def child(queue):
    queue.put(sum(range(1000)))


if mode == "fork":
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        os._exit(7 if library.GetPjrtApi() == table else 8)
    print("child", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    print("result", queue.get(timeout=20))
    process.join()
    print("same table", library.GetPjrtApi() == table)
elif mode == "interrupt":
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        time.sleep(20)
        print("no interrupt")
    except KeyboardInterrupt:
        print("KeyboardInterrupt")
elif mode == "settings":
    print("same table", library.GetPjrtApi() == table)
elif mode == "pipe":
    try:
        while True:
            print("line", flush=True)
    except BrokenPipeError:
        sys.stderr.write("BrokenPipeError\n")
        os._exit(3)
elif mode == "dlclose":
    _ctypes.dlclose(library._handle)
    time.sleep(0.2)
    again = ctypes.CDLL(path)
    again.GetPjrtApi.restype = ctypes.c_void_p
    print("same table", again.GetPjrtApi() == table)
else:
    if mode == "fault after":
        faulthandler.enable()
    ctypes.string_at(8)
