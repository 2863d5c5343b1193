#define _GNU_SOURCE  // dladdr

#include "calls.h"

#include "crash.h"

#include <dlfcn.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char *copy_dlerror(void) {
  const char *e = dlerror();
  return strdup(e ? e : "unknown loader error");
}

void *hl_open(const char *path, char **error) {
  hl_inside call = {.path = path};
  hl_enter(&call);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  hl_leave(&call);
  if (!library) *error = copy_dlerror();
  return library;
}

const hl_api *hl_get_api(void *library, char **error) {
  const hl_api *(*get)(void) = (const hl_api *(*)(void))dlsym(library, "GetPjrtApi");
  if (!get) {
    *error = copy_dlerror();
    return NULL;
  }
  Dl_info in = {0};
  dladdr((void *)get, &in);
  hl_inside call = {.path = in.dli_fname};
  hl_enter(&call);
  const hl_api *api = get();
  hl_leave(&call);
  if (!api) *error = strdup("GetPjrtApi returned no table");
  return api;
}

void hl_close(void *library) { dlclose(library); }

hl_device_copy hl_find_copy(const hl_api *api) {
  const void *last = NULL;
  hl_device_copy copy = NULL;
  for (int i = 0; !copy && i < HL_FUNCTIONS; i++) {
    Dl_info in;
    if (!hl_has(api, i) || !dladdr((void *)api->fn[i], &in) || in.dli_fbase == last) continue;
    last = in.dli_fbase;
    void *library = dlopen(in.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    if (!library) continue;
    copy = (hl_device_copy)dlsym(library, HL_DEVICE_COPY);
    dlclose(library);  // the caller keeps it open
  }
  return copy;
}

int hl_copy(hl_device_copy copy, void *dst, const void *src, size_t size, int direction) {
  return copy(dst, src, size, direction);
}

bool hl_has(const hl_api *api, int fn) {
  return api->size >= offsetof(hl_api, fn) + (size_t)(fn + 1) * sizeof(hl_pjrt_fn) && api->fn[fn] != NULL;
}

const hl_ext *hl_find_ext(const hl_api *api, int type) {
  if (api->size < offsetof(hl_api, version)) return NULL;
  const hl_ext *e = api->ext;
  for (int i = 0; e && i < HL_EXTENSIONS; i++, e = e->next)
    if (e->type == type) return e;
  return NULL;
}

// The address of an element is the error of a function that a plugin's table lacks.
static const char missing[HL_FUNCTIONS];

int hl_missing(const void *error) {
  uintptr_t fn = (uintptr_t)error - (uintptr_t)missing;
  return fn < HL_FUNCTIONS ? (int)fn : -1;
}

void hl_error_free(const hl_api *api, void *error) {
  if (!error || hl_missing(error) >= 0) return;
  ARGS(hl_object_args, a, .object = error);
  hl_call(api, HL_ERROR_DESTROY, &a);
}

void *hl_call(const hl_api *api, int fn, void *args) {
  if (!hl_has(api, fn)) return (void *)&missing[fn];
  hl_inside call = {.api = api, .fn = fn};
  hl_enter(&call);
  void *e = api->fn[fn](args);
  hl_leave(&call);
  return e;
}

void *hl_object(const hl_api *api, int fn, void *object) {
  ARGS(hl_object_args, a, .object = object);
  return hl_call(api, fn, &a);
}

void *hl_get(const hl_api *api, int fn, void *object, void **other) {
  ARGS(hl_get_args, a, .object = object);
  void *e = hl_call(api, fn, &a);
  *other = a.other;
  return e;
}

void hl_trim(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

void hl_release(void (*release)(void *backing), void *backing) {
  if (release) release(backing);
}

void *hl_await(const hl_api *api, void *event) {
  if (!event) return NULL;
  ARGS(hl_object_args, a, .object = event);
  void *e = hl_call(api, HL_EVENT_AWAIT, &a);
  ARGS(hl_object_args, d, .object = event);
  hl_error_free(api, hl_call(api, HL_EVENT_DESTROY, &d));
  return e;
}

void *hl_from_host(const hl_api *api, void *client, void *device, const void *data, int32_t type, const int64_t *dims,
                   size_t rank, bool zero_copy, void **buffer, void **done) {
  static const char nothing[64];  // a buffer without elements still needs an address
  ARGS(hl_from_host_args, a, .client = client, .data = data ? data : nothing, .type = type, .dims = dims,
       .num_dims = rank, .semantics = zero_copy ? HL_HOST_ZERO_COPY : HL_HOST_ONLY_DURING_CALL, .device = device);
  void *e = hl_call(api, HL_CLIENT_BUFFER_FROM_HOST, &a);
  *buffer = a.buffer;
  *done = NULL;
  if (e) return e;
  if (zero_copy)
    *done = a.done_with_data;
  else if (a.done_with_data) {
    ARGS(hl_object_args, d, .object = a.done_with_data);
    hl_error_free(api, hl_call(api, HL_EVENT_DESTROY, &d));
  }
  return NULL;
}

void *hl_to_host(const hl_api *api, void *buffer, void *data, size_t size, const int64_t *order, size_t rank) {
  ARGS(hl_layout, layout);
  layout.tiled.size = sizeof layout.tiled;
  layout.tiled.minor_to_major = order;
  layout.tiled.num_minor_to_major = rank;
  ARGS(hl_to_host_args, a, .buffer = buffer, .layout = &layout, .data = data, .data_size = size);
  void *e = hl_call(api, HL_BUFFER_TO_HOST, &a);
  if (e) return e;
  return hl_await(api, a.event);
}

bool hl_is_row_major(const hl_api *api, void *buffer, size_t rank) {
  ARGS(hl_memory_layout_args, a, .buffer = buffer);
  void *e = hl_call(api, HL_BUFFER_MEMORY_LAYOUT, &a);
  if (e) {
    hl_error_free(api, e);
    return false;
  }
  if (a.layout.type != 0 || a.layout.tiled.num_tiles != 0 || a.layout.tiled.num_minor_to_major != rank) return false;
  for (size_t i = 0; i < rank; i++)
    if (a.layout.tiled.minor_to_major[i] != (int64_t)(rank - 1 - i)) return false;
  return true;
}

void *hl_address(const hl_api *api, void *buffer, void **address) {
  void *e = hl_object(api, HL_BUFFER_HOLD, buffer);
  if (e) return e;
  e = hl_get(api, HL_BUFFER_ADDRESS, buffer, address);
  if (e) hl_unhold(api, buffer);
  return e;
}

void hl_unhold(const hl_api *api, void *buffer) { hl_error_free(api, hl_object(api, HL_BUFFER_UNHOLD, buffer)); }

void *hl_ready(const hl_api *api, void *buffer) {
  void *event = NULL;
  void *e = hl_get(api, HL_BUFFER_READY, buffer, &event);
  if (e) return e;
  return hl_await(api, event);
}

int64_t hl_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

bool hl_is_ready(const hl_api *api, void *event) {
  ARGS(hl_is_ready_args, a, .event = event);
  void *e = hl_call(api, HL_EVENT_IS_READY, &a);
  hl_error_free(api, e);
  return e || a.ready;
}

// spin waits for an event for a while.
static void spin(const hl_api *api, void *event) {
  if (!event) return;
  int64_t end = hl_now() + HL_SPIN;
  while (!hl_is_ready(api, event) && hl_now() < end) continue;
}

bool hl_execute(const hl_api *api, void *loaded, int32_t launch_id, int wait, size_t devices, void **arguments,
                size_t num_arguments, const int64_t *kept, size_t num_kept, void **outputs, size_t num_outputs,
                void **error) {
  // One block holds the lists of lists and the events.
  size_t words = 3 * devices;
  void *small[64];
  void **block = words <= sizeof small / sizeof *small ? small : calloc(words, sizeof *block);
  if (!block) return false;
  void **argument_lists = block, **output_lists = block + devices, **events = block + 2 * devices;
  for (size_t d = 0; d < devices; d++) {
    argument_lists[d] = arguments + d * num_arguments;
    output_lists[d] = outputs + d * num_outputs;
    events[d] = NULL;
  }

  ARGS(hl_execute_options, options, .launch_id = launch_id, .not_donated = kept, .num_not_donated = num_kept);
  ARGS(hl_execute_args, a, .loaded = loaded, .options = &options, .arguments = (void *const *const *)argument_lists,
       .num_devices = devices, .num_arguments = num_arguments, .outputs = (void **const *)output_lists,
       .events = wait ? events : NULL);
  void *first = hl_call(api, HL_LOADED_EXECUTE, &a);
  if (!first && wait)
    for (size_t d = 0; d < devices; d++) {
      if (wait == HL_WAIT_SPIN) spin(api, events[d]);
      void *e = hl_await(api, events[d]);
      if (e && !first)
        first = e;
      else
        hl_error_free(api, e);
    }
  if (block != small) free(block);
  *error = first;
  return true;
}

bool hl_steps(const hl_api *api, void *loaded, int64_t steps, void **arguments, size_t num_arguments,
              const int64_t *kept, size_t num_kept, void **outputs, size_t num_outputs, const int64_t *carried,
              void **error) {
  for (int64_t step = 0; step < steps; step++) {
    if (!hl_execute(api, loaded, 0, HL_WAIT, 1, arguments, num_arguments, kept, num_kept, outputs, num_outputs, error)) return false;
    bool last = step + 1 == steps || *error;
    for (size_t i = 0; i < num_outputs; i++) {
      if (carried[i] >= 0 && step > 0) hl_error_free(api, hl_object(api, HL_BUFFER_DESTROY, arguments[carried[i]]));
      if (last) continue;
      if (carried[i] >= 0)
        arguments[carried[i]] = outputs[i];
      else
        hl_error_free(api, hl_object(api, HL_BUFFER_DESTROY, outputs[i]));
      outputs[i] = NULL;
    }
    if (last) break;
  }
  return true;
}

void *hl_register(const hl_api *api, const hl_ffi_ext *ext, bool versioned, const char *target, void *handler,
                  const char *platform) {
  if (versioned) {
    ARGS(hl_register_versioned_args, a, .target = target, .target_size = strlen(target), .api_version = 1,
         .handler = handler, .platform = platform, .platform_size = strlen(platform));
    return ext->register_handler(&a);
  }
  ARGS(hl_register_args, a, .target = target, .target_size = strlen(target), .handler = handler, .platform = platform,
       .platform_size = strlen(platform));
  return ext->register_handler(&a);
}
