// The handler that XLA calls for every hook, and handlers that serve as yardsticks.

#include "calls.h"
#include "_cgo_export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local bool in_hook;
static _Thread_local int64_t current_run;
static _Thread_local hl_ffi_frame *current_frame;

hl_ffi_frame *hl_current_frame(void) { return current_frame; }

bool hl_current_run(int64_t *run_id) {
  *run_id = current_run;
  return in_hook;
}

static bool ffi_has(const hl_ffi_api *api, int fn) {
  return api->size >= offsetof(hl_ffi_api, fn) + (size_t)(fn + 1) * sizeof(hl_ffi_fn) && api->fn[fn];
}

bool hl_ffi_call(const hl_ffi_api *api, int fn, void *args) {
  if (!ffi_has(api, fn)) return false;
  void *error = api->fn[fn](args);
  if (!error) return true;
  ARGS(hl_ffi_error_destroy_args, d, .error = error);
  if (ffi_has(api, HL_FFI_ERROR_DESTROY)) api->fn[HL_FFI_ERROR_DESTROY](&d);
  return false;
}

// hl_metadata answers XLA's first call of a handler, which requests the FFI version that the handler was built for. A
// plugin accepts only some versions and reports other versions late, so the answer is the plugin's own version.
bool hl_metadata(hl_ffi_frame *frame) {
  if (!frame->ext || frame->ext->type != HL_FFI_EXT_METADATA) return false;
  hl_ffi_metadata *m = ((hl_ffi_metadata_ext *)frame->ext)->metadata;
  m->version.major = frame->api ? frame->api->version.major : 0;
  m->version.minor = frame->api ? frame->api->version.minor : 1;
  m->traits = 0;
  return true;
}

void *hl_ffi_failure(const hl_ffi_api *api, const char *message, int32_t code) {
  ARGS(hl_ffi_error_args, a, .message = message, .code = code);
  if (ffi_has(api, HL_FFI_ERROR_CREATE)) return api->fn[HL_FFI_ERROR_CREATE](&a);
  fprintf(stderr, "hlocb: the plugin's FFI has no XLA_FFI_Error_Create, so this failure ends the process: %s\n", message);
  abort();  // a success would be silently wrong
}

void *hl_returned(const hl_ffi_api *api, char *message) {
  if (!message) return NULL;
  void *error = hl_ffi_failure(api, message, 13);  // internal
  free(message);
  return error;
}

// hook_id finds the id among the attributes. It starts with the third one: hlocb writes abi, chained, id, kind, name.
static bool hook_id(const hl_ffi_attrs *attrs, int64_t *id) {
  for (int64_t k = 0; k < attrs->n; k++) {
    int64_t i = (k + 2) % attrs->n;
    const hl_ffi_span *name = attrs->names[i];
    if (name->len == 2 && name->ptr[0] == 'i' && name->ptr[1] == 'd' && attrs->kinds[i] == HL_FFI_ATTR_SCALAR) {
      const hl_ffi_scalar *s = attrs->items[i];
      if (s->dtype != 5 && s->dtype != 9) return false;  // s64, u64
      memcpy(id, s->value, sizeof *id);
      return true;
    }
  }
  return false;
}

// identify reads the ids of the hook, of the run and of the device.
static inline bool identify(hl_ffi_frame *frame, int64_t *id, int64_t *run_id, int32_t *ordinal) {
  const hl_ffi_api *api = frame->api;
  if (!hook_id(&frame->attrs, id)) return false;
  ARGS(hl_ffi_run_id_args, run, .ctx = frame->ctx);
  if (hl_ffi_call(api, HL_FFI_RUN_ID, &run)) *run_id = run.run_id;
  ARGS(hl_ffi_ordinal_args, device, .ctx = frame->ctx);
  if (hl_ffi_call(api, HL_FFI_DEVICE_ORDINAL, &device)) *ordinal = device.ordinal;
  return true;
}

void *hl_stream(hl_ffi_frame *frame) {
  ARGS(hl_ffi_stream_args, a, .ctx = frame->ctx);
  return hl_ffi_call(frame->api, HL_FFI_STREAM_GET, &a) ? a.stream : NULL;
}

int32_t hl_ordinal(hl_ffi_frame *frame) {
  ARGS(hl_ffi_ordinal_args, a, .ctx = frame->ctx);
  return hl_ffi_call(frame->api, HL_FFI_DEVICE_ORDINAL, &a) ? a.ordinal : 0;
}

void *hl_hook_handler(hl_ffi_frame *frame) {
  if (hl_metadata(frame) || frame->stage != HL_FFI_STAGE_EXECUTE) return NULL;
  const hl_ffi_api *api = frame->api;
  int64_t id = 0, run_id = 0;
  int32_t ordinal = 0;
  if (!identify(frame, &id, &run_id, &ordinal)) return hl_ffi_failure(api, "hlocb_hook: the call has no 64-bit attribute 'id'", 3);
  bool outer = in_hook;
  int64_t outer_run = current_run;
  in_hook = true;
  current_run = run_id;
  hl_ffi_frame *outer_frame = current_frame;
  current_frame = frame;
  char *message = (char *)hlocbHook(frame, id, run_id, ordinal);
  in_hook = outer;
  current_run = outer_run;
  current_frame = outer_frame;
  return hl_returned(api, message);
}

void hl_enter_run(int64_t run_id) {
  in_hook = true;
  current_run = run_id;
}

void hl_leave_run(void) { in_hook = false; }

void *hl_future_create(hl_ffi_frame *frame) {
  if (!ffi_has(frame->api, HL_FFI_FUTURE_SET_ERROR) || frame->size < offsetof(hl_ffi_frame, future)) return NULL;
  ARGS(hl_ffi_future_args, a);
  return hl_ffi_call(frame->api, HL_FFI_FUTURE_CREATE, &a) ? a.future : NULL;
}

void hl_future_done(const hl_ffi_api *api, void *future) {
  ARGS(hl_ffi_future_args, a, .future = future);
  hl_ffi_call(api, HL_FFI_FUTURE_SET_AVAILABLE, &a);
}

void hl_future_fail(const hl_ffi_api *api, void *future, const char *message) {
  ARGS(hl_ffi_future_error_args, a, .future = future, .error = hl_ffi_failure(api, message, 13));
  hl_ffi_call(api, HL_FFI_FUTURE_SET_ERROR, &a);
}

void *hl_noop_handler(hl_ffi_frame *frame) {
  hl_metadata(frame);
  return NULL;
}

void *hl_ids_handler(hl_ffi_frame *frame) {
  if (hl_metadata(frame) || frame->stage != HL_FFI_STAGE_EXECUTE) return NULL;
  int64_t id = 0, run_id = 0;
  int32_t ordinal = 0;
  identify(frame, &id, &run_id, &ordinal);
  return NULL;
}

void *hl_cross_handler(hl_ffi_frame *frame) {
  if (hl_metadata(frame) || frame->stage != HL_FFI_STAGE_EXECUTE) return NULL;
  int64_t id = 0, run_id = 0;
  int32_t ordinal = 0;
  identify(frame, &id, &run_id, &ordinal);
  hlocbNothing(frame, id, run_id, ordinal);
  return NULL;
}

static _Atomic bool probed;

void *hl_probe_handler(hl_ffi_frame *frame) {
  if (hl_metadata(frame)) probed = true;
  return NULL;
}

bool hl_probed(void) { return probed; }
