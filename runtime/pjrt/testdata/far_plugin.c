// A plugin whose device memory the host cannot read: XLA's CPU plugin (the macro PLUGIN is its path) with addresses
// in a reserved range without access rights. An address represents the real address with the same offset in its
// terabyte. Handlers and functions such as PJRT_Buffer_UnsafePointer get such addresses, and only hlocb_device_copy
// translates them. Uploads always copy. With the macro CUDA, the plugin is CUDA's, and its driver reaches the memory
// (cuda_driver.c). With the macro HOLE, the table lacks a function that hlocb does not call, and
// executions have no events.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../abi.h"

enum { CHUNK_BITS = 40, CHUNKS = 128, HANDLERS = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *chunks[CHUNKS];  // the reserved range of each terabyte of the address space

static char *far(const void *real) {
  if (!real) return NULL;
  uintptr_t at = (uintptr_t)real, chunk = at >> CHUNK_BITS, size = (uintptr_t)1 << CHUNK_BITS;
  if (chunk >= CHUNKS) abort();
  pthread_mutex_lock(&mutex);
  if (!chunks[chunk]) {
    chunks[chunk] = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (chunks[chunk] == MAP_FAILED) abort();
  }
  pthread_mutex_unlock(&mutex);
  return chunks[chunk] + (at & (size - 1));
}

static void *real(const void *address) {
  for (uintptr_t i = 0; i < CHUNKS; i++)
    if (chunks[i] && (char *)address >= chunks[i] && (char *)address < chunks[i] + ((uintptr_t)1 << CHUNK_BITS))
      return (void *)((i << CHUNK_BITS) + (uintptr_t)((char *)address - chunks[i]));
  return NULL;
}

static const hl_api *cpu;
static hl_ffi_ext cpu_ffi;

#ifdef CUDA
static const hl_ffi_api *cpu_ffi_api;
#include "cuda_driver.c"
#else
int hlocb_device_copy(void *dst, const void *src, size_t size, int direction) {
  if (direction < 1 || direction > 3) return 1;
  if (direction != 2 && !(dst = real(dst))) return 2;
  if (direction != 1 && !(src = real(src))) return 3;
  memmove(dst, src, size);
  return 0;
}

#endif

// ---- handlers ----

static hl_ffi_fn handlers[HANDLERS];

static void translate(hl_ffi_list *list, hl_ffi_buffer *buffers, hl_ffi_buffer **items) {
  for (int64_t i = 0; i < list->n; i++) {
    buffers[i] = *list->items[i];
    buffers[i].data = far(buffers[i].data);
    items[i] = &buffers[i];
  }
  list->items = items;
}

static void *call(int n, hl_ffi_frame *frame) {
  if (frame->ext || frame->stage != HL_FFI_STAGE_EXECUTE) return handlers[n](frame);
  int64_t values = frame->operands.n + frame->results.n;
  hl_ffi_buffer *buffers = calloc(values + 1, sizeof *buffers);
  hl_ffi_buffer **items = calloc(values + 1, sizeof *items);
  if (!buffers || !items) abort();
  hl_ffi_frame copy = *frame;
  translate(&copy.operands, buffers, items);
  translate(&copy.results, buffers + frame->operands.n, items + frame->operands.n);
#ifdef CUDA
  on_gpu(&copy);
#endif
  void *error = handlers[n](&copy);
  frame->future = copy.future;
#ifdef CUDA
  if (!copy.future) flush_all();
#endif
  free(buffers);
  free(items);
  return error;
}

#define EACH8(M, n) M(n##0) M(n##1) M(n##2) M(n##3) M(n##4) M(n##5) M(n##6) M(n##7)
#define EACH(M) EACH8(M, 0) EACH8(M, 01) EACH8(M, 02) EACH8(M, 03) EACH8(M, 04) EACH8(M, 05) EACH8(M, 06) EACH8(M, 07)
#define FUNCTION(n) \
  static void *call_##n(void *frame) { return call(n, frame); }
#define NAME(n) call_##n,
EACH(FUNCTION)
static const hl_ffi_fn calls[HANDLERS] = {EACH(NAME)};

// ---- the table ----

static void *register_handler(void *args) {
  hl_register_args a = *(hl_register_args *)args;
  int n = 0;
  pthread_mutex_lock(&mutex);
  while (n < HANDLERS && handlers[n] && handlers[n] != (hl_ffi_fn)a.handler) n++;
  if (n == HANDLERS) abort();
  handlers[n] = (hl_ffi_fn)a.handler;
  pthread_mutex_unlock(&mutex);
  a.handler = (void *)calls[n];
#ifdef CUDA
  if (a.platform_size == 4 && !memcmp(a.platform, "cuda", 4)) {
    a.platform = "cpu";
    a.platform_size = 3;
  }
#endif
  return cpu_ffi.register_handler(&a);
}

static void *from_host(void *args) {
  hl_from_host_args *a = args;
  if (a->semantics == HL_HOST_ZERO_COPY) a->semantics = HL_HOST_ONLY_DURING_CALL;
  return cpu->fn[HL_CLIENT_BUFFER_FROM_HOST](a);
}

static void *on_cpu(void *args) {
  hl_int_args *a = args;
  void *error = cpu->fn[HL_BUFFER_ON_CPU](a);
  *(bool *)&a->number = false;
  return error;
}

// address returns a far address in args.
static void *address(void *args, int fn) {
  hl_get_args *a = args;
  void *error = cpu->fn[fn](a);
  if (!error) a->other = far(a->other);
  return error;
}

static void *unsafe_pointer(void *args) { return address(args, HL_BUFFER_ADDRESS - 3); }
static void *opaque_pointer(void *args) { return address(args, HL_BUFFER_ADDRESS); }

#ifdef HOLE
static void *execute(void *args) {
  hl_execute_args *a = args;
  void *error = cpu->fn[HL_LOADED_EXECUTE](a);
  for (size_t d = 0; !error && a->events && d < a->num_devices; d++) {
    hl_object_args event = {.size = sizeof event, .object = a->events[d]};
    if (!(error = cpu->fn[HL_EVENT_AWAIT](&event))) error = cpu->fn[HL_EVENT_DESTROY](&event);
    a->events[d] = NULL;
  }
  return error;
}
#endif

const hl_api *GetPjrtApi(void) {
  static hl_api *api;
  if (api) return api;
  void *library = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return NULL;
  }
  cpu = ((const hl_api *(*)(void))dlsym(library, "GetPjrtApi"))();
  api = malloc(cpu->size);
  if (!api) return NULL;
  memcpy(api, cpu, cpu->size);
  // Copy the extensions up to the FFI, whose function changes.
  hl_ext **link = &api->ext;
  for (hl_ext *e = cpu->ext; e; e = e->next) {
    hl_ext *copy = malloc(e->size);
    if (!copy) return NULL;
    memcpy(copy, e, e->size);
    *link = copy;
    link = &copy->next;
    if (e->type == HL_EXT_FFI) {
      cpu_ffi = *(hl_ffi_ext *)e;
      ((hl_ffi_ext *)copy)->register_handler = register_handler;
    }
  }
#ifdef CUDA
  static hl_ext gpu = {.size = sizeof gpu, .type = HL_EXT_GPU};
  *link = &gpu;
  api->fn[HL_CLIENT_PLATFORM_NAME] = platform_name;
  api->fn[HL_CLIENT_CREATE] = client_create;
#endif
  api->fn[HL_CLIENT_BUFFER_FROM_HOST] = from_host;
  api->fn[HL_BUFFER_ON_CPU] = on_cpu;
  api->fn[HL_BUFFER_ADDRESS - 3] = unsafe_pointer;
  api->fn[HL_BUFFER_ADDRESS] = opaque_pointer;
#ifdef HOLE
  api->fn[HL_EVENT_IS_READY + 1] = NULL;
  api->fn[HL_LOADED_EXECUTE] = execute;
#endif
  return api;
}
