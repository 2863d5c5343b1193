// Handlers that the tests load from a shared library.

#include "../../../examples/plugin/clip/ffi.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int metadata(CallFrame *frame, int minor) {
  if (!frame->extensions || frame->extensions->type != 1) return 0;
  ((MetadataExtension *)frame->extensions)->metadata->version.major = 0;
  ((MetadataExtension *)frame->extensions)->metadata->version.minor = minor;
  return 1;
}

static void *fail(CallFrame *frame, int code, const char *message) {
  ErrorCreateArgs args = {sizeof args, NULL, message, code};
  return frame->api->error_create(&args);
}

static size_t bytes_of(const Buffer *b) {
  static const int width[] = {[1] = 1, [2] = 1, [3] = 2, [4] = 4, [5] = 8, [6] = 1, [7] = 2, [8] = 4, [9] = 8, [10] = 2, [11] = 4,
                              [12] = 8, [15] = 8, [16] = 2, [18] = 16, [19] = 1, [20] = 1, [23] = 1, [24] = 1, [25] = 1, [28] = 1, [29] = 1, [33] = 1};
  size_t n = 1;
  for (int64_t i = 0; i < b->rank; i++) n *= b->dims[i];
  if (b->dtype == 21 || b->dtype == 22 || b->dtype == 32) return (n + 1) / 2;
  if (b->dtype == 26 || b->dtype == 27) return (n + 3) / 4;
  return n * width[b->dtype];
}

// hlocb_handler returns the operands' bytes with the lowest bit of each byte flipped.
void *hlocb_handler(CallFrame *frame) {
  if (metadata(frame, 1)) return NULL;
  if (frame->stage != 3) return fail(frame, 13, "not the stage of execution");
  if (frame->operands.n != frame->results.n) return fail(frame, 3, "as many results as operands are needed");
  for (int64_t i = 0; i < frame->operands.n; i++) {
    const Buffer *x = frame->operands.items[i], *y = frame->results.items[i];
    if (x->dtype != y->dtype || x->rank != y->rank || memcmp(x->dims, y->dims, x->rank * 8)) return fail(frame, 3, "types differ");
    unsigned char mask = x->dtype == 21 || x->dtype == 22 || x->dtype == 32 ? 0x11 : x->dtype == 26 || x->dtype == 27 ? 0x55 : 1;
    for (size_t k = 0; k < bytes_of(x); k++) ((unsigned char *)y->data)[k] = ((unsigned char *)x->data)[k] ^ mask;
  }
  return NULL;
}

static size_t describe(char *out, size_t room, const Attributes *a) {
  size_t n = 0;
  for (int64_t i = 0; i < a->n; i++) {
    n += snprintf(out + n, room - n, "%.*s=", (int)a->names[i]->len, a->names[i]->ptr);
    if (a->kinds[i] == 3) {
      const Scalar *s = a->items[i];
      long long v = 0;
      memcpy(&v, s->value, s->dtype == 1 ? 1 : s->dtype == 4 || s->dtype == 11 ? 4 : 8);
      n += snprintf(out + n, room - n, "%d:%llx ", s->dtype, v);
    } else if (a->kinds[i] == 4) {
      const Text *t = a->items[i];
      n += snprintf(out + n, room - n, "'%.*s' ", (int)t->len, t->ptr);
    } else if (a->kinds[i] == 1) {
      const struct { int32_t dtype; size_t n; void *data; } *s = a->items[i];
      n += snprintf(out + n, room - n, "%d[%zu]", s->dtype, s->n);
      for (size_t k = 0; k < s->n && s->dtype == 5; k++) n += snprintf(out + n, room - n, ",%lld", ((long long *)s->data)[k]);
      n += snprintf(out + n, room - n, " ");
    } else {
      n += snprintf(out + n, room - n, "{");
      n += describe(out + n, room - n, a->items[i]);
      n += snprintf(out + n, room - n, "} ");
    }
  }
  return n;
}

// attributes fails with a list of its attributes.
void *attributes(CallFrame *frame) {
  if (metadata(frame, 3)) return NULL;
  char text[1000] = "";
  describe(text, sizeof text, &frame->attributes);
  return fail(frame, 9, text);
}

void *does_nothing(CallFrame *frame) {
  metadata(frame, 1);
  return NULL;
}

// from_the_future calls the last function of a table with 64 functions. No FFI has as many.
void *from_the_future(CallFrame *frame) {
  if (metadata(frame, 99)) return NULL;
  return ((void *(**)(void *))((char *)frame->api + offsetof(Api, error_create)))[63](NULL);
}

void *tells_no_version(CallFrame *frame) { return NULL; }

// later completes its call from another thread, with an error if the operand is negative.
typedef struct {
  size_t size;
  Extension *extensions;
  void *future, *error;
} FutureArgs;

typedef struct {
  CallFrame *frame;
  void *future;
  const float *from;
  float *to;
} Work;

static void *work(void *p) {
  Work w = *(Work *)p;
  free(p);
  usleep(20000);
  const Api *api = w.frame->api;
  void *(**fn)(void *) = (void *(**)(void *))((char *)api + offsetof(Api, error_create));
  FutureArgs done = {sizeof done, NULL, w.future, NULL};
  if (*w.from < 0) {
    ErrorCreateArgs why = {sizeof why, NULL, "negative, found out late", 11};
    done.error = api->error_create(&why);
    fn[15](&done);
  } else {
    *w.to = *w.from * 2;
    fn[14](&done);
  }
  return NULL;
}

void *later(CallFrame *frame) {
  if (metadata(frame, 2)) return NULL;
  void *(**fn)(void *) = (void *(**)(void *))((char *)frame->api + offsetof(Api, error_create));
  FutureArgs created = {sizeof created};
  fn[13](&created);
  frame->future = created.future;
  Work *w = malloc(sizeof *w);
  *w = (Work){frame, created.future, frame->operands.items[0]->data, frame->results.items[0]->data};
  pthread_t thread;
  pthread_create(&thread, NULL, work, w);
  pthread_detach(thread);
  return NULL;
}

// many_tasks schedules 500 tasks, waits for all, and returns how many ran at once.
typedef struct {
  size_t size;
  Extension *extensions;
  void *context;
  void (*task)(void *data);
  void *data;
} ScheduleArgs;

static _Atomic int running, most, ended;

static void task(void *data) {
  int now = ++running;
  for (int seen = most; now > seen && !__atomic_compare_exchange_n((int *)&most, &seen, now, 0, 5, 5);) continue;
  usleep(50000);
  running--;
  ended++;
}

void *many_tasks(CallFrame *frame) {
  if (metadata(frame, 1)) return NULL;
  void *(**fn)(void *) = (void *(**)(void *))((char *)frame->api + offsetof(Api, error_create));
  enum { TASKS = 500 };
  for (int i = 0; i < TASKS; i++) {
    ScheduleArgs args = {sizeof args, NULL, frame->context, task, NULL};
    void *error = fn[11](&args);
    if (error) return error;
  }
  while (ended < TASKS) usleep(1000);
  *(float *)frame->results.items[0]->data = most;
  return NULL;
}
