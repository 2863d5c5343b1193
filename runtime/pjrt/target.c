// The handlers of custom-call targets that hlocb computes, or that a program registered elsewhere. XLA's call frame does
// not name the target, so each target has a separate C function, which passes the target's number on.

#include "calls.h"
#include "_cgo_export.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static void *target(hl_ffi_frame *frame, int slot) {
  if (hl_metadata(frame) || frame->stage != HL_FFI_STAGE_EXECUTE) return NULL;
  return hl_returned(frame->api, hlocbTarget(frame, slot));
}

// A program's handler may be built for a newer FFI than the plugin's, which then refuses it. FFIs of one major version
// only add functions, so the handler runs with the plugin's functions. Functions that the plugin lacks return an error.

enum { ENTRIES = 64 };  // more than any FFI has

typedef struct {
  void *(*handler)(hl_ffi_frame *frame);
  int32_t minor;  // the version that it was built for
  struct {
    HL_HEAD;
    hl_version version;
    const void *internal;
    hl_ffi_fn fn[ENTRIES];
  } api;  // of the plugin, extended; handlers that end later keep it
  _Atomic(const hl_ffi_api *) ready;
} forwarding;

static forwarding forwarded[HL_TARGETS];
static pthread_mutex_t forwarded_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(const hl_ffi_api *) last_api;

static void *lacking(void *args) {
  (void)args;
  return hl_ffi_failure(last_api, "the handler calls a function that the plugin's version of the XLA FFI lacks", 12);  // unimplemented
}

// extend returns the plugin's table with functions for all entries.
static const hl_ffi_api *extend(forwarding *f, const hl_ffi_api *api) {
  pthread_mutex_lock(&forwarded_lock);
  if (!f->ready) {
    for (int i = 0; i < ENTRIES; i++) f->api.fn[i] = lacking;
    memcpy(&f->api, api, api->size < sizeof f->api ? api->size : sizeof f->api);
    last_api = api;
    f->ready = (const hl_ffi_api *)&f->api;
  }
  pthread_mutex_unlock(&forwarded_lock);
  return f->ready;
}

static void *forward(hl_ffi_frame *frame, int slot) {
  forwarding *f = &forwarded[slot];
  const hl_ffi_api *api = frame->api;
  if (!api || api->version.minor >= f->minor) return f->handler(frame);
  const hl_ffi_api *extended = f->ready;
  frame->api = extended ? extended : extend(f, api);
  void *error = f->handler(frame);
  frame->api = api;
  if (frame->ext && frame->ext->type == HL_FFI_EXT_METADATA) {  // XLA asks for the version
    hl_ffi_metadata *m = ((hl_ffi_metadata_ext *)frame->ext)->metadata;
    if (m->version.major == api->version.major) m->version.minor = api->version.minor;
  }
  return error;
}

#define EACH8(M, n) M(n##0) M(n##1) M(n##2) M(n##3) M(n##4) M(n##5) M(n##6) M(n##7)
#define EACH64(M, n) \
  EACH8(M, n##0) EACH8(M, n##1) EACH8(M, n##2) EACH8(M, n##3) EACH8(M, n##4) EACH8(M, n##5) EACH8(M, n##6) EACH8(M, n##7)
#define EACH(M)  /* octal numbers below HL_TARGETS */ \
  EACH64(M, 00) EACH64(M, 01) EACH64(M, 02) EACH64(M, 03) EACH64(M, 04) EACH64(M, 05) EACH64(M, 06) EACH64(M, 07)
#define FUNCTION(n) \
  static void *target_##n(hl_ffi_frame *frame) { return target(frame, n); }
#define NAME(n) target_##n,
#define FORWARD(n) \
  static void *forward_##n(hl_ffi_frame *frame) { return forward(frame, n); }
#define FORWARD_NAME(n) forward_##n,

EACH(FUNCTION)
EACH(FORWARD)

static void *(*const handlers[HL_TARGETS])(hl_ffi_frame *) = {EACH(NAME)};

void *hl_target_handler(int slot) { return (void *)handlers[slot]; }

static void *(*const forwards[HL_TARGETS])(hl_ffi_frame *) = {EACH(FORWARD_NAME)};

void *hl_forwarding_handler(int slot, void *handler, int32_t minor) {
  forwarded[slot].handler = (void *(*)(hl_ffi_frame *))handler;
  forwarded[slot].minor = minor;
  return (void *)forwards[slot];
}
