// A plugin that is the one in VARIANT_OF, but newer, older, or without the FFI extension, as VARIANT says.
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ext { size_t size; int type; struct ext *next; } ext;
typedef struct { size_t size; ext *extensions; struct { size_t size; void *ext; int major, minor; } version; void *fn[256]; } api;

static const api *real;

static void *unknown(void *args) {
  fprintf(stderr, "a function was called that the plugin lacks\n");
  abort();
}

const api *GetPjrtApi(void) {
  static api copy;
  void *library = dlopen(getenv("VARIANT_OF"), RTLD_NOW | RTLD_LOCAL);
  if (!library) return NULL;
  real = ((const api *(*)(void))dlsym(library, "GetPjrtApi"))();
  const char *kind = getenv("VARIANT");
  memcpy(&copy, real, real->size);
  if (!strcmp(kind, "newer")) {
    size_t n = (real->size - offsetof(api, fn)) / sizeof *copy.fn;
    for (size_t i = n; i < n + 40; i++) copy.fn[i] = (void *)unknown;
    copy.size = real->size + 40 * sizeof *copy.fn;
    copy.version.minor += 60;
  } else if (!strcmp(kind, "older")) {
    enum { FUNCTIONS = 105 };
    copy.size = offsetof(api, fn) + FUNCTIONS * sizeof *copy.fn;
    copy.version.minor = 81;
    for (int i = FUNCTIONS; i < 256; i++) copy.fn[i] = (void *)unknown;
  } else {
    ext **to = &copy.extensions;
    for (ext *e = real->extensions; e; e = e->next) {
      if (e->type == 5) continue;  // FFI
      *to = memcpy(malloc(e->size), e, e->size);
      to = &(*to)->next;
    }
    *to = NULL;
  }
  return &copy;
}
