// Plain C functions over the table of a PJRT plugin: cgo cannot call a function pointer, and an argument
// struct on the C stack costs nothing. Each returns a PJRT error (destroy with hl_error_free) or NULL.

#ifndef HLOCB_CALLS_H
#define HLOCB_CALLS_H

#include "abi.h"

// hl_open loads a shared object. On failure it returns NULL and a message to be freed.
void *hl_open(const char *path, char **error);
// hl_get_api calls the object's GetPjrtApi; on failure as hl_open.
const hl_api *hl_get_api(void *library, char **error);
void hl_close(void *library);

bool hl_has(const hl_api *api, int fn);
const hl_ext *hl_find_ext(const hl_api *api, int type);

int hl_error_read(const hl_api *api, void *error, const char **message, size_t *size);
void hl_error_free(const hl_api *api, void *error);

void *hl_plugin_init(const hl_api *api);
void *hl_plugin_attributes(const hl_api *api, const hl_named_value **attributes, size_t *n);
void *hl_client_create(const hl_api *api, const char *const *names, const int64_t *values, size_t n, void **client);
void *hl_object(const hl_api *api, int fn, void *object);
void *hl_text(const hl_api *api, int fn, void *object, const char **text, size_t *size);
void *hl_int(const hl_api *api, int fn, void *object, int32_t *number);
void *hl_get(const hl_api *api, int fn, void *object, void **other);
void *hl_count(const hl_api *api, int fn, void *object, size_t *number);
void *hl_list(const hl_api *api, int fn, void *object, void *const **items, size_t *n);
// hl_await waits for an event and destroys it.
void *hl_await(const hl_api *api, void *event);
void *hl_is_ready(const hl_api *api, void *event, bool *ready);
void *hl_default_assignment(const hl_api *api, void *client, int32_t replicas, int32_t partitions, int32_t *assignment);
void *hl_compile(const hl_api *api, void *client, const char *code, size_t code_size, const char *format,
                 size_t format_size, const char *options, size_t options_size, void **loaded);
void *hl_optimized_program(const hl_api *api, void *executable, char *code, size_t *code_size, const char **format,
                           size_t *format_size);
void *hl_output_types(const hl_api *api, void *executable, const int32_t **types, size_t *n);
void *hl_output_dims(const hl_api *api, void *executable, const int64_t **dims, const size_t **ranks, size_t *n);
void *hl_serialize(const hl_api *api, void *executable, const char **bytes, size_t *n, void **backing, void **release);
void hl_release(void *release, void *backing);
void *hl_deserialize(const hl_api *api, void *client, const char *bytes, size_t n, const char *options,
                     size_t num_options, void **loaded);

// hl_from_host copies (or, with zero_copy, borrows) row-major data into a new buffer. done is an event after
// which the data may be freed; it is NULL where that is at once.
void *hl_from_host(const hl_api *api, void *client, void *device, const void *data, int32_t type, const int64_t *dims,
                   size_t rank, bool zero_copy, void **buffer, void **done);
// hl_to_host copies a buffer to row-major data and waits for it.
void *hl_to_host(const hl_api *api, void *buffer, void *data, size_t size, size_t rank);
// hl_is_row_major tells whether a buffer's memory is dense and row-major.
bool hl_is_row_major(const hl_api *api, void *buffer, size_t rank);
// hl_read copies a ready buffer straight from its memory, which must be the host's, dense and row-major.
void *hl_read(const hl_api *api, void *buffer, void *data, size_t size);
// hl_execute runs an executable. arguments and outputs are flat, a device's after the other's; no argument is
// donated. It waits until every device is done and returns the first device's error where more than one failed.
void *hl_execute(const hl_api *api, void *loaded, int32_t launch_id, size_t devices, void **arguments,
                 size_t num_arguments, void **outputs, size_t num_outputs);

// hl_register registers an FFI handler for a target on a platform.
void *hl_register(const hl_api *api, const hl_ffi_ext *ext, bool versioned, const char *target, void *handler,
                  const char *platform);

// Handlers.
void *hl_hook_handler(hl_ffi_frame *frame);  // the trampoline to Go
void *hl_noop_handler(hl_ffi_frame *frame);  // does nothing: the yardstick for the cost of a call
const char *hl_noop_target(void);
void *hl_ids_handler(hl_ffi_frame *frame);    // reads what a hook is told of itself, and no more
void *hl_cross_handler(hl_ffi_frame *frame);  // and calls a Go function that does nothing
void *hl_probe_handler(hl_ffi_frame *frame);  // does nothing and remembers that a plugin asked for its version
bool hl_probed(void);

// hl_future_create makes the future of an asynchronous handler, NULL where the FFI has none. Exactly one of the
// other two completes it, on any thread.
void *hl_future_create(hl_ffi_frame *frame);
void hl_future_done(const hl_ffi_api *api, void *future);
void hl_future_fail(const hl_ffi_api *api, void *future, const char *message);

// hl_enter_run and hl_leave_run say that this thread runs a handler of a run, and no longer.
void hl_enter_run(int64_t run_id);
void hl_leave_run(void);
// hl_current_run tells whether this thread is inside a hook's handler, and of which run.
bool hl_current_run(int64_t *run_id);

#endif
