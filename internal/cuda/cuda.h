// The functions of the CUDA driver that hooks on a GPU need. libcuda is opened at run time, so that one binary serves
// machines with and without a GPU. Functions that return int return a CUresult: 0, or an error that hl_cuda_text names.

#ifndef HLOCB_CUDA_H
#define HLOCB_CUDA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct hl_cuda hl_cuda;

// hl_cuda_open opens the library. On failure it returns NULL and a message that the caller frees; the message is NULL
// if there is no memory for it.
hl_cuda *hl_cuda_open(const char *library, char **error);
const char *hl_cuda_text(const hl_cuda *cuda, int result);

// The rest works in a stream of XLA, in the stream's own context. Copies return at once; the host's memory is to be from
// hl_cuda_alloc, otherwise they return when they have read or written it.
enum { HL_CUDA_FROM_HOST, HL_CUDA_TO_HOST, HL_CUDA_WITHIN };
int hl_cuda_copy(const hl_cuda *cuda, void *stream, void *dst, const void *src, size_t size, int direction);
int hl_cuda_clear(const hl_cuda *cuda, void *stream, void *at, size_t size);
// hl_cuda_wait waits for all work in the stream.
int hl_cuda_wait(const hl_cuda *cuda, void *stream);

// hl_cuda_block is host memory that the device reads and writes by itself.
typedef struct {
  void *memory;
  void *event;  // happens when the device needs the memory no more
  void *context;
} hl_cuda_block;
int hl_cuda_alloc(const hl_cuda *cuda, void *stream, size_t size, hl_cuda_block *block);
int hl_cuda_free(const hl_cuda *cuda, const hl_cuda_block *block);
// hl_cuda_mark lets the event happen after all work in the stream, hl_cuda_passed says whether it has, and hl_cuda_await
// waits for it.
int hl_cuda_mark(const hl_cuda *cuda, void *stream, const hl_cuda_block *block);
bool hl_cuda_passed(const hl_cuda *cuda, const hl_cuda_block *block);
int hl_cuda_await(const hl_cuda *cuda, const hl_cuda_block *block);

#endif
