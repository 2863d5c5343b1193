// A library to preload: a program that looks up GetPjrtApi gets a function whose table hlocb has wrapped. A program
// that uses no plugin pays for one comparison per dlsym, because Go is loaded at the first GetPjrtApi.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
  if (!ours) fprintf(stderr, "hlocb: warning: programs run untapped: %s\n", path ? dlerror() : "HLOCB_LIBRARY is not set");
  // Any process of the program marks that it opened a plugin.
  const char *opened = getenv("HLOCB_OPENED");
  int fd = opened ? open(opened, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
  if (fd < 0) return;
  if (write(fd, "x", 1) != 1) perror("hlocb: HLOCB_OPENED");
  close(fd);
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

// dlopen loads the plugin that HLOCB_QUIET names with a log level of its own, which XLA reads then. Other calls end in a
// jump, as in dlsym.
__attribute__((visibility("default"))) void *dlopen(const char *path, int flags) {
  typedef void *(*opener)(const char *path, int flags);
  static opener real;
  if (!real) real = (opener)real_dlsym()(RTLD_NEXT, "dlopen");
  const char *quiet = getenv("HLOCB_QUIET"), *level = "TF_CPP_MIN_LOG_LEVEL";
  if (!path || !quiet || strcmp(path, quiet)) return real(path, flags);
  const char *now = getenv(level);
  char *old = now ? strdup(now) : NULL;
  setenv(level, "3", 1);
  void *library = real(path, flags);
  if (old) setenv(level, old, 1);
  else unsetenv(level);
  free(old);
  return library;
}

// The first process of the program says at its end that nobody opened a plugin. With HLOCB_STRICT that is an error.
static void ended(int status, void *path) {
  struct stat s;
  const char *strict = getenv("HLOCB_STRICT");
  char own[32];
  snprintf(own, sizeof own, "/proc/%d/", (int)getpid());
  if (strncmp(path, own, strlen(own)) || stat(path, &s) || s.st_size > 0) return; // the child of a fork, or opened
  fprintf(stderr, "hlocb: the program opened no PJRT plugin, so nothing was observed\n");
  if (status || !strict || !*strict || !strcmp(strict, "0")) return;
  fflush(NULL);
  _exit(2);
}

__attribute__((constructor)) static void start(void) {
  const char *opened = getenv("HLOCB_OPENED");
  if (opened) on_exit(ended, strdup(opened));
}
