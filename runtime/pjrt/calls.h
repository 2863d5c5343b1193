// C functions over the function table of a PJRT plugin. cgo cannot call a function pointer, and argument structs on the
// C stack cost nothing. Functions that return void * return a PJRT error (free it with hl_error_free) or NULL, unless
// their comment says otherwise.

#ifndef HLOCB_CALLS_H
#define HLOCB_CALLS_H

#include "abi.h"

// hl_open loads a shared object. On failure it returns NULL and a message that the caller frees; the message is NULL
// if there is no memory for it.
void *hl_open(const char *path, char **error);
// hl_get_api calls the object's GetPjrtApi. It fails as hl_open does.
const hl_api *hl_get_api(void *library, char **error);
void hl_close(void *library);

// hl_device_copy is the function of a plugin whose device memory the host cannot read. It copies between the host and
// the device, or within the device, after all work that precedes the call of a handler, and returns 0 when the bytes
// are there.
typedef int (*hl_device_copy)(void *dst, const void *src, size_t size, int direction);
#define HL_DEVICE_COPY "hlocb_device_copy"
enum { HL_FROM_HOST = 1, HL_TO_HOST = 2, HL_WITHIN = 3 };
// hl_find_copy returns the hl_device_copy of the library that contains a function of the table, or NULL.
hl_device_copy hl_find_copy(const hl_api *api);
int hl_copy(hl_device_copy copy, void *dst, const void *src, size_t size, int direction);

bool hl_has(const hl_api *api, int fn);
const hl_ext *hl_find_ext(const hl_api *api, int type);

void hl_error_free(const hl_api *api, void *error);

// ARGS declares a struct of arguments.
#define ARGS(type, name, ...) type name = {.size = sizeof(type), __VA_ARGS__}

// HL_FUNCTIONS limits the functions of a table, HL_EXTENSIONS the list of extensions.
enum { HL_FUNCTIONS = 512, HL_EXTENSIONS = 256 };
// hl_missing returns the function that a table lacks if the error says so, or -1.
int hl_missing(const void *error);
// hl_call calls a function of the table with its struct of arguments. If the table lacks the function, it returns an
// error for hl_missing.
void *hl_call(const hl_api *api, int fn, void *args);
void *hl_object(const hl_api *api, int fn, void *object);
void *hl_get(const hl_api *api, int fn, void *object, void **other);
// hl_is_ready reports whether an event has happened, or the plugin cannot tell.
bool hl_is_ready(const hl_api *api, void *event);
// hl_await waits for an event and destroys it.
void *hl_await(const hl_api *api, void *event);
// HL_SPIN is the time in nanoseconds for which a thread asks whether a GPU is done before it sleeps. Waking a thread
// takes as long as a copy of some MiB: a hook of 4 MiB in place takes 263 µs instead of 340 with a tenth of this time,
// and an empty run 46 instead of 76 without it (H100).
enum { HL_SPIN = 1000000 };
int64_t hl_now(void);
void hl_release(void (*release)(void *backing), void *backing);
// hl_trim returns the memory that XLA freed after compiling or loading. glibc keeps it otherwise: nearly 2 GB for a
// large program.
void hl_trim(void);

// hl_from_host copies row-major data into a new buffer, or borrows it if zero_copy is set. The data may be freed after
// the event in done; done is NULL if the data may be freed at once.
void *hl_from_host(const hl_api *api, void *client, void *device, const void *data, int32_t type, const int64_t *dims,
                   size_t rank, bool zero_copy, void **buffer, void **done);
// hl_to_host copies a buffer to row-major data and waits for the copy. order lists the dimensions from minor to major.
void *hl_to_host(const hl_api *api, void *buffer, void *data, size_t size, const int64_t *order, size_t rank);
// hl_is_row_major reports whether a buffer's memory is dense and row-major.
bool hl_is_row_major(const hl_api *api, void *buffer, size_t rank);
// hl_address returns the memory of a ready buffer and keeps it until hl_unhold.
void *hl_address(const hl_api *api, void *buffer, void **address);
void hl_unhold(const hl_api *api, void *buffer);
// hl_ready waits until a buffer is computed.
void *hl_ready(const hl_api *api, void *buffer);
// hl_execute runs an executable. wait says whether and how it waits for every device. arguments and outputs are flat
// lists of values, device by device. kept lists the arguments that are not donated even if the program donates them.
// *error is the first device's error. hl_execute returns false, and runs nothing, if there is no memory for its lists.
enum { HL_NO_WAIT, HL_WAIT, HL_WAIT_SPIN };
bool hl_execute(const hl_api *api, void *loaded, int32_t launch_id, int wait, size_t devices, void **arguments,
                size_t num_arguments, const int64_t *kept, size_t num_kept, void **outputs, size_t num_outputs,
                void **error);

// hl_steps runs an executable on one device several times, as hl_execute does. Output i of a run is argument carried[i]
// of the next run, unless carried[i] is -1. The caller keeps the first arguments and gets the last outputs.
bool hl_steps(const hl_api *api, void *loaded, int64_t steps, void **arguments, size_t num_arguments,
              const int64_t *kept, size_t num_kept, void **outputs, size_t num_outputs, const int64_t *carried,
              void **error);

// hl_register registers an FFI handler for a target on a platform.
void *hl_register(const hl_api *api, const hl_ffi_ext *ext, bool versioned, const char *target, void *handler,
                  const char *platform);

// Handlers.
// hl_metadata answers a request for a handler's FFI version. It returns false if the frame is another call.
bool hl_metadata(hl_ffi_frame *frame);
// hl_ffi_call calls a function of the FFI's table. It frees the function's error, and reports whether there was none.
bool hl_ffi_call(const hl_ffi_api *api, int fn, void *args);
// hl_ffi_failure creates the error that a handler returns.
void *hl_ffi_failure(const hl_ffi_api *api, const char *message, int32_t code);
// hl_returned returns the error for a message from Go, which it frees, or NULL for no message.
void *hl_returned(const hl_ffi_api *api, char *message);
// hl_stream returns the stream of a call, NULL on devices without streams.
void *hl_stream(hl_ffi_frame *frame);
// hl_ordinal returns the ordinal of the device of a call, 0 if the FFI does not say.
int32_t hl_ordinal(hl_ffi_frame *frame);
// hl_current_frame returns the frame of the hook that runs on this thread, or NULL.
hl_ffi_frame *hl_current_frame(void);
void *hl_hook_handler(hl_ffi_frame *frame);  // the trampoline to Go
void *hl_noop_handler(hl_ffi_frame *frame);  // does nothing: the yardstick for the cost of a call
void *hl_ids_handler(hl_ffi_frame *frame);    // reads the ids of hook, run and device
void *hl_cross_handler(hl_ffi_frame *frame);  // reads the ids and calls a Go function that does nothing
void *hl_probe_handler(hl_ffi_frame *frame);  // does nothing and records that a plugin requested its version
bool hl_probed(void);
enum { HL_TARGETS = 512 };
void *hl_target_handler(int slot);  // of a custom-call target that hlocb computes
// hl_forwarding_handler returns a handler that calls a handler of a program, which was built for version 0.minor of the
// FFI. A slot serves one handler.
void *hl_forwarding_handler(int slot, void *handler, int32_t minor);

// hl_future_create creates the future of an asynchronous handler. It returns NULL if the FFI has no futures. Exactly one
// call of hl_future_done or hl_future_fail completes the future, on any thread.
void *hl_future_create(hl_ffi_frame *frame);
void hl_future_done(const hl_ffi_api *api, void *future);
void hl_future_fail(const hl_ffi_api *api, void *future, const char *message);

// hl_enter_run marks this thread as running a handler of a run. hl_leave_run removes the mark.
void hl_enter_run(int64_t run_id);
void hl_leave_run(void);
// hl_current_run reports whether this thread runs a handler, and of which run.
bool hl_current_run(int64_t *run_id);

#endif
