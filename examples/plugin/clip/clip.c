// A handler for hlocb's plugin: clips f32 values to the range -limit ... limit.
//
//   cc -shared -fPIC -O2 -o libclip.so clip.c
//   hlocb run in.mlir --on clip=plugin:libclip.so

#include "ffi.h"

#include <string.h>

static void *fail(CallFrame *frame, const char *message) {
  ErrorCreateArgs args = {sizeof args, NULL, message, 3};  // invalid argument
  return frame->api->error_create(&args);
}

void *hlocb_handler(CallFrame *frame) {
  if (frame->extensions && frame->extensions->type == 1) {  // asked for the version
    Metadata *m = ((MetadataExtension *)frame->extensions)->metadata;
    m->version.major = 0;
    m->version.minor = 1;
    m->traits = 0;
    return NULL;
  }
  if (frame->operands.n != 1 || frame->results.n != 1) return fail(frame, "clip expects one operand and one result");
  const Buffer *x = frame->operands.items[0], *y = frame->results.items[0];
  if (x->dtype != 11 || y->dtype != 11) return fail(frame, "clip expects f32 values");
  float limit = 1;
  for (int64_t i = 0; i < frame->attributes.n; i++) {
    const Text *name = frame->attributes.names[i];
    if (name->len != 5 || memcmp(name->ptr, "limit", 5)) continue;
    const Scalar *s = frame->attributes.items[i];
    if (frame->attributes.kinds[i] != 3 || s->dtype != 11) return fail(frame, "attribute limit must be an f32");
    limit = *(float *)s->value;
  }
  int64_t n = 1;
  for (int64_t i = 0; i < x->rank; i++) n *= x->dims[i];
  const float *from = x->data;
  float *to = y->data;
  for (int64_t i = 0; i < n; i++) to[i] = from[i] > limit ? limit : from[i] < -limit ? -limit : from[i];
  return NULL;
}
