// A plugin of PJRT API 0.77, which reads handler registrations with a version in the middle and, as XLA does, requests
// the handler's version at once. With the other layout it calls an address that is not a handler.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct version { size_t size; void *ext; int major, minor; };
struct ext { size_t size; int type; void *next; void *functions[3]; };
struct args { size_t size; const char *target; size_t target_size; int api_version; void *handler; const char *platform; size_t platform_size; int traits; };
struct api { size_t size; void *ext; struct version version; void *fn[118]; };

struct metadata { size_t size; struct version version; unsigned traits; long long state; };
struct metadata_ext { size_t size; int type; void *next; struct metadata *metadata; };
struct frame { size_t size; void *ext; const void *api; void *rest[32]; };

static void *nothing(void *args) { return NULL; }

static void *register_handler(struct args *a) {
  char *copy = malloc(a->platform_size + 1);
  if (!copy || a->platform_size > 1 << 20) abort();
  memcpy(copy, a->platform, a->platform_size);
  free(copy);
  struct metadata m = {.size = sizeof m};
  struct metadata_ext ext = {.size = sizeof ext, .type = 1, .metadata = &m};
  struct frame frame = {.size = sizeof frame, .ext = &ext};
  ((void *(*)(struct frame *))a->handler)(&frame);
  return NULL;
}

const struct api *GetPjrtApi(void) {
  static struct ext ffi;
  static struct api api;
  ffi.size = sizeof ffi;
  ffi.type = 5;
  ffi.functions[0] = ffi.functions[1] = (void *)nothing;
  ffi.functions[2] = (void *)register_handler;
  api.size = sizeof api;
  api.ext = &ffi;
  api.version.size = sizeof api.version;
  api.version.minor = 77;
  for (int i = 0; i < 118; i++) api.fn[i] = (void *)nothing;
  return &api;
}
