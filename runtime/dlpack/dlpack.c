#include "dlpack.h"

#include <stdatomic.h>
#include <stdlib.h>

// block is the memory of a managed tensor of either kind.
typedef struct {
  union {
    hl_dl_managed plain;
    hl_dl_versioned versioned;
  } managed;
  atomic_int owners;
  int64_t numbers[];  // shape, then strides
} block;

static int let_go(block *b) {
  if (atomic_fetch_sub(&b->owners, 1) != 1) return 0;
  free(b);
  return 1;
}

static void delete_plain(hl_dl_managed *self) { let_go(self->context); }

static void delete_versioned(hl_dl_versioned *self) { let_go(self->context); }

void *hl_dlpack_new(int versioned, hl_dl_device device, void *data, uint8_t code, uint8_t bits, const int64_t *shape, int32_t ndim, uint64_t flags) {
  block *b = calloc(1, sizeof *b + 2 * (size_t)ndim * sizeof(int64_t));
  if (!b) return NULL;
  atomic_init(&b->owners, 2);
  int64_t *strides = b->numbers + ndim, step = 1;
  for (int32_t i = ndim - 1; i >= 0; i--) {
    b->numbers[i] = shape[i];
    strides[i] = step;
    step *= shape[i] ? shape[i] : 1;
  }
  hl_dl_tensor t = {.data = data, .device = device, .ndim = ndim, .dtype = {code, bits, 1}, .shape = b->numbers, .strides = strides};
  if (versioned) {
    b->managed.versioned = (hl_dl_versioned){.version = {1, 1}, .context = b, .deleter = delete_versioned, .flags = flags, .tensor = t};
    return &b->managed.versioned;
  }
  b->managed.plain = (hl_dl_managed){.tensor = t, .context = b, .deleter = delete_plain};
  return &b->managed.plain;
}

int hl_dlpack_drop(void *managed, int versioned) {
  block *b = versioned ? ((hl_dl_versioned *)managed)->context : ((hl_dl_managed *)managed)->context;
  return let_go(b);
}

void hl_dlpack_delete(void *managed, int versioned) {
  if (versioned)
    ((hl_dl_versioned *)managed)->deleter(managed);
  else
    ((hl_dl_managed *)managed)->deleter(managed);
}
