// A library to preload: a program that looks up GetPjrtApi gets a function whose table hlocb has wrapped. A program
// that uses no plugin pays for one comparison per dlsym, because Go is loaded at the first GetPjrtApi.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef const void *(*get_api)(void);
typedef void *(*lookup)(void *handle, const char *name);

enum { PLUGINS = 4 };
static get_api plugins[PLUGINS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread get_api current;

// The wrapping library asks for the table to wrap.
__attribute__((visibility("default"))) const void *hlocb_preload_next(void) { return current ? current() : NULL; }

static lookup real_dlsym(void) {
  static lookup real;
  if (!real) {
    const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
    for (size_t i = 0; !real && i < sizeof versions / sizeof *versions; i++)
      real = (lookup)dlvsym(RTLD_NEXT, "dlsym", versions[i]);
  }
  return real;
}

static get_api ours;

static void open_ours(void) {
  const char *path = getenv("HLOCB_LIBRARY");
  void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library) ours = (get_api)real_dlsym()(library, "GetPjrtApi");
  if (!ours) fprintf(stderr, "hlocb: warning: programs run untapped: %s\n", library || !path ? "HLOCB_LIBRARY is not set" : dlerror());
}

static const void *wrapped(int k) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_ours);
  if (!ours) return plugins[k]();
  current = plugins[k];
  const void *table = ours();
  current = NULL;
  return table ? table : plugins[k]();
}

static const void *wrapped_0(void) { return wrapped(0); }
static const void *wrapped_1(void) { return wrapped(1); }
static const void *wrapped_2(void) { return wrapped(2); }
static const void *wrapped_3(void) { return wrapped(3); }

static void *wrap(get_api found) {
  static const get_api wrappers[PLUGINS] = {wrapped_0, wrapped_1, wrapped_2, wrapped_3};
  void *out = (void *)found; // beyond PLUGINS plugins, and for the wrapping library itself
  pthread_mutex_lock(&lock);
  for (int k = 0; k < PLUGINS && found != ours; k++) {
    if (plugins[k] && plugins[k] != found) continue;
    plugins[k] = found;
    out = (void *)wrappers[k];
    break;
  }
  pthread_mutex_unlock(&lock);
  return out;
}

// dlsym calls the real dlsym last, and the compiler makes the call a jump: RTLD_NEXT depends on the caller's address.
__attribute__((visibility("default"))) void *dlsym(void *restrict handle, const char *restrict name) {
  lookup real = real_dlsym();
  if (name[0] == 'G' && !strcmp(name, "GetPjrtApi")) {
    get_api found = (get_api)real(handle, name);
    return found && !current ? wrap(found) : (void *)found; // a plugin that wraps another one is wrapped once
  }
  return real(handle, name);
}
