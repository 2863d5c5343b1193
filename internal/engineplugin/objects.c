#include "objects.h"
#include "_cgo_export.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

he_error *he_fail(int32_t code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text;
  if (vasprintf(&text, format, args) < 0) abort();
  va_end(args);
  size_t n = strlen(text);
  he_error *e = malloc(sizeof *e + n + 1);
  if (!e) abort();
  e->code = code;
  e->size = n;
  memcpy(e->message, text, n + 1);
  free(text);
  return e;
}

// ---- Events ----

struct he_waiter {
  void (*callback)(void *error, void *data);
  void *data;
  he_waiter *next;
};

he_event he_ready = {.refs = 1, .done = true, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

he_event *he_event_new(void) {
  he_event *e = calloc(1, sizeof *e);
  if (!e) abort();
  e->refs = 1;
  pthread_mutex_init(&e->lock, NULL);
  pthread_cond_init(&e->changed, NULL);
  return e;
}

he_event *he_event_hold(he_event *e) {
  if (e != &he_ready) e->refs++;
  return e;
}

void he_event_drop(he_event *e) {
  if (e == &he_ready || --e->refs) return;
  pthread_mutex_destroy(&e->lock);
  pthread_cond_destroy(&e->changed);
  free(e->error);
  free(e);
}

he_error *he_event_wait(he_event *e) {
  if (!e->done) {
    pthread_mutex_lock(&e->lock);
    while (!e->done) pthread_cond_wait(&e->changed, &e->lock);
    pthread_mutex_unlock(&e->lock);
  }
  return e->error;
}

static he_error *copy_error(const he_error *e) { return e ? he_fail(e->code, "%s", e->message) : NULL; }

void he_event_set(he_event *e, he_error *error) {
  pthread_mutex_lock(&e->lock);
  e->error = error;
  he_waiter *list = e->waiters, *w;
  e->waiters = NULL;
  e->done = true;
  pthread_cond_broadcast(&e->changed);
  pthread_mutex_unlock(&e->lock);
  while ((w = list)) {
    list = w->next;
    w->callback(copy_error(error), w->data);
    free(w);
  }
}

void he_event_on_ready(he_event *e, void (*callback)(void *, void *), void *data) {
  if (!e->done) {
    pthread_mutex_lock(&e->lock);
    if (!e->done) {
      he_waiter *w = malloc(sizeof *w);
      if (!w) abort();
      *w = (he_waiter){callback, data, e->waiters};
      e->waiters = w;
      pthread_mutex_unlock(&e->lock);
      return;
    }
    pthread_mutex_unlock(&e->lock);
  }
  callback(copy_error(e->error), data);
}

// ---- Values ----

he_value *he_value_new(he_event *event) {
  he_value *v = calloc(1, sizeof *v);
  if (!v) abort();
  v->refs = 1;
  v->event = he_event_hold(event);
  return v;
}

he_value *he_value_hold(he_value *v) {
  v->refs++;
  return v;
}

void he_value_drop(he_value *v) {
  if (--v->refs) return;
  if (v->pooled)
    hlocbEngineFree(v->data, v->size);
  else if (v->release)
    v->release(v->data, v->release_arg);
  he_event_drop(v->event);
  free(v);
}

static void drop_base(void *data, void *base) { he_value_drop(base); }

// ---- Contexts ----

struct he_user_data {
  int64_t type;
  void *data;
  void (*release)(void *data);
  struct he_user_data *next;
};

// The type id under which IFRT adds its list of Python functions.
static const int64_t python_functions = 7357244197867843242;

void he_context_add(he_context *c, int64_t type, void *data, void (*release)(void *)) {
  struct he_user_data *d = malloc(sizeof *d);
  if (!d) abort();
  *d = (struct he_user_data){type, data, release, c->data};
  c->data = d;
  if (type == python_functions) c->functions = data;
}

static void *user_data(void *context, int64_t type) {
  he_context *c = context;
  for (struct he_user_data *d = c ? c->data : NULL; d; d = d->next)
    if (d->type == type) return d->data;
  return NULL;
}

void *he_user_data_function(void) { return (void *)user_data; }

void he_context_drop(he_context *c) {
  if (--c->refs) return;
  struct he_user_data *d;
  while ((d = c->data)) {
    c->data = d->next;
    if (d->release) d->release(d->data);
    free(d);
  }
  free(c);
}

// ---- Runs ----

void he_run_share(he_run *r, size_t d, size_t from, size_t i) {
  size_t n = r->executable->num_results;
  he_value *base = r->results[from * n + i], *v = r->results[d * n + i];
  v->data = base->data;
  v->size = base->size;
  v->release = drop_base;
  v->release_arg = he_value_hold(base);
}

void he_run_end(he_run *r, he_error *error) {
  he_executable *e = r->executable;
  if (r->event != &he_ready) he_event_set(r->event, error);
  for (size_t i = 0; i < r->num_devices * e->num_parameters; i++)
    if (r->arguments[i]) he_value_drop(r->arguments[i]);
  for (size_t i = 0; i < r->num_devices * e->num_results; i++) he_value_drop(r->results[i]);
  he_event_drop(r->event);
  if (r->context) he_context_drop(r->context);
  he_executable_drop(e);
  free(r->arguments);
  free(r->own);
  free(r->results);
  free(r);
}

// ---- Executables ----

static void free_types(he_type *list, size_t n) {
  for (size_t i = 0; list && i < n; i++) {
    free(list[i].dims);
    free(list[i].layout);
    free(list[i].sharding);
  }
  free(list);
}

void he_executable_drop(he_executable *e) {
  if (--e->refs) return;
  if (e->program) hlocbEngineForget(e->program);
  free_types(e->parameters, e->num_parameters);
  free_types(e->results, e->num_results);
  void *const lists[] = {e->name, e->fingerprint, e->devices, e->logical, e->text, e->options, e->format, e->shown, e->result_types,
                         e->result_dims, e->result_ranks, e->kinds, e->kind_sizes, e->parameter_kinds, e->parameter_kind_sizes, e->parameter_shardings,
                         e->result_shardings, e->parameter_sharding_sizes, e->result_sharding_sizes,
                         e->parameter_layouts, e->result_layouts};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) free(lists[i]);
  free(e);
}

// ---- Types ----

uint8_t he_sizes[HE_TYPES], he_packed[HE_TYPES];

size_t he_size(int32_t type, const int64_t *dims, size_t n) {
  if (type == HL_TYPE_TOKEN) return 0;
  if (type < 0 || type >= HE_TYPES || !he_sizes[type]) return SIZE_MAX;
  size_t size = he_sizes[type];
  for (size_t i = 0; i < n; i++)
    if (dims[i] < 0 || __builtin_mul_overflow(size, (size_t)dims[i], &size)) return SIZE_MAX;
  return size;
}

he_error *he_copy(int32_t code, const char *message) { return he_fail(code, "%s", message); }
const char *he_message(const he_error *e) { return e->message; }
int he_sole(he_value *v) { return v->refs == 1; }
