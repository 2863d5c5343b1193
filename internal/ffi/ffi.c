// hlocb's side of the XLA FFI: the function table and the call frame of a handler in a shared library.

#include "ffi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *hl_ffi_open(const char *path, char **error) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library) return library;
  const char *why = dlerror();
  *error = strdup(why ? why : "unknown loader error");
  return NULL;
}

void hl_ffi_close(void *library) { dlclose(library); }

void *hl_ffi_symbol(void *library, const char *name, char **error) {
  dlerror();
  void *symbol = dlsym(library, name);
  if (symbol) return symbol;
  const char *why = dlerror();
  *error = strdup(why ? why : "the symbol is null");
  return NULL;
}

// ---- errors ----

typedef struct {
  int32_t code;
  char *message;
} foreign_error;

enum { NOT_FOUND = 5, RESOURCE_EXHAUSTED = 8, UNIMPLEMENTED = 12 };

// no_memory is the error for a failed allocation. It is never written and never freed.
static char no_memory_message[] = "out of memory";
static foreign_error no_memory = {RESOURCE_EXHAUSTED, no_memory_message};

static foreign_error *new_error(int32_t code, const char *message) {
  foreign_error *e = malloc(sizeof *e);
  if (!e) return &no_memory;
  e->code = code;
  e->message = strdup(message ? message : "");
  if (e->message) return e;
  free(e);
  return &no_memory;
}

static void free_error(foreign_error *e) {
  if (!e || e == &no_memory) return;
  free(e->message);
  free(e);
}

static void *error_create(void *args) {
  hl_ffi_error_args *a = args;
  return new_error(a->code, a->message);
}

// error_details_args is hl_ffi_error_message_args since XLA FFI 0.5.
typedef struct {
  hl_ffi_error_message_args base;
  int32_t code;  // out
} error_details_args;

static void *error_message(void *args) {
  hl_ffi_error_message_args *a = args;
  a->message = ((foreign_error *)a->error)->message;
  if (a->size >= offsetof(error_details_args, code) + sizeof(int32_t)) ((error_details_args *)args)->code = ((foreign_error *)a->error)->code;
  return NULL;
}

static void *error_destroy(void *args) {
  free_error(((hl_ffi_error_destroy_args *)args)->error);
  return NULL;
}

// ---- futures ----

// A future has two owners: the handler until it completes the future, and the call that waits for the future.
typedef struct {
  pthread_mutex_t mutex;
  pthread_cond_t done_changed;
  atomic_int owners;
  bool done;
  foreign_error *error;
} foreign_future;

static void drop_future(foreign_future *f) {
  if (atomic_fetch_sub(&f->owners, 1) != 1) return;
  pthread_cond_destroy(&f->done_changed);
  pthread_mutex_destroy(&f->mutex);
  free_error(f->error);
  free(f);
}

static void *future_create(void *args) {
  ((hl_ffi_future_args *)args)->future = NULL;
  foreign_future *f = calloc(1, sizeof *f);
  if (!f) return &no_memory;
  pthread_mutex_init(&f->mutex, NULL);
  pthread_cond_init(&f->done_changed, NULL);
  atomic_init(&f->owners, 2);
  ((hl_ffi_future_args *)args)->future = f;
  return NULL;
}

static void complete(foreign_future *f, foreign_error *error) {
  pthread_mutex_lock(&f->mutex);
  f->done = true;
  f->error = error;
  pthread_cond_broadcast(&f->done_changed);
  pthread_mutex_unlock(&f->mutex);
  drop_future(f);
}

static void *future_set_available(void *args) {
  complete(((hl_ffi_future_args *)args)->future, NULL);
  return NULL;
}

static void *future_set_error(void *args) {
  hl_ffi_future_error_args *a = args;
  complete(a->future, a->error);
  return NULL;
}

static foreign_error *await_future(foreign_future *f) {
  pthread_mutex_lock(&f->mutex);
  while (!f->done) pthread_cond_wait(&f->done_changed, &f->mutex);
  foreign_error *error = f->error;
  f->error = NULL;
  pthread_mutex_unlock(&f->mutex);
  drop_future(f);
  return error;
}

// ---- the handler's context ----

static void *allocate(void *args) {
  hl_ffi_allocate_args *a = args;
  size_t alignment = a->alignment < sizeof(void *) ? sizeof(void *) : a->alignment;
  a->data = NULL;
  if (a->bytes && posix_memalign(&a->data, alignment, a->bytes)) return &no_memory;
  return NULL;
}

static void *release(void *args) {
  free(((hl_ffi_free_args *)args)->data);
  return NULL;
}

typedef struct task {
  hl_ffi_schedule_args call;
  struct task *next;
} task;

// TASK_THREADS limits the threads that run tasks. A thread ends when no task is left.
enum { TASK_THREADS = 64 };

static struct {
  pthread_mutex_t mutex;
  task *first, **last;
  int threads;
} tasks = {.mutex = PTHREAD_MUTEX_INITIALIZER, .last = &tasks.first};

static void *run_tasks(void *unused) {
  (void)unused;
  for (;;) {
    pthread_mutex_lock(&tasks.mutex);
    task *t = tasks.first;
    if (!t) {
      tasks.threads--;
      pthread_mutex_unlock(&tasks.mutex);
      return NULL;
    }
    tasks.first = t->next;
    if (!t->next) tasks.last = &tasks.first;
    pthread_mutex_unlock(&tasks.mutex);
    t->call.task(t->call.data);
    free(t);
  }
}

// schedule runs a task on another thread. Each task has a thread of its own up to the limit, because one task may wait
// for another; XLA's pool has a limit, too.
static void *schedule(void *args) {
  task *t = malloc(sizeof *t);
  if (!t) return &no_memory;
  *t = (task){.call = *(hl_ffi_schedule_args *)args};
  bool started = true;
  pthread_mutex_lock(&tasks.mutex);
  if (tasks.threads < TASK_THREADS) {
    pthread_t thread;
    started = !pthread_create(&thread, NULL, run_tasks, NULL);
    if (started) {
      pthread_detach(thread);
      tasks.threads++;
    }
  }
  bool queued = started || tasks.threads > 0;
  if (queued) {
    *tasks.last = t;
    tasks.last = &t->next;
  }
  pthread_mutex_unlock(&tasks.mutex);
  if (queued) return NULL;
  free(t);
  return new_error(RESOURCE_EXHAUSTED, "cannot start a thread");
}

static void *num_threads(void *args) {
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  *((hl_ffi_num_threads_args *)args)->num_threads = n < 1 ? 1 : n < TASK_THREADS ? n : TASK_THREADS;
  return NULL;
}

static void *get_run_id(void *args) {
  hl_ffi_run_id_args *a = args;
  a->run_id = ((hl_ffi_handler_context *)a->ctx)->run_id;
  return NULL;
}

static void *get_ordinal(void *args) {
  hl_ffi_ordinal_args *a = args;
  a->ordinal = ((hl_ffi_handler_context *)a->ctx)->ordinal;
  return NULL;
}

static void *no_registration(void *args) {
  return new_error(UNIMPLEMENTED, "hlocb calls one handler by its symbol; handlers and types cannot be registered");
}

static void *no_stream(void *args) { return new_error(UNIMPLEMENTED, "the host has no stream"); }

static void *no_state(void *args) { return new_error(UNIMPLEMENTED, "hlocb has no state for handlers"); }

static void *get_user_data(void *args) {
  hl_ffi_context_args *a = args;
  hl_ffi_handler_context *c = a->ctx;
  if (!c->user_data) return new_error(UNIMPLEMENTED, "hlocb has no user data for handlers");
  a->data = ((void *(*)(void *, int64_t))c->user_data)(c->of, *a->type);
  return a->data ? NULL : new_error(NOT_FOUND, "the execution has no user data of this type");
}

// A handler may be built for a newer FFI of the same major version, which only adds functions.
static void *lacking(void *args) {
  (void)args;
  return new_error(UNIMPLEMENTED, "the handler calls a function that hlocb's version of the XLA FFI lacks");
}

enum { ENTRIES = 64 };  // more than any FFI has

static const struct {
  HL_HEAD;
  hl_version version;
  const void *internal;
  hl_ffi_fn fn[ENTRIES];
} own_api = {
    .size = sizeof own_api,
    .version = {.size = sizeof(hl_version), .major = HL_FFI_MAJOR, .minor = HL_FFI_MINOR},
    .fn =
        {
            [HL_FFI_ERROR_CREATE] = error_create,
            [HL_FFI_ERROR_MESSAGE] = error_message,
            [HL_FFI_ERROR_DESTROY] = error_destroy,
            [HL_FFI_HANDLER_REGISTER] = no_registration,
            [HL_FFI_STREAM_GET] = no_stream,
            [HL_FFI_TYPE_REGISTER] = no_registration,
            [HL_FFI_CONTEXT_GET] = get_user_data,
            [HL_FFI_STATE_SET] = no_state,
            [HL_FFI_STATE_GET] = no_state,
            [HL_FFI_ALLOCATE] = allocate,
            [HL_FFI_FREE] = release,
            [HL_FFI_SCHEDULE] = schedule,
            [HL_FFI_NUM_THREADS] = num_threads,
            [HL_FFI_FUTURE_CREATE] = future_create,
            [HL_FFI_FUTURE_SET_AVAILABLE] = future_set_available,
            [HL_FFI_FUTURE_SET_ERROR] = future_set_error,
            [HL_FFI_RUN_ID] = get_run_id,
            [HL_FFI_DEVICE_ORDINAL] = get_ordinal,
            [HL_FFI_FUNCTIONS... ENTRIES - 1] = lacking,
        },
};

// ---- calls ----

// XLA does not count the future in a frame's size, and handlers compare the size for equality.
enum { FRAME_SIZE = offsetof(hl_ffi_frame, future) };

typedef void *(*foreign_handler)(hl_ffi_frame *frame);

// take_message frees the error and returns its code and a copy of its message, which the caller frees.
static char *take_message(foreign_error *e, int32_t *code) {
  if (!e) return NULL;
  *code = e->code;
  char *message = strdup(e->message);
  free_error(e);
  return message;
}

char *hl_ffi_handler_version(void *handler, int32_t *major, int32_t *minor) {
  hl_ffi_metadata metadata = {.size = sizeof metadata, .version = {.size = sizeof(hl_version), .major = -1, .minor = -1}};
  hl_ffi_metadata_ext ext = {.base = {.size = sizeof ext, .type = HL_FFI_EXT_METADATA}, .metadata = &metadata};
  hl_ffi_frame frame = {.size = FRAME_SIZE, .ext = &ext.base, .api = (const hl_ffi_api *)&own_api, .stage = HL_FFI_STAGE_EXECUTE};
  frame.operands.size = frame.results.size = sizeof(hl_ffi_list);
  frame.attrs.size = sizeof(hl_ffi_attrs);
  int32_t code = 0;
  char *message = take_message(((foreign_handler)handler)(&frame), &code);
  *major = metadata.version.major;
  *minor = metadata.version.minor;
  return message;
}

char *hl_ffi_handler_call(void *handler, hl_ffi_buffer *buffers, int64_t operands, int64_t results, const hl_ffi_attrs *attrs,
                      hl_ffi_handler_context context, int32_t *code) {
  *code = 0;
  size_t n = (size_t)(operands + results);
  hl_ffi_buffer **items = calloc(n + 1, sizeof *items);
  int32_t *kinds = calloc(n + 1, sizeof *kinds);
  if (!items || !kinds) {
    free(items);
    free(kinds);
    return take_message(&no_memory, code);
  }
  for (size_t i = 0; i < n; i++) {
    items[i] = &buffers[i];
    kinds[i] = HL_FFI_BUFFER;
  }
  hl_ffi_frame frame = {
      .size = FRAME_SIZE,
      .api = (const hl_ffi_api *)&own_api,
      .ctx = &context,
      .stage = HL_FFI_STAGE_EXECUTE,
      .operands = {.size = sizeof(hl_ffi_list), .n = operands, .kinds = kinds, .items = items},
      .results = {.size = sizeof(hl_ffi_list), .n = results, .kinds = kinds + operands, .items = items + operands},
      .attrs = *attrs,
  };
  foreign_error *error = ((foreign_handler)handler)(&frame);
  if (!error && frame.future) error = await_future(frame.future);
  free(items);
  free(kinds);
  return take_message(error, code);
}
