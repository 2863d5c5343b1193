#ifndef HLOCB_PYTHON_H
#define HLOCB_PYTHON_H

#include "abi.h"

// hl_value is an operand or result of a Python callback: row-major, a byte per element for types that XLA packs.
typedef struct {
  void *data;
  size_t size;
  int32_t dtype;  // as in the FFI; 17 is a token
  int64_t rank;
  const int64_t *dims;
} hl_value;

enum { HL_FFI_TOKEN = 17 };

// HL_PYTHON_KEY is set in the index of a function that JAX does not attach: it is a key of hlocb_jax.functions.
#define HL_PYTHON_KEY (UINT64_C(1) << 62)

// hl_dtype_name returns the name of an FFI element type in NumPy or ml_dtypes, or NULL.
const char *hl_dtype_name(int32_t dtype);

// hl_python_call calls the Python function at index in the list that JAX attached to this execution, or the function
// with a key. It returns NULL, or a message that the caller frees.
char *hl_python_call(const hl_ffi_api *api, void *ctx, uint64_t index, const hl_value *operands, size_t num_operands,
                     const hl_value *results, size_t num_results);

// hl_python_handler serves JAX's custom calls of Python functions on a plugin that has no handler for them.
void *hl_python_handler(hl_ffi_frame *frame);

#endif
