// The handlers of custom-call targets that hlocb computes. XLA's call frame does not name the target, so each target
// has a separate C function, which passes the target's number to Go.

#include "calls.h"
#include "_cgo_export.h"

static void *target(hl_ffi_frame *frame, int slot) {
  if (hl_metadata(frame) || frame->stage != HL_FFI_STAGE_EXECUTE) return NULL;
  return hl_returned(frame->api, hlocbTarget(frame, slot));
}

#define EACH8(M, n) M(n##0) M(n##1) M(n##2) M(n##3) M(n##4) M(n##5) M(n##6) M(n##7)
#define EACH64(M, n) \
  EACH8(M, n##0) EACH8(M, n##1) EACH8(M, n##2) EACH8(M, n##3) EACH8(M, n##4) EACH8(M, n##5) EACH8(M, n##6) EACH8(M, n##7)
#define EACH(M)  /* octal numbers below HL_TARGETS */ \
  EACH64(M, 00) EACH64(M, 01) EACH64(M, 02) EACH64(M, 03) EACH64(M, 04) EACH64(M, 05) EACH64(M, 06) EACH64(M, 07)
#define FUNCTION(n) \
  static void *target_##n(hl_ffi_frame *frame) { return target(frame, n); }
#define NAME(n) target_##n,

EACH(FUNCTION)

static void *(*const handlers[HL_TARGETS])(hl_ffi_frame *) = {EACH(NAME)};

void *hl_target_handler(int slot) { return (void *)handlers[slot]; }
