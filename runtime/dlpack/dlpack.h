// Declarations of DLPack, the interface by which array libraries share memory: version 1.1 of
// https://dmlc.github.io/dlpack. The struct without a version is from 0.8.

#ifndef HLOCB_DLPACK_H
#define HLOCB_DLPACK_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint32_t major, minor;
} hl_dl_version;

typedef struct {
  int32_t type;  // 1: the host's memory, 2: that of CUDA's GPU id
  int32_t id;
} hl_dl_device;

typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} hl_dl_type;

typedef struct {
  void *data;
  hl_dl_device device;
  int32_t ndim;
  hl_dl_type dtype;
  int64_t *shape;
  int64_t *strides;  // in elements
  uint64_t byte_offset;
} hl_dl_tensor;

typedef struct hl_dl_managed {
  hl_dl_tensor tensor;
  void *context;
  void (*deleter)(struct hl_dl_managed *self);
} hl_dl_managed;

enum { HL_DL_READ_ONLY = 1, HL_DL_SUBBYTE_PADDED = 4 };

typedef struct hl_dl_versioned {
  hl_dl_version version;
  void *context;
  void (*deleter)(struct hl_dl_versioned *self);
  uint64_t flags;
  hl_dl_tensor tensor;
} hl_dl_versioned;

// hl_dlpack_new returns a managed tensor over row-major data, with its shape and strides in one block of memory. The
// block is freed when both sides have released it: the consumer by the deleter, the owner by hl_dlpack_drop.
void *hl_dlpack_new(int versioned, hl_dl_device device, void *data, uint8_t code, uint8_t bits, const int64_t *shape, int32_t ndim, uint64_t flags);

// hl_dlpack_drop releases the owner's side. It returns 1 if the consumer has already released its side, and otherwise 0:
// the consumer then loses the memory while it still has the tensor.
int hl_dlpack_drop(void *managed, int versioned);

// hl_dlpack_delete calls the deleter, as a consumer does.
void hl_dlpack_delete(void *managed, int versioned);

#endif
