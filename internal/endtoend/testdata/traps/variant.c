// A variant of the plugin in VARIANT_OF. VARIANT makes it newer, older, without the FFI extension, for a platform
// "mychip", or a counter of the contexts of executions. "topology" and "newer topology" also compile for a
// topology.
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

// Positions of the functions and fields that "mychip" changes.
enum { CLIENT_COMPILE = 20, GET_EXECUTABLE = 51, COMPILE = 89, PLATFORM_NAME = 12, CONTEXT_CREATE = 98, CONTEXT_DESTROY = 99, FFI = 5 };
typedef struct { size_t size; void *ext, *client; const char *text; size_t text_size; } name_args;
typedef struct { ext base; void *register_type, *add_user_data, *(*register_handler)(void *); } ffi;
typedef struct { size_t size; const char *target; size_t target_size; void *handler; const char *platform; size_t platform_size; } handler_args;

static void *(*real_name)(void *);
static void *(*real_register)(void *);

typedef struct { size_t size; void *ext; const void *topology, *program, *options; size_t options_size; void *client, *executable; } compile_args;
typedef struct { size_t size; void *ext, *client; const void *program, *options; size_t options_size; void *loaded; } client_compile_args;
typedef struct { size_t size; void *ext, *loaded, *executable; } get_args;

static void *last;  // the program of the last my_compile

// my_load is the last function of a newer table: it makes a program of the result of PJRT_Compile. No older function does.
static void *my_load(void *args) {
  ((get_args *)args)->executable = last;
  return NULL;
}

static void *my_compile(void *args) {
  compile_args *a = args;
  client_compile_args c = {sizeof c, NULL, a->client, a->program, a->options, a->options_size, NULL};
  void *error = ((void *(*)(void *))real->fn[CLIENT_COMPILE])(&c);
  get_args g = {sizeof g, NULL, c.loaded, NULL};
  if (!error) error = ((void *(*)(void *))real->fn[GET_EXECUTABLE])(&g);
  a->executable = g.executable;
  last = c.loaded;
  return error;
}

static void *(*real_create)(void *);
static void *(*real_destroy)(void *);
static _Atomic long created, destroyed;

static void *count_create(void *args) {
  created++;
  return real_create(args);
}

static void *count_destroy(void *args) {
  destroyed++;
  return real_destroy(args);
}

static void report(void) { fprintf(stderr, "contexts: %ld created, %ld destroyed\n", created, destroyed); }

static void *my_name(void *args) {
  name_args *a = args;
  void *error = real_name(a);
  a->text = "mychip";
  a->text_size = strlen(a->text);
  return error;
}

static void *my_register(void *args) {
  handler_args *a = args;
  if (a->platform_size == 6 && !memcmp(a->platform, "mychip", 6)) {
    a->platform = "cpu";
    a->platform_size = 3;
  }
  return real_register(a);
}

const api *GetPjrtApi(void) {
  static api copy;
  void *library = dlopen(getenv("VARIANT_OF"), RTLD_NOW | RTLD_LOCAL);
  if (!library) return NULL;
  real = ((const api *(*)(void))dlsym(library, "GetPjrtApi"))();
  const char *kind = getenv("VARIANT");
  memcpy(&copy, real, real->size);
  if (strstr(kind, "topology")) copy.fn[COMPILE] = my_compile;
  if (!strncmp(kind, "newer", 5)) {
    size_t n = (real->size - offsetof(api, fn)) / sizeof *copy.fn;
    for (size_t i = n; i < n + 40; i++) copy.fn[i] = (void *)unknown;
    copy.size = real->size + 40 * sizeof *copy.fn;
    copy.fn[n + 39] = (void *)my_load;
    copy.version.minor += 60;
  } else if (!strcmp(kind, "older")) {
    enum { FUNCTIONS = 105 };
    copy.size = offsetof(api, fn) + FUNCTIONS * sizeof *copy.fn;
    copy.version.minor = 81;
    for (int i = FUNCTIONS; i < 256; i++) copy.fn[i] = (void *)unknown;
  } else if (!strcmp(kind, "counted")) {
    real_create = copy.fn[CONTEXT_CREATE];
    real_destroy = copy.fn[CONTEXT_DESTROY];
    copy.fn[CONTEXT_CREATE] = count_create;
    copy.fn[CONTEXT_DESTROY] = count_destroy;
    atexit(report);
  } else if (!strcmp(kind, "topology")) {
  } else if (!strcmp(kind, "mychip")) {
    real_name = copy.fn[PLATFORM_NAME];
    copy.fn[PLATFORM_NAME] = my_name;
    ext **to = &copy.extensions;
    for (ext *e = real->extensions; e; e = e->next) {
      ext *own = *to = memcpy(malloc(e->size), e, e->size);
      to = &own->next;
      if (e->type != FFI) continue;
      real_register = ((ffi *)e)->register_handler;
      ((ffi *)own)->register_handler = my_register;
    }
  } else {
    ext **to = &copy.extensions;
    for (ext *e = real->extensions; e; e = e->next) {
      if (e->type == FFI) continue;
      *to = memcpy(malloc(e->size), e, e->size);
      to = &(*to)->next;
    }
    *to = NULL;
  }
  return &copy;
}
