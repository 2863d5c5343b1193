// A stand-in for Python: the functions of its C API that hlocb calls. A call of a function describes its arguments in an
// error and writes to its results. FAKE_TARGETS holds the targets of the platform "cpu".
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct object object;
struct object {
  enum { OTHER, TUPLE, NUMBER, MEMORY, TEXT } kind;
  long long n;
  object **items;
  char *text;
};

object _Py_NoneStruct;
static object code, module, call, targets;

static object *made(int kind, long long n, char *text) {
  object *o = calloc(1, sizeof *o);
  *o = (object){.kind = kind, .n = n, .text = text};
  return o;
}

int Py_IsInitialized(void) { return 1; }
int Py_IsFinalizing(void) { return 0; }
int PyGILState_Ensure(void) { return 0; }
void PyGILState_Release(int state) { (void)state; }
object *Py_CompileString(const char *text, const char *file, int start) { return text && file && start ? &code : NULL; }
object *PyImport_ExecCodeModule(const char *name, object *c) { return name && c == &code ? &module : NULL; }
object *PyObject_GetAttrString(object *o, const char *name) { return o != &module ? NULL : strcmp(name, "call") ? &targets : &call; }
object *PyTuple_New(intptr_t n) {
  object *o = made(TUPLE, n, NULL);
  o->items = calloc(n + 1, sizeof *o->items);
  return o;
}
int PyTuple_SetItem(object *tuple, intptr_t i, object *item) {
  tuple->items[i] = item;
  return 0;
}
object *PyLong_FromLongLong(long long v) { return made(NUMBER, v, NULL); }
object *PyBytes_FromStringAndSize(const char *data, intptr_t size) { return made(MEMORY, size, memcpy(malloc(size + 1), data, size)); }
object *PyMemoryView_FromMemory(char *data, intptr_t size, int flags) { return made(flags, size, data)->n >= 0 ? made(MEMORY, size, data) : NULL; }
object *Py_BuildValue(const char *format, ...) {
  va_list list;
  va_start(list, format);
  object *o = NULL;
  if (!strcmp(format, "s")) o = made(TEXT, 0, strdup(va_arg(list, char *)));
  if (!strcmp(format, "(NsN)")) {
    o = PyTuple_New(3);
    o->items[0] = va_arg(list, object *);
    o->items[1] = made(TEXT, 0, strdup(va_arg(list, char *)));
    o->items[2] = va_arg(list, object *);
  }
  va_end(list);
  return o;
}
static int describe(char *out, const object *tuple) {
  int n = 0;
  for (int i = 0; i < tuple->n; i++) {
    const object *o = tuple->items[i];
    if (o == &_Py_NoneStruct) {
      n += sprintf(out + n, " none");
      continue;
    }
    n += sprintf(out + n, " %s[", o->items[1]->text);
    for (int d = 0; d < o->items[2]->n; d++) n += sprintf(out + n, d ? " %lld" : "%lld", o->items[2]->items[d]->n);
    n += sprintf(out + n, "]");
    for (int k = 0; k < o->items[0]->n; k++) n += sprintf(out + n, "%02x", (unsigned char)o->items[0]->text[k]);
  }
  return n;
}
object *PyObject_CallFunctionObjArgs(object *f, ...) {
  va_list list;
  va_start(list, f);
  object *a = va_arg(list, object *), *answer = NULL;
  if (f == &targets) {
    if (!strcmp(a->text, "cpu")) answer = made(TEXT, 0, strdup(getenv("FAKE_TARGETS")));
    if (!strcmp(a->text, "odd")) answer = made(TEXT, 0, strdup("number name"));
  } else if (f == &call) {
    object *operands = va_arg(list, object *), *results = va_arg(list, object *);
    char text[1000];
    int n = sprintf(text, "%llx", a->n);
    n += describe(text + n, operands);
    n += sprintf(text + n, " ->");
    describe(text + n, results);
    for (int i = 0; i < results->n; i++)
      if (results->items[i] != &_Py_NoneStruct) memset(results->items[i]->items[0]->text, 7, results->items[i]->items[0]->n);
    answer = operands->n ? made(TEXT, 0, strdup(text)) : &_Py_NoneStruct;
  }
  va_end(list);
  return answer;
}
const char *PyUnicode_AsUTF8AndSize(object *o, intptr_t *size) {
  (void)size;
  return o->text;
}
void Py_DecRef(object *o) { (void)o; }
void Py_IncRef(object *o) { (void)o; }
void PyErr_Fetch(object **type, object **value, object **traceback) {
  *type = *traceback = NULL;
  *value = made(TEXT, 0, "told to fail");
}
object *PyObject_Str(object *o) { return o; }
void PyErr_Clear(void) {}
