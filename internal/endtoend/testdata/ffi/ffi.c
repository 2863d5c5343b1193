// Handlers of XLA's FFI, as users build them with jaxlib's headers.

#include "xla/ffi/api/c_api.h"

// asked answers XLA's question for the version that the handlers were built for.
static int asked(XLA_FFI_CallFrame *frame) {
  if (!frame->extension_start || frame->extension_start->type != XLA_FFI_Extension_Metadata) return 0;
  XLA_FFI_Metadata *m = ((XLA_FFI_Metadata_Extension *)frame->extension_start)->metadata;
  m->api_version.major_version = XLA_FFI_API_MAJOR;
  m->api_version.minor_version = XLA_FFI_API_MINOR;
  m->traits = 0;
  return 1;
}

static void add(XLA_FFI_CallFrame *frame, float amount) {
  XLA_FFI_Buffer *x = frame->args.args[0], *y = frame->rets.rets[0];
  int64_t n = 1;
  for (int64_t d = 0; d < x->rank; d++) n *= x->dims[d];
  for (int64_t i = 0; i < n; i++) ((float *)y->data)[i] = ((float *)x->data)[i] + amount;
}

XLA_FFI_Error *add_one(XLA_FFI_CallFrame *frame) {
  if (!asked(frame)) add(frame, 1);
  return 0;
}

XLA_FFI_Error *add_ten(XLA_FFI_CallFrame *frame) {
  if (!asked(frame)) add(frame, 10);
  return 0;
}

// add_index adds 0, 1, ... to the elements in the order of the memory.
XLA_FFI_Error *add_index(XLA_FFI_CallFrame *frame) {
  if (asked(frame)) return 0;
  XLA_FFI_Buffer *x = frame->args.args[0], *y = frame->rets.rets[0];
  int64_t n = x->dims[0] * x->dims[1];
  for (int64_t i = 0; i < n; i++) ((float *)y->data)[i] = ((float *)x->data)[i] + i;
  return 0;
}

// newest calls the last function of a table with 64 functions. No FFI has as many.
XLA_FFI_Error *newest(XLA_FFI_CallFrame *frame) {
  if (asked(frame)) return 0;
  return ((XLA_FFI_Error * (**)(void *)) & frame->api->XLA_FFI_Error_Create)[63](0);
}
