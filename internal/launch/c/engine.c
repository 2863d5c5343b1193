// The engine as a PJRT plugin. A framework finds a plugin by the file of its library; this file loads the library
// beside it, libhlocb_pjrt.so, which holds the engine.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static const void *(*api)(void);
static char *(*configure)(const char *);

static void load(void) {
  static const char file[] = "libhlocb_pjrt.so";
  static char path[PATH_MAX + sizeof file];
  Dl_info self;
  // The path by which this library was loaded may be a link.
  if (!dladdr((void *)load, &self) || !realpath(self.dli_fname, path)) {
    perror("hlocb: libhlocb_engine.so");
    return;
  }
  strcpy(strrchr(path, '/') + 1, file);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library) {
    api = (const void *(*)(void))dlsym(library, "hlocb_engine_api");
    configure = (char *(*)(const char *))dlsym(library, "hlocb_configure");
  }
  if (!api || !configure) fprintf(stderr, "hlocb: libhlocb_engine.so needs the file beside it: %s\n", dlerror());
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

EXPORT const void *GetPjrtApi(void) {
  pthread_once(&once, load);
  return api ? api() : NULL;
}

EXPORT char *hlocb_configure(const char *settings) {
  pthread_once(&once, load);
  return configure ? configure(settings) : strdup("libhlocb_engine.so was not loaded");
}
