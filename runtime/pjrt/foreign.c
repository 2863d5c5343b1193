// Our own side of the XLA FFI: the table of functions that a handler in a shared library calls, and the frame that it is
// called with.

#include "foreign.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *hl_symbol(void *library, const char *name, char **error) {
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

static foreign_error *new_error(int32_t code, const char *message) {
  foreign_error *e = malloc(sizeof *e);
  e->code = code;
  e->message = strdup(message ? message : "");
  return e;
}

static void free_error(foreign_error *e) {
  if (!e) return;
  free(e->message);
  free(e);
}

// An error is told by its first two arguments' layout alone: every struct of arguments begins with size and extensions.
typedef struct {
  HL_HEAD;
  foreign_error *error;
  const char *message;  // out
} error_args;

static void *error_create(void *args) {
  hl_ffi_error_args *a = args;
  return new_error(a->code, a->message);
}

static void *error_message(void *args) {
  error_args *a = args;
  a->message = a->error->message;
  return NULL;
}

static void *error_destroy(void *args) {
  free_error(((error_args *)args)->error);
  return NULL;
}

// ---- futures ----

// A future is owned by the handler, until it completes it, and by the call that waits for it.
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
  foreign_future *f = calloc(1, sizeof *f);
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

// ---- what a handler asks of its context ----

typedef struct {
  int64_t run_id;
  int32_t ordinal;
} foreign_context;

typedef struct {
  HL_HEAD;
  foreign_context *ctx;
  size_t bytes, alignment;
  void *data;  // out
} allocate_args;

typedef struct {
  HL_HEAD;
  foreign_context *ctx;
  size_t bytes;
  void *data;
} free_args;

typedef struct {
  HL_HEAD;
  foreign_context *ctx;
  void (*task)(void *data);
  void *data;
} schedule_args;

typedef struct {
  HL_HEAD;
  foreign_context *ctx;
  int64_t *num_threads;  // out
} num_threads_args;

static void *allocate(void *args) {
  allocate_args *a = args;
  size_t alignment = a->alignment < sizeof(void *) ? sizeof(void *) : a->alignment;
  a->data = NULL;
  if (a->bytes && posix_memalign(&a->data, alignment, a->bytes)) return new_error(8, "out of memory");
  return NULL;
}

static void *release(void *args) {
  free(((free_args *)args)->data);
  return NULL;
}

static void *run_task(void *args) {
  schedule_args a = *(schedule_args *)args;
  free(args);
  a.task(a.data);
  return NULL;
}

// A task gets a thread of its own: handlers may wait for one task in another.
static void *schedule(void *args) {
  schedule_args *a = malloc(sizeof *a);
  *a = *(schedule_args *)args;
  pthread_t thread;
  if (pthread_create(&thread, NULL, run_task, a)) {
    free(a);
    return new_error(8, "cannot start a thread");
  }
  pthread_detach(thread);
  return NULL;
}

static void *num_threads(void *args) {
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  *((num_threads_args *)args)->num_threads = n > 0 ? n : 1;
  return NULL;
}

static void *get_run_id(void *args) {
  hl_ffi_run_id_args *a = args;
  a->run_id = ((foreign_context *)a->ctx)->run_id;
  return NULL;
}

static void *get_ordinal(void *args) {
  hl_ffi_ordinal_args *a = args;
  a->ordinal = ((foreign_context *)a->ctx)->ordinal;
  return NULL;
}

static void *no_registration(void *args) {
  return new_error(12, "hlocb calls one handler, by its symbol: it takes no registration of handlers or types");
}

static void *no_stream(void *args) { return new_error(12, "the host has no stream"); }

static void *no_user_data(void *args) { return new_error(12, "hlocb has no user data and no state for handlers"); }

enum { FFI_FUNCTIONS = 18 };

static const struct {
  HL_HEAD;
  hl_version version;
  const void *internal;
  hl_ffi_fn fn[FFI_FUNCTIONS];
} own_api = {
    .size = sizeof own_api,
    .version = {.size = sizeof(hl_version), .major = HL_FFI_MAJOR, .minor = HL_FFI_MINOR},
    .fn = {error_create, error_message, error_destroy, no_registration, no_stream, no_registration, no_user_data, no_user_data,
           no_user_data, allocate, release, schedule, num_threads, future_create, future_set_available, future_set_error,
           get_run_id, get_ordinal},
};

// ---- calls ----

// XLA counts a frame's size without the future, and handlers compare it for equality.
enum { FRAME_SIZE = offsetof(hl_ffi_frame, future) };

typedef void *(*foreign_handler)(hl_ffi_frame *frame);

static char *take_message(foreign_error *e, int32_t *code) {
  if (!e) return NULL;
  char *message = e->message;
  *code = e->code;
  e->message = NULL;
  free_error(e);
  return message;
}

char *hl_foreign_version(void *handler, int32_t *major, int32_t *minor) {
  hl_ffi_metadata metadata = {.size = sizeof metadata, .version = {.size = sizeof(hl_version), .major = -1, .minor = -1}};
  hl_ffi_metadata_ext ext = {.base = {.size = sizeof ext, .type = HL_FFI_EXT_METADATA}, .metadata = &metadata};
  hl_ffi_frame frame = {.size = FRAME_SIZE, .ext = &ext.base, .api = (const hl_ffi_api *)&own_api, .stage = HL_FFI_STAGE_EXECUTE};
  frame.operands.size = frame.results.size = sizeof(hl_ffi_list);
  frame.attrs.size = sizeof(hl_ffi_attrs);
  int32_t code;
  char *message = take_message(((foreign_handler)handler)(&frame), &code);
  *major = metadata.version.major;
  *minor = metadata.version.minor;
  return message;
}

char *hl_foreign_call(void *handler, hl_ffi_buffer *buffers, int64_t operands, int64_t results, const hl_ffi_attrs *attrs,
                      int64_t run_id, int32_t ordinal, int32_t *code) {
  int64_t n = operands + results;
  hl_ffi_buffer *items[n + 1];
  int32_t kinds[n + 1];
  for (int64_t i = 0; i < n; i++) {
    items[i] = &buffers[i];
    kinds[i] = 1;
  }
  foreign_context ctx = {run_id, ordinal};
  hl_ffi_frame frame = {
      .size = FRAME_SIZE,
      .api = (const hl_ffi_api *)&own_api,
      .ctx = &ctx,
      .stage = HL_FFI_STAGE_EXECUTE,
      .operands = {.size = sizeof(hl_ffi_list), .n = operands, .kinds = kinds, .items = items},
      .results = {.size = sizeof(hl_ffi_list), .n = results, .kinds = kinds + operands, .items = items + operands},
      .attrs = *attrs,
  };
  foreign_error *error = ((foreign_handler)handler)(&frame);
  if (!error && frame.future) error = await_future(frame.future);
  return take_message(error, code);
}
