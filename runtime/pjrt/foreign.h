// Calling an XLA FFI handler that somebody else wrote, from our own call frame. It needs no plugin: the functions that a
// handler reaches through its frame (errors, futures, memory, threads) are ours.

#ifndef HLOCB_FOREIGN_H
#define HLOCB_FOREIGN_H

#include "abi.h"

// hl_symbol looks a symbol up in a library that hl_open opened; on failure as hl_open.
void *hl_symbol(void *library, const char *name, char **error);

// hl_foreign_version asks a handler for the version of the FFI that it was compiled with, -1 where it does not answer. The
// message of an error is to be freed.
char *hl_foreign_version(void *handler, int32_t *major, int32_t *minor);

// hl_foreign_call calls a handler: operands, then results, lie in buffers. Where the handler completes its call later, it
// waits for that. It returns NULL or a message to be freed, and the error's code.
char *hl_foreign_call(void *handler, hl_ffi_buffer *buffers, int64_t operands, int64_t results, const hl_ffi_attrs *attrs,
                      int64_t run_id, int32_t ordinal, int32_t *code);

#endif
