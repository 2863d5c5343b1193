#include "cuda.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NOT_READY = 600 };  // CUDA_ERROR_NOT_READY

// The names and types are those of cuda.h of the CUDA toolkit. A CUdeviceptr is an integer.
struct hl_cuda {
  int (*get_error_string)(int result, const char **text);
  int (*stream_context)(void *stream, void **context);
  int (*push)(void *context);
  int (*pop)(void **context);
  int (*to_host)(void *dst, uint64_t src, size_t size, void *stream);
  int (*from_host)(uint64_t dst, const void *src, size_t size, void *stream);
  int (*within)(uint64_t dst, uint64_t src, size_t size, void *stream);
  int (*set)(uint64_t at, unsigned char value, size_t size, void *stream);
  int (*query)(void *stream);
  int (*synchronize)(void *stream);
  int (*host_alloc)(void **memory, size_t size, unsigned flags);
  int (*host_free)(void *memory);
  int (*event_create)(void **event, unsigned flags);
  int (*event_destroy)(void *event);
  int (*event_record)(void *event, void *stream);
  int (*event_query)(void *event);
  int (*event_synchronize)(void *event);
};

hl_cuda *hl_cuda_open(const char *library, char **error) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *e = dlerror();
    *error = strdup(e ? e : "unknown loader error");
    return NULL;
  }
  hl_cuda *cuda = calloc(1, sizeof *cuda);
  if (!cuda) return NULL;
  const struct {
    void *to;
    const char *name;
  } symbols[] = {
      {&cuda->get_error_string, "cuGetErrorString"},  {&cuda->stream_context, "cuStreamGetCtx"},
      {&cuda->push, "cuCtxPushCurrent_v2"},           {&cuda->pop, "cuCtxPopCurrent_v2"},
      {&cuda->to_host, "cuMemcpyDtoHAsync_v2"},       {&cuda->from_host, "cuMemcpyHtoDAsync_v2"},
      {&cuda->within, "cuMemcpyDtoDAsync_v2"},        {&cuda->set, "cuMemsetD8Async"},
      {&cuda->query, "cuStreamQuery"},
      {&cuda->synchronize, "cuStreamSynchronize"},    {&cuda->host_alloc, "cuMemHostAlloc"},
      {&cuda->host_free, "cuMemFreeHost"},            {&cuda->event_create, "cuEventCreate"},
      {&cuda->event_destroy, "cuEventDestroy_v2"},    {&cuda->event_record, "cuEventRecord"},
      {&cuda->event_query, "cuEventQuery"},            {&cuda->event_synchronize, "cuEventSynchronize"},
  };
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    void *at = dlsym(handle, symbols[i].name);
    if (!at) {
      if (asprintf(error, "%s has no %s", library, symbols[i].name) < 0) *error = NULL;
      free(cuda);
      return NULL;
    }
    memcpy(symbols[i].to, &at, sizeof at);
  }
  return cuda;
}

const char *hl_cuda_text(const hl_cuda *cuda, int result) {
  const char *text = NULL;
  cuda->get_error_string(result, &text);
  return text ? text : "unknown error";
}

// WITH makes a context current for a call. XLA's own threads have it as current, other threads do not.
#define WITH(of, call)                           \
  do {                                           \
    int result = cuda->push(of);                 \
    if (result) return result;                   \
    result = call;                               \
    void *popped;                                \
    int other = cuda->pop(&popped);              \
    return result ? result : other;              \
  } while (0)

// IN is WITH for the context of the stream.
#define IN(call)                                         \
  do {                                                   \
    void *context;                                       \
    int found = cuda->stream_context(stream, &context);  \
    if (found) return found;                             \
    WITH(context, call);                                 \
  } while (0)

static int copy(const hl_cuda *cuda, void *stream, void *dst, const void *src, size_t size, int direction) {
  switch (direction) {
    case HL_CUDA_FROM_HOST: return cuda->from_host((uintptr_t)dst, src, size, stream);
    case HL_CUDA_TO_HOST: return cuda->to_host(dst, (uintptr_t)src, size, stream);
  }
  return cuda->within((uintptr_t)dst, (uintptr_t)src, size, stream);
}

int hl_cuda_copy(const hl_cuda *cuda, void *stream, void *dst, const void *src, size_t size, int direction) {
  IN(copy(cuda, stream, dst, src, size, direction));
}

int hl_cuda_clear(const hl_cuda *cuda, void *stream, void *at, size_t size) { IN(cuda->set((uintptr_t)at, 0, size, stream)); }

// SPIN is the time in nanoseconds for which a thread asks whether a GPU is done before it sleeps, as HL_SPIN of
// runtime/pjrt.
enum { SPIN = 1000000 };

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int wait_for(const hl_cuda *cuda, void *stream) {
  int64_t end = now() + SPIN;
  do {
    int result = cuda->query(stream);
    if (result != NOT_READY) return result;
  } while (now() < end);
  return cuda->synchronize(stream);
}

int hl_cuda_wait(const hl_cuda *cuda, void *stream) { IN(wait_for(cuda, stream)); }

static int allocate(const hl_cuda *cuda, size_t size, void *context, hl_cuda_block *block) {
  enum { PORTABLE = 1, NO_TIMING = 2 };
  block->context = context;
  int result = cuda->host_alloc(&block->memory, size, PORTABLE);
  if (result) return result;
  result = cuda->event_create(&block->event, NO_TIMING);
  if (result) cuda->host_free(block->memory);
  return result;
}

int hl_cuda_alloc(const hl_cuda *cuda, void *stream, size_t size, hl_cuda_block *block) {
  IN(allocate(cuda, size, context, block));
}

static int release(const hl_cuda *cuda, const hl_cuda_block *block) {
  int result = cuda->host_free(block->memory), destroyed = cuda->event_destroy(block->event);
  return result ? result : destroyed;
}

int hl_cuda_free(const hl_cuda *cuda, const hl_cuda_block *block) { WITH(block->context, release(cuda, block)); }

int hl_cuda_mark(const hl_cuda *cuda, void *stream, const hl_cuda_block *block) {
  IN(cuda->event_record(block->event, stream));
}

int hl_cuda_await(const hl_cuda *cuda, const hl_cuda_block *block) {
  WITH(block->context, cuda->event_synchronize(block->event));
}

static int query(const hl_cuda *cuda, const hl_cuda_block *block) { WITH(block->context, cuda->event_query(block->event)); }

bool hl_cuda_passed(const hl_cuda *cuda, const hl_cuda_block *block) { return query(cuda, block) == 0; }
