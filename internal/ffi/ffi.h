// Calls of XLA FFI handlers in shared libraries, with hlocb's own call frame. They need no plugin: hlocb implements the
// functions that a handler reaches through its frame (errors, futures, memory, threads).

#ifndef HLOCB_FFI_H
#define HLOCB_FFI_H

// Go's cache of builds sees no change of a header in another directory. The next line changes with it: a test compares.
// sha256 b2f69258ce7f011e6ddc74b0cc523ab3c72930b00688f8fd6a9288b510f7c6e9
#include "../../runtime/pjrt/abi.h"

// hl_ffi_open loads a shared object. On failure it returns NULL and a message that the caller frees; the message is NULL
// if there is no memory for it.
void *hl_ffi_open(const char *path, char **error);
void hl_ffi_close(void *library);
// hl_ffi_symbol looks up a symbol in a library that hl_ffi_open opened. It fails as hl_ffi_open does.
void *hl_ffi_symbol(void *library, const char *name, char **error);

// hl_ffi_handler_version asks a handler for the FFI version that it was compiled with, -1 if the handler does not answer.
// It returns NULL or a message that the caller frees.
char *hl_ffi_handler_version(void *handler, int32_t *major, int32_t *minor);

// hl_ffi_handler_context is what a handler can ask about its call.
typedef struct {
  int64_t run_id;
  int32_t ordinal;
  void *user_data;  // a function void *(void *of, int64_t type), which returns NULL for an unknown type; NULL if there is none
  void *of;
} hl_ffi_handler_context;

// hl_ffi_handler_call calls a handler and waits until the call is complete. buffers holds the operands, then the results.
// *code is 0 or the code of the handler's error. hl_ffi_handler_call returns the error's message, which the caller frees,
// or NULL if there is none.
char *hl_ffi_handler_call(void *handler, hl_ffi_buffer *buffers, int64_t operands, int64_t results, const hl_ffi_attrs *attrs,
                      hl_ffi_handler_context context, int32_t *code);

#endif
