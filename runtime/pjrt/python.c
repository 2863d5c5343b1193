// JAX's Python callbacks on plugins that lack them.
//
// JAX lowers a callback to a custom call with the attribute index. At each execution it attaches the list of Python
// functions to the execution context (xla/python/ifrt, FfiLoadedHostCallbacks), but not on platforms that it does not
// know. On these platforms module hlocb.callbacks writes the call, and index is a key of its dictionary of functions. The
// functions accept and return tuples of NumPy arrays. This file uses Python's stable C API, which it finds in the process, so it fits
// every version of Python.

#define _GNU_SOURCE
#include "python.h"
#include "calls.h"
#include "_cgo_export.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Operands come as bytes, which are copies, because callbacks may keep them: XLA reuses their memory. Arrays over bytes
// are read-only, as JAX's are.
static const char helper[] =
    "import sys\n"
    "import traceback\n"
    "import numpy\n"
    "\n"
    "class DTypes(dict):\n"
    "    def __missing__(self, name):\n"
    "        try:\n"
    "            dtype = numpy.dtype(name)\n"
    "        except TypeError:\n"
    "            import ml_dtypes\n"
    "            dtype = numpy.dtype(getattr(ml_dtypes, name))\n"
    "        self[name] = dtype\n"
    "        return dtype\n"
    "\n"
    "dtypes = DTypes()\n"
    "\n"
    "def view(memory, name, shape):\n"
    "    return numpy.ndarray(shape, dtypes[name], memory)\n"
    "\n"
    "def call(function, operands, results):\n"
    "    try:\n"
    "        if isinstance(function, int):\n"
    "            function = sys.modules['hlocb.callbacks'].functions[function]\n"
    "        arguments = [operand and view(*operand) for operand in operands]\n"
    "        for result, value in zip(results, function(*arguments)):\n"
    "            if result is not None:\n"
    "                view(*result)[...] = value\n"  // JAX has checked the type; copyto costs more
    "    except BaseException as error:\n"
    "        frames = error.__traceback__ and error.__traceback__.tb_next\n"
    "        return ''.join(traceback.format_exception(type(error), error, frames))\n"
    "\n"
    // targets returns the handlers that the program registered with jaxlib, which passes them to its own client only: a
    // line with address and name for each. Plugins register a handler of the stage execute; 0 stands for one with more.
    "def targets(platform):\n"
    "    client = sys.modules.get('jaxlib.xla_client')\n"
    "    if client is None:\n"
    "        return ''\n"
    "    import ctypes\n"
    "    import os\n"
    "    api = ctypes.pythonapi\n"
    "    name = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(('PyCapsule_GetName', api))\n"
    "    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(('PyCapsule_GetPointer', api))\n"
    "    pairs = os.environ.get('PJRT_NAMES_AND_LIBRARY_PATHS', '').split(',')\n"
    "    platforms = [platform] + [pair.partition(':')[0] for pair in pairs if pair]\n"
    "    found = {}\n"
    "    for platform in platforms:\n"
    "        waiting = client._custom_callback.get(client.xla_platform_names.get(platform, platform), ())\n"
    "        for target, handler, version, *_ in list(waiting):\n"
    "            if version == 1:\n"
    "                found.setdefault(target, handler)\n"
    "    for target, handler in client.custom_call_targets(platforms[0]).items():\n"
    "        if isinstance(handler, dict):\n"  // else it has the interface before the FFI
    "            found.setdefault(target, handler)\n"
    "    lines = []\n"
    "    for target, handler in found.items():\n"
    "        if isinstance(handler, dict):\n"
    "            handler = handler['execute'] if list(handler) == ['execute'] else None\n"
    "        lines.append('%d %s' % (handler and pointer(handler, name(handler)) or 0, target))\n"
    "    return '\\n'.join(lines)\n";

typedef struct object object;  // PyObject

static struct {
  int (*is_initialized)(void);
  int (*is_finalizing)(void);  // since Python 3.13; older versions have only old_is_finalizing
  int (*old_is_finalizing)(void);
  int (*ensure)(void);
  void (*release)(int);
  object *(*compile)(const char *text, const char *file, int start);
  object *(*exec_module)(const char *name, object *code);
  object *(*attribute)(object *o, const char *name);
  object *(*tuple)(intptr_t n);
  int (*set)(object *tuple, intptr_t i, object *item);
  object *(*integer)(long long v);
  object *(*bytes)(const char *data, intptr_t size);
  object *(*memory)(char *data, intptr_t size, int flags);
  object *(*build)(const char *format, ...);
  object *(*call)(object *f, ...);
  const char *(*text)(object *o, intptr_t *size);
  void (*decref)(object *o);
  void (*incref)(object *o);
  void (*fetch)(object **type, object **value, object **traceback);
  object *(*str)(object *o);
  void (*clear_error)(void);
  object *none;
  object *helper;
  object *targets;
  const char *missing;
} py;

static void find_python(void) {
  static const struct {
    void *to;
    const char *name;
    bool optional;
  } symbols[] = {
      {&py.is_initialized, "Py_IsInitialized", false},
      {&py.is_finalizing, "Py_IsFinalizing", true},
      {&py.old_is_finalizing, "_Py_IsFinalizing", true},
      {&py.ensure, "PyGILState_Ensure", false},
      {&py.release, "PyGILState_Release", false},
      {&py.compile, "Py_CompileString", false},
      {&py.exec_module, "PyImport_ExecCodeModule", false},
      {&py.attribute, "PyObject_GetAttrString", false},
      {&py.tuple, "PyTuple_New", false},
      {&py.set, "PyTuple_SetItem", false},
      {&py.integer, "PyLong_FromLongLong", false},
      {&py.bytes, "PyBytes_FromStringAndSize", false},
      {&py.memory, "PyMemoryView_FromMemory", false},
      {&py.build, "Py_BuildValue", false},
      {&py.call, "PyObject_CallFunctionObjArgs", false},
      {&py.text, "PyUnicode_AsUTF8AndSize", false},
      {&py.decref, "Py_DecRef", false},
      {&py.incref, "Py_IncRef", false},
      {&py.fetch, "PyErr_Fetch", false},
      {&py.str, "PyObject_Str", false},
      {&py.clear_error, "PyErr_Clear", false},
      {&py.none, "_Py_NoneStruct", false},
  };
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    void *at = dlsym(RTLD_DEFAULT, symbols[i].name);
    if (!at && !symbols[i].optional) py.missing = symbols[i].name;
    memcpy(symbols[i].to, &at, sizeof at);
  }
  if (!py.is_finalizing) py.is_finalizing = py.old_is_finalizing;
}

// fail sets the message of a failed call, or leaves it NULL if there is no memory, and returns false.
static bool fail(char **message, const char *format, const char *a) {
  if (asprintf(message, format, a) < 0) *message = NULL;
  return false;
}

// dtype_name returns the name of an FFI element type in NumPy or ml_dtypes, or NULL.
static const char *dtype_name(int32_t dtype) {
  static const char *const names[] = {
      [1] = "bool",           [2] = "int8",           [3] = "int16",           [4] = "int32",
      [5] = "int64",          [6] = "uint8",          [7] = "uint16",          [8] = "uint32",
      [9] = "uint64",         [10] = "float16",       [11] = "float32",        [12] = "float64",
      [15] = "complex64",     [16] = "bfloat16",      [18] = "complex128",     [19] = "float8_e5m2",
      [20] = "float8_e4m3fn", [21] = "int4",          [22] = "uint4",          [23] = "float8_e4m3b11fnuz",
      [24] = "float8_e5m2fnuz", [25] = "float8_e4m3fnuz", [26] = "int2",       [27] = "uint2",
      [28] = "float8_e4m3",   [29] = "float8_e3m4",   [32] = "float4_e2m1fn",  [33] = "float8_e8m0fnu",
  };
  if (dtype < 0 || (size_t)dtype >= sizeof names / sizeof *names) return NULL;
  return names[dtype];
}

// list returns a tuple of the values as the helper expects them: None, or memory, dtype and shape. The memory of results
// is XLA's.
static object *list(const hl_value *values, size_t n, bool results) {
  enum { WRITE = 0x200 };  // PyBUF_WRITE
  static char nothing[1];
  object *out = py.tuple((intptr_t)n);
  for (size_t i = 0; out && i < n; i++) {
    const hl_value *v = &values[i];
    object *item = py.none;
    if (v->dtype == HL_FFI_TOKEN) {
      py.incref(item);
    } else {
      object *shape = py.tuple((intptr_t)v->rank);
      for (int64_t d = 0; shape && d < v->rank; d++) py.set(shape, (intptr_t)d, py.integer(v->dims[d]));
      char *data = v->data ? v->data : nothing;
      object *memory = results ? py.memory(data, (intptr_t)v->size, WRITE) : py.bytes(data, (intptr_t)v->size);
      item = shape && memory ? py.build("(NsN)", memory, dtype_name(v->dtype), shape) : NULL;
      if (!item) {
        py.decref(out);
        return NULL;
      }
    }
    py.set(out, (intptr_t)i, item);
  }
  return out;
}

// load compiles the helper. The caller holds Python's lock.
static bool load(void) {
  if (py.helper) return true;
  object *code = py.compile(helper, "<hlocb>", 257);  // Py_file_input
  object *module = code ? py.exec_module("_hlocb_callback", code) : NULL;
  if (code) py.decref(code);
  object *call = module ? py.attribute(module, "call") : NULL;
  object *targets = module ? py.attribute(module, "targets") : NULL;
  if (module) py.decref(module);
  if (!call || !targets) return false;
  if (!py.helper) {  // another thread may have loaded it while the import released the lock
    py.targets = targets;
    py.helper = call;
  }
  return true;
}

// fail_of_python sets the message of a failure to Python's error, and clears the error.
static bool fail_of_python(char **message, const char *failure) {
  object *type = NULL, *value = NULL, *traceback = NULL;
  py.fetch(&type, &value, &traceback);
  object *shown = value ? py.str(value) : type ? py.str(type) : NULL;
  const char *text = shown ? py.text(shown, NULL) : NULL;
  if (asprintf(message, "%s: %s", failure, text ? text : "Python gives no reason") < 0) *message = NULL;
  if (shown) py.decref(shown);
  if (type) py.decref(type);
  if (value) py.decref(value);
  if (traceback) py.decref(traceback);
  py.clear_error();  // of the conversion
  return false;
}

static bool call_locked(object *function, const hl_value *operands, size_t num_operands, const hl_value *results,
                        size_t num_results, char **message) {
  bool ok = true;
  object *ops = NULL, *rets = NULL, *answer = NULL;
  if (load() && (ops = list(operands, num_operands, false)) && (rets = list(results, num_results, true)))
    answer = py.call(py.helper, function, ops, rets, NULL);
  if (!answer) {
    ok = fail_of_python(message, "the Python callback could not be called");
  } else if (answer != py.none) {
    const char *text = py.text(answer, NULL);
    ok = fail(message, "CpuCallback error calling callback: %s", text ? text : "");
  }
  if (answer) py.decref(answer);
  if (rets) py.decref(rets);
  if (ops) py.decref(ops);
  return ok;
}

const void *hl_python_functions(const hl_ffi_frame *frame, uint64_t index) {
  if (index & HL_PYTHON_KEY) return NULL;
  // The type id that IFRT registers for the list.
  static const int64_t type = 7357244197867843242;
  ARGS(hl_ffi_context_args, a, .ctx = frame->ctx, .type = &type);
  return hl_ffi_call(frame->api, HL_FFI_CONTEXT_GET, &a) ? a.data : NULL;
}

static bool running(char **message) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_python);
  if (py.missing) return fail(message, "this process has no Python: symbol %s is missing", py.missing);
  if (!py.is_initialized() || (py.is_finalizing && py.is_finalizing())) return fail(message, "%s", "Python is shutting down");
  return true;
}

char *hl_python_targets(const char *platform, char **message) {
  *message = NULL;
  char *out = NULL, *nothing = NULL;
  if (!running(&nothing)) {
    free(nothing);  // a program in another language registers its handlers with the plugin
    return NULL;
  }
  int state = py.ensure();
  object *name = NULL, *list = NULL;
  const char *text = NULL;
  if (load() && (name = py.build("s", platform)) && (list = py.call(py.targets, name, NULL)) && (text = py.text(list, NULL)))
    out = strdup(text);
  else
    fail_of_python(message, "the custom-call targets that the program registered with jaxlib are not known");
  if (list) py.decref(list);
  if (name) py.decref(name);
  py.release(state);
  return out;
}

bool hl_python_call(const void *functions, uint64_t index, const hl_value *operands, size_t num_operands,
                    const hl_value *results, size_t num_results, char **message) {
  object **function = NULL;
  if (!(index & HL_PYTHON_KEY)) {
    const struct {
      object **functions;
      uint32_t n;
    } *attached = functions;
    if (!attached) return fail(message, "%s", "the caller attached no Python functions to this execution; only JAX does");
    if (index >= attached->n) return fail(message, "%s", "the callback's index is beyond the Python functions of this execution");
    function = &attached->functions[index];
  }
  if (!running(message)) return false;
  for (size_t i = 0; i < num_operands + num_results; i++) {
    int32_t dtype = i < num_operands ? operands[i].dtype : results[i - num_operands].dtype;
    if (dtype != HL_FFI_TOKEN && !dtype_name(dtype)) return fail(message, "%s", "a value of the callback has a type that NumPy lacks");
  }
  int state = py.ensure();
  object *key = function ? NULL : py.integer((long long)index);
  bool ok = call_locked(function ? *function : key, operands, num_operands, results, num_results, message);
  if (key) py.decref(key);
  py.release(state);
  return ok;
}

void *hl_python_handler(hl_ffi_frame *frame) {
  if (hl_metadata(frame) || frame->stage != HL_FFI_STAGE_EXECUTE) return NULL;
  return hl_returned(frame->api, hlocbPython(frame));
}
