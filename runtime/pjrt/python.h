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

// HL_PYTHON_KEY is set in the index of a function that JAX does not attach: it is a key of hlocb.callbacks.functions.
#define HL_PYTHON_KEY (UINT64_C(1) << 62)

// hl_python_functions returns the list of Python functions that JAX attached to this execution, or NULL if it attached
// none, or index is the key of a function that needs no list.
const void *hl_python_functions(const hl_ffi_frame *frame, uint64_t index);

// hl_python_call calls the Python function at index in the list that JAX attached to an execution, or the function
// with a key, which needs no list. If it returns false, the caller frees the message, which is NULL if there is no memory for it.
bool hl_python_call(const void *functions, uint64_t index, const hl_value *operands, size_t num_operands,
                    const hl_value *results, size_t num_results, char **message);

// hl_python_targets returns the custom-call targets that the process's Python program registered with jaxlib for a
// platform: lines of an address, a blank and a name. The address is 0 if the handler is more than one function. The
// caller frees the text, which is NULL if the process has no Python, and the message of a failure, which is NULL without
// one.
char *hl_python_targets(const char *platform, char **message);

// hl_python_handler serves JAX's custom calls of Python functions on a plugin that has no handler for them.
void *hl_python_handler(hl_ffi_frame *frame);

#endif
