// A copy of a plugin's function table with some functions wrapped.
//
// PJRT functions get no table, so macros define separate functions for each copy. They wrap the functions that create
// clients, that create and destroy programs, that execute programs, and that create contexts of executions.

#define _GNU_SOURCE
#include "interpose.h"
#include "calls.h"
#include "crash.h"
#include "_cgo_export.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLES = 4 };

typedef struct {
  const hl_api *real;
  hl_api *copy;
  bool active;
  int number;
  const char *suffix;
  char *version;  // of the platform, with the suffix
} table;

static table tables[TABLES];
static pthread_mutex_t tables_lock = PTHREAD_MUTEX_INITIALIZER;

// ---- Errors that the plugin does not know ----

enum { MESSAGE = 1 << 20 };  // the longest message that is read

typedef struct failure failure;

struct failure {
  failure *next;
  char *message;
};

static failure *failures;  // guarded by tables_lock

// new_failure returns an error with a message, which it owns.
static void *new_failure(char *message) {
  failure *f = malloc(sizeof *f);
  if (!f) abort();  // a success would be silently wrong
  pthread_mutex_lock(&tables_lock);
  *f = (failure){failures, message};
  failures = f;
  pthread_mutex_unlock(&tables_lock);
  return f;
}

// find_failure returns the failure that an error is, or NULL for an error of the plugin. remove takes it from the list.
static failure *find_failure(const void *error, bool remove) {
  pthread_mutex_lock(&tables_lock);
  failure **at = &failures;
  while (*at && *at != error) at = &(*at)->next;
  failure *found = *at;
  if (found && remove) *at = found->next;
  pthread_mutex_unlock(&tables_lock);
  return found;
}

// call calls a function of the plugin's table. If the table lacks the function, it returns a failure.
static void *call(const table *t, int fn, void *args) {
  void *error = hl_call(t->real, fn, args);
  int lacks = hl_missing(error);
  if (lacks < 0) return error;
  char *message;
  if (asprintf(&message, "the plugin has no %s", hl_function(lacks)) < 0) abort();
  return new_failure(message);
}

static void *error_destroy(table *t, hl_object_args *a) {
  failure *f = find_failure(a->object, true);
  if (!f) return call(t, HL_ERROR_DESTROY, a);
  free(f->message);
  free(f);
  return NULL;
}

static void *error_message(table *t, hl_error_message_args *a) {
  failure *f = find_failure(a->error, false);
  if (!f) return call(t, HL_ERROR_MESSAGE, a);
  a->message = f->message;
  a->message_size = strlen(f->message);
  return NULL;
}

static void *error_code(table *t, hl_error_code_args *a) {
  if (!find_failure(a->error, false)) return call(t, HL_ERROR_CODE, a);
  a->code = 13;  // internal
  return NULL;
}

// The position of a function that older headers lack. internal/engineplugin compares it with the header.
enum { HL_ERROR_PAYLOADS = 132 };

static void *error_payloads(table *t, hl_object_args *a) {
  return find_failure(a->object, false) ? NULL : call(t, HL_ERROR_PAYLOADS, a);
}

// ---- Executions ----

static void *context_destroy(table *t, hl_object_args *a) {
  return hlocbInterposeDestroy(a->object) ? call(t, HL_CONTEXT_DESTROY, a) : NULL;
}

// A run is an execution of a program that needs attention.
typedef struct run run;

typedef struct {
  run *run;
  void *event;  // to destroy here, or NULL
} device_run;

struct run {
  const table *table;
  void *context;   // kept, or NULL
  int32_t launch;  // of a program that Go knows, else 0
  _Atomic size_t left;
  device_run devices[];
};

static void finish(run *r) {
  if (--r->left) return;
  if (r->launch) hlocbInterposeEnd(r->launch);
  if (r->context && hlocbInterposeRelease(r->context))
    hl_error_free(r->table->real, hl_object(r->table->real, HL_CONTEXT_DESTROY, r->context));
  free(r);
}

static void device_ready(void *error, void *data) {
  device_run *d = data;
  const hl_api *api = d->run->table->real;
  hl_error_free(api, error);
  if (d->event) hl_error_free(api, hl_object(api, HL_EVENT_DESTROY, d->event));
  finish(d->run);
}

// await_failure waits for the devices and returns the message of a hook that failed on one of them, or NULL.
static char *await_failure(const hl_api *api, int32_t launch, void *const *events, size_t n) {
  for (size_t d = 0; d < n; d++)
    if (events[d]) hl_error_free(api, hl_object(api, HL_EVENT_AWAIT, events[d]));
  return hlocbInterposeFailure(launch);
}

// new_context returns a context of an execution, or NULL. XLA crashes if a handler reads the context of an execution that
// has none, and the handlers of callbacks look there for Python functions.
static void *new_context(const hl_api *api) {
  ARGS(hl_object_args, a, .object = NULL);
  void *error = hl_has(api, HL_CONTEXT_CREATE) && hl_has(api, HL_CONTEXT_DESTROY) ? hl_call(api, HL_CONTEXT_CREATE, &a) : NULL;
  hl_error_free(api, error);
  return error ? NULL : a.object;
}

// drop_outputs destroys the results of an execution, and forgets them: a caller may destroy what it finds after an error.
static void drop_outputs(const hl_api *api, hl_execute_args *a) {
  void *executable = NULL;
  hl_error_free(api, hl_get(api, HL_LOADED_EXECUTABLE, a->loaded, &executable));
  if (!executable) return;
  ARGS(hl_output_types_args, types, .executable = executable);
  void *error = hl_call(api, HL_EXECUTABLE_OUTPUT_TYPES, &types);
  size_t outputs = error ? 0 : types.num_types;
  hl_error_free(api, error);
  hl_error_free(api, hl_object(api, HL_EXECUTABLE_DESTROY, executable));
  for (size_t d = 0; d < a->num_devices; d++)
    for (size_t i = 0; i < outputs; i++) {
      if (a->outputs[d][i]) hl_error_free(api, hl_object(api, HL_BUFFER_DESTROY, a->outputs[d][i]));
      a->outputs[d][i] = NULL;
    }
}

static void *execute(table *t, hl_execute_args *a) {
  int64_t program = hlocbInterposeFind(a->loaded);
  hl_execute_options *options = a->options;
  enum { NEEDED = offsetof(hl_execute_options, launch_id) + sizeof(int32_t) };
  if (program < 0 || !options || options->size < NEEDED) return call(t, HL_LOADED_EXECUTE, a);
  size_t n = a->num_devices;
  run *r = calloc(1, sizeof *r + n * sizeof *r->devices);
  void **own = a->events ? NULL : calloc(n, sizeof *own);
  // Threads may share one struct of options, so the launch id is written into a copy.
  hl_execute_options *changed = malloc(options->size);
  if (!r || !changed || (!a->events && !own)) {
    free(r);
    free(own);
    free(changed);
    return call(t, HL_LOADED_EXECUTE, a);
  }
  memcpy(changed, options, options->size);
  r->table = t;
  r->left = n + 1;
  bool wait = false;
  if (program && (r->launch = hlocbInterposeBegin(program, (void ***)a->arguments, n, a->num_arguments, &wait)))
    changed->launch_id = r->launch;
  // JAX destroys the context when Execute returns, but the plugin reads it when it dispatches asynchronously.
  if (options->size >= offsetof(hl_execute_options, context) + sizeof(void *)) {
    r->context = options->context ? options->context : (changed->context = new_context(t->real));
    if (r->context) hlocbInterposeKeep(r->context);
    if (!options->context && r->context) hlocbInterposeDestroy(r->context);  // after the run
  }
  if (own) a->events = own;
  a->options = changed;
  void *error = call(t, HL_LOADED_EXECUTE, a);
  a->options = options;
  free(changed);
  char *failed = wait && !error ? await_failure(t->real, r->launch, a->events, n) : NULL;
  for (size_t d = 0; d < n; d++) {
    r->devices[d] = (device_run){.run = r, .event = own || failed ? a->events[d] : NULL};
    ARGS(hl_on_ready_args, ready, .event = error ? NULL : a->events[d], .callback = device_ready, .data = &r->devices[d]);
    void *refused = ready.event ? hl_call(t->real, HL_EVENT_ON_READY, &ready) : NULL;
    hl_error_free(t->real, refused);
    if (!ready.event || refused) finish(r);
  }
  if (own) {
    a->events = NULL;
    free(own);
  }
  finish(r);
  if (!failed) return error;
  drop_outputs(t->real, a);
  return new_failure(failed);
}

// ---- Programs ----

static bool names(const hl_program *p, const char *target) { return memmem(p->code, p->code_size, target, strlen(target)); }

// take_message returns the message of an error, which it destroys. The caller frees the message.
static char *take_message(table *t, void *error) {
  ARGS(hl_error_message_args, m, .error = error);
  error_message(t, &m);  // it returns nothing
  char *out = !m.message ? strdup("the plugin says nothing more") : strndup(m.message, m.message_size < MESSAGE ? m.message_size : MESSAGE);
  ARGS(hl_object_args, d, .object = error);
  error_destroy(t, &d);
  return out;
}

// The functions of the newest table that is known to load programs only by HL_DESERIALIZE. A later table may load them
// by a function that is not wrapped.
enum { KNOWN_FUNCTIONS = 129 };

// compile_as calls a function, which compiles *program and writes an object to *made, with a program that Go has
// changed.
static void *compile_as(table *t, int fn, void *args, const hl_program **place, const char *options,
                        size_t options_size, void **made, bool loaded) {
  const hl_program *program = *place;
  bool python = names(program, "xla_ffi_partitioned_python_") || names(program, "xla_ffi_python_");
  hl_replacement with = {0};
  if (names(program, "custom_call") || names(program, "custom-call"))
    hlocbInterposeTargets(t->number, (char *)program->code, program->code_size);
  if (t->active || python)
    hlocbInterposeCompile(t->number, (char *)program->code, program->code_size, (char *)program->format,
                          program->format_size, (char *)options, options_size, &with);
  void *error;
  if (with.code) {
    hl_program changed = {.size = sizeof changed, .code = with.code, .code_size = with.code_size,
                          .format = program->format, .format_size = program->format_size};
    *place = &changed;
    error = call(t, fn, args);
    *place = program;
    free(with.code);
    if (error) {  // compile the program as it was
      char *message = take_message(t, error);
      hlocbInterposeRefused(with.program, message);
      free(message);
      with.program = 0;
      error = call(t, fn, args);
    }
  } else {
    error = call(t, fn, args);
  }
  if (error) {
    if (with.program) hlocbInterposeDrop(with.program);
    return error;
  }
  if (with.program && loaded) hlocbInterposeLoaded(with.program, *made);
  if (with.program && !loaded && hl_has(t->real, KNOWN_FUNCTIONS)) hlocbInterposeUnseen(with.program);
  if (with.program || python) hlocbInterposeSet(*made, with.program);
  return NULL;
}

static void *compile(table *t, hl_compile_args *a) {
  return compile_as(t, HL_CLIENT_COMPILE, a, &a->program, a->options, a->options_size, &a->loaded, true);
}

static void *compile_only(table *t, hl_compile_only_args *a) {
  return compile_as(t, HL_COMPILE, a, &a->program, a->options, a->options_size, &a->executable, false);
}

static void *get_executable(table *t, hl_get_args *a) {
  void *error = call(t, HL_LOADED_EXECUTABLE, a);
  int64_t program = error ? 0 : hlocbInterposeFind(a->object);
  if (program > 0) {
    hlocbInterposeHold(program);
    hlocbInterposeSet(a->other, program);
  }
  return error;
}

static void *destroy_program(table *t, int fn, hl_object_args *a) {
  int64_t program = hlocbInterposeForget(a->object);
  void *error = call(t, fn, a);
  if (program) hlocbInterposeDrop(program);
  return error;
}

static void *destroy_loaded(table *t, hl_object_args *a) { return destroy_program(t, HL_LOADED_DESTROY, a); }
static void *destroy_executable(table *t, hl_object_args *a) { return destroy_program(t, HL_EXECUTABLE_DESTROY, a); }

// ---- Serialized programs: the plugin's bytes, Go's data, its size, and a mark ----

static const char mark[8] = "hlocb\0\1\n";

typedef struct {
  void *backing;
  void (*release)(void *backing);
  char *bytes;
} saved;

static void release_saved(void *p) {
  saved *s = p;
  if (s->release) s->release(s->backing);
  free(s->bytes);
  free(s);
}

static void *serialize(table *t, hl_serialize_args *a) {
  void *error = call(t, HL_EXECUTABLE_SERIALIZE, a);
  int64_t program = error ? 0 : hlocbInterposeFind((void *)a->executable);
  if (program <= 0 || !a->bytes) return error;
  uint64_t n = 0;
  char *more = hlocbInterposeSave(program, &n);
  size_t size = a->num_bytes + n + sizeof n + sizeof mark;
  saved *s = malloc(sizeof *s);
  char *bytes = malloc(size);
  if (!more || !s || !bytes) abort();  // an executable without its hooks would be silently wrong
  *s = (saved){a->backing, a->release, bytes};
  memcpy(bytes, a->bytes, a->num_bytes);
  bytes += a->num_bytes;
  memcpy(bytes, more, n);
  memcpy(bytes + n, &n, sizeof n);
  memcpy(bytes + n + sizeof n, mark, sizeof mark);
  free(more);
  a->bytes = s->bytes;
  a->num_bytes = size;
  a->backing = s;
  a->release = release_saved;
  return NULL;
}

static void *deserialize(table *t, hl_deserialize_args *a) {
  size_t whole = a->num_bytes, tail = sizeof mark + sizeof(uint64_t);
  uint64_t n;
  if (whole < tail || memcmp(a->bytes + whole - sizeof mark, mark, sizeof mark))
    return call(t, HL_DESERIALIZE, a);
  memcpy(&n, a->bytes + whole - tail, sizeof n);
  if (n > whole - tail) return call(t, HL_DESERIALIZE, a);
  a->num_bytes = whole - tail - n;
  void *error = call(t, HL_DESERIALIZE, a);
  a->num_bytes = whole;
  if (error) return error;
  int64_t program = hlocbInterposeLoad(t->number, (char *)a->bytes + whole - tail - n, n, a->loaded);
  if (program) hlocbInterposeSet(a->loaded, program);
  return NULL;
}

// ---- Clients ----

static void *client_create(table *t, hl_client_create_args *a) {
  void *error = call(t, HL_CLIENT_CREATE, a);
  if (!error) hlocbInterposeClient(t->number, a->client);
  return error;
}

static void *client_destroy(table *t, hl_object_args *a) {
  hlocbInterposeClientEnd(t->number);
  return call(t, HL_CLIENT_DESTROY, a);
}

static void *platform_version(table *t, hl_text_args *a) {
  void *error = call(t, HL_CLIENT_PLATFORM_VERSION, a);
  if (error || !t->suffix[0] || !a->text) return error;
  pthread_mutex_lock(&tables_lock);
  if (!t->version && asprintf(&t->version, "%.*s%s", (int)a->text_size, a->text, t->suffix) < 0) abort();
  pthread_mutex_unlock(&tables_lock);
  a->text = t->version;
  a->text_size = strlen(t->version);
  return NULL;
}

// ---- Tables ----

// WRAPPED lists the wrapped functions of a copy: position, function, type of its arguments.
#define WRAPPED(X, k)                                                    \
  X(k, HL_ERROR_DESTROY, error_destroy, hl_object_args)                  \
  X(k, HL_ERROR_MESSAGE, error_message, hl_error_message_args)           \
  X(k, HL_ERROR_CODE, error_code, hl_error_code_args)                    \
  X(k, HL_ERROR_PAYLOADS, error_payloads, hl_object_args)                \
  X(k, HL_CLIENT_CREATE, client_create, hl_client_create_args)           \
  X(k, HL_CLIENT_DESTROY, client_destroy, hl_object_args)                \
  X(k, HL_CLIENT_COMPILE, compile, hl_compile_args)                      \
  X(k, HL_COMPILE, compile_only, hl_compile_only_args)                   \
  X(k, HL_CLIENT_PLATFORM_VERSION, platform_version, hl_text_args)       \
  X(k, HL_LOADED_EXECUTE, execute, hl_execute_args)                      \
  X(k, HL_LOADED_EXECUTABLE, get_executable, hl_get_args)                \
  X(k, HL_LOADED_DESTROY, destroy_loaded, hl_object_args)                \
  X(k, HL_EXECUTABLE_DESTROY, destroy_executable, hl_object_args)        \
  X(k, HL_EXECUTABLE_SERIALIZE, serialize, hl_serialize_args)            \
  X(k, HL_DESERIALIZE, deserialize, hl_deserialize_args)                 \
  X(k, HL_CONTEXT_DESTROY, context_destroy, hl_object_args)

#define DEFINE(k, fn, name, type) \
  static void *name##_##k(void *args) { return name(&tables[k], (type *)args); }
WRAPPED(DEFINE, 0)
WRAPPED(DEFINE, 1)
WRAPPED(DEFINE, 2)
WRAPPED(DEFINE, 3)

typedef struct {
  int fn;
  hl_pjrt_fn wrapper;
} wrapped;

#define ROW(k, fn, name, type) {fn, name##_##k},
static const wrapped wrappers[TABLES][17] = {{WRAPPED(ROW, 0)}, {WRAPPED(ROW, 1)}, {WRAPPED(ROW, 2)}, {WRAPPED(ROW, 3)}};

const hl_api *hl_interpose(const hl_api *real, bool active, const char *suffix, int *number) {
  const hl_api *out = NULL;
  pthread_mutex_lock(&tables_lock);
  for (int k = 0; k < TABLES && !out; k++) {
    table *t = &tables[k];
    if (t->real && t->real != real) continue;
    *number = k;
    if (!t->real) {
      hl_api *copy = malloc(real->size);
      char *own = strdup(suffix);
      if (!copy || !own) {
        free(copy);
        free(own);
        break;
      }
      memcpy(copy, real, real->size);
      for (const wrapped *w = wrappers[k]; w->wrapper; w++)
        if (hl_has(real, w->fn)) copy->fn[w->fn] = w->wrapper;
      *t = (table){.real = real, .copy = copy, .active = active, .number = k, .suffix = own};
    }
    out = t->copy;
  }
  pthread_mutex_unlock(&tables_lock);
  return out;
}

bool hl_interposed(const hl_api *api) {
  for (int k = 0; k < TABLES; k++)
    if (tables[k].copy == api) return true;
  return false;
}
