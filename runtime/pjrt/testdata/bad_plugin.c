// A plugin that misbehaves in the way that the variable BAD names. Otherwise it is the plugin that REAL_PLUGIN names.
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../abi.h"

static hl_api *table;
static const hl_api *real;

static void *crash(void *a) {
  (void)a;
  *(volatile int *)8 = 1;
  return NULL;
}
static void *die(void *a) {
  (void)a;
  abort();
}
static void *leave(void *a) {
  (void)a;
  exit(0);
}
static void *leave_at_once(void *a) {
  (void)a;
  _exit(0);
}
static void *endless(void *a) {
  (void)a;
  for (;;) sleep(1);
}
static void *on_own_thread(void *a) {
  (void)a;
  pthread_t t;
  pthread_create(&t, NULL, crash, NULL);
  for (;;) sleep(1);
}
static void *nothing(void *a) {  // success without results
  (void)a;
  return NULL;
}
static void *bad_text(void *a) {
  ((hl_text_args *)a)->text = NULL;
  ((hl_text_args *)a)->text_size = 5;
  return NULL;
}
static void *tpu(void *a) {
  ((hl_text_args *)a)->text = "tpu";
  ((hl_text_args *)a)->text_size = 3;
  return NULL;
}
static void *cuda(void *a) {
  ((hl_text_args *)a)->text = "cuda";
  ((hl_text_args *)a)->text_size = 4;
  return NULL;
}
static void *huge_text(void *a) {
  ((hl_text_args *)a)->text = "cpu";
  ((hl_text_args *)a)->text_size = (size_t)1 << 40;
  return NULL;
}
static void *bad_list(void *a) {
  ((hl_list_args *)a)->items = NULL;
  ((hl_list_args *)a)->num_items = 7;
  return NULL;
}
static void *bad_types(void *a) {
  ((hl_output_types_args *)a)->types = NULL;
  ((hl_output_types_args *)a)->num_types = 1;
  return NULL;
}
static void *more_types(void *a) {
  void *e = real->fn[HL_EXECUTABLE_OUTPUT_TYPES](a);
  ((hl_output_types_args *)a)->num_types = 3;
  return e;
}
static void *bad_ranks(void *a) {
  static size_t rank = (size_t)1 << 60;
  void *e = real->fn[HL_EXECUTABLE_OUTPUT_DIMENSIONS](a);
  ((hl_output_dims_args *)a)->ranks = &rank;
  return e;
}
static void *odd_type(void *a) {
  static int32_t type = 99;
  void *e = real->fn[HL_EXECUTABLE_OUTPUT_TYPES](a);
  ((hl_output_types_args *)a)->types = &type;
  return e;
}
static void *no_size(void *a) {
  static int64_t dim = -1;
  void *e = real->fn[HL_EXECUTABLE_OUTPUT_DIMENSIONS](a);
  ((hl_output_dims_args *)a)->dims = &dim;
  return e;
}
static void *no_items(void *a) {
  ((hl_list_args *)a)->num_items = 0;
  return NULL;
}
static void *foreign_device(void *a) {
  static char device;
  static void *devices[] = {&device};
  ((hl_list_args *)a)->items = devices;
  ((hl_list_args *)a)->num_items = 1;
  return NULL;
}
static void *more_sizes(void *a) {
  void *e = real->fn[HL_BUFFER_UNPADDED_DIMENSIONS](a);
  ((hl_buffer_dims_args *)a)->num_dims++;
  return e;
}
static void *huge_size(void *a) {
  static int64_t dim = 5;
  ((hl_buffer_dims_args *)a)->dims = &dim;
  ((hl_buffer_dims_args *)a)->num_dims = 1;
  return NULL;
}
static char error;
static void *fail(void *a) {
  (void)a;
  return &error;
}
static void *bad_message(void *a) {
  ((hl_error_message_args *)a)->message = NULL;
  ((hl_error_message_args *)a)->message_size = (size_t)1 << 50;
  return NULL;
}

static void *no_events(void *a) {  // the events of the devices are NULL
  hl_execute_args *args = a;
  void *e = real->fn[HL_LOADED_EXECUTE](a);
  for (size_t d = 0; !e && args->events && d < args->num_devices; d++) args->events[d] = NULL;
  return e;
}

// The FFI that the handler of hlocb's hooks gets refuses to tell the run and the device. It counts its errors.
static hl_pjrt_fn register_any;
static void *(*hook)(hl_ffi_frame *);
static const hl_ffi_api *ffi;
static char refusal;
static _Atomic int refused, destroyed;

static void *refuse(void *a) {
  (void)a;
  refused++;
  return &refusal;
}
static void *destroy(void *a) {
  if (((hl_ffi_error_destroy_args *)a)->error != &refusal) return ffi->fn[HL_FFI_ERROR_DESTROY](a);
  destroyed++;
  return NULL;
}
static void *refusing_hook(hl_ffi_frame *frame) {
  if (frame->ext || frame->stage != HL_FFI_STAGE_EXECUTE) return hook(frame);
  ffi = frame->api;
  hl_ffi_api *changed = malloc(ffi->size);
  memcpy(changed, ffi, ffi->size);
  changed->fn[HL_FFI_RUN_ID] = changed->fn[HL_FFI_DEVICE_ORDINAL] = refuse;
  changed->fn[HL_FFI_ERROR_DESTROY] = destroy;
  frame->api = changed;
  void *e = hook(frame);
  frame->api = ffi;
  free(changed);
  fprintf(stderr, "%d errors, %d left\n", refused, refused - destroyed);
  return e;
}
static void *register_refusing(void *a) {
  hl_register_args *args = a;
  if (args->target_size == 10 && !memcmp(args->target, "hlocb_hook", 10)) {
    hook = (void *(*)(hl_ffi_frame *))args->handler;
    args->handler = (void *)refusing_hook;
  }
  return register_any(a);
}

// "counts": the version of the platform says how many of the plugin's objects are live.
enum { CLIENTS, LOADED, EXECUTABLES, BUFFERS, HOLDS, EVENTS, KINDS };
static _Atomic int live[KINDS];

static void *made(void *e, int kind, const void *object) {
  if (!e && object) live[kind]++;
  return e;
}
#define DESTROY(name, fn_, kind)    \
  static void *name(void *a) {      \
    live[kind]--;                   \
    return real->fn[fn_](a);        \
  }
DESTROY(end_client, HL_CLIENT_DESTROY, CLIENTS)
DESTROY(end_loaded, HL_LOADED_DESTROY, LOADED)
DESTROY(end_executable, HL_EXECUTABLE_DESTROY, EXECUTABLES)
DESTROY(end_buffer, HL_BUFFER_DESTROY, BUFFERS)
DESTROY(end_hold, HL_BUFFER_UNHOLD, HOLDS)
DESTROY(end_event, HL_EVENT_DESTROY, EVENTS)
#define MAKE(name, fn_, kind, type, field)   \
  static void *name(void *a) {               \
    void *e = real->fn[fn_](a);              \
    return made(e, kind, ((type *)a)->field); \
  }
MAKE(make_client, HL_CLIENT_CREATE, CLIENTS, hl_client_create_args, client)
MAKE(make_loaded, HL_CLIENT_COMPILE, LOADED, hl_compile_args, loaded)
MAKE(load, HL_DESERIALIZE, LOADED, hl_deserialize_args, loaded)
MAKE(make_executable, HL_LOADED_EXECUTABLE, EXECUTABLES, hl_get_args, other)
MAKE(make_copy, HL_BUFFER_COPY_TO_DEVICE, BUFFERS, hl_copy_to_device_args, copied)
MAKE(make_hold, HL_BUFFER_HOLD, HOLDS, hl_object_args, object)
MAKE(make_ready, HL_BUFFER_READY, EVENTS, hl_get_args, other)
MAKE(to_host, HL_BUFFER_TO_HOST, EVENTS, hl_to_host_args, event)
static void *upload(void *a) {
  hl_from_host_args *args = a;
  void *e = real->fn[HL_CLIENT_BUFFER_FROM_HOST](a);
  made(e, BUFFERS, args->buffer);
  return made(e, EVENTS, args->done_with_data);
}
static void *execute(void *a) {
  hl_execute_args *args = a;
  hl_get_args get = {.size = sizeof get, .object = args->loaded};
  real->fn[HL_LOADED_EXECUTABLE](&get);
  hl_output_types_args types = {.size = sizeof types, .executable = get.other};
  real->fn[HL_EXECUTABLE_OUTPUT_TYPES](&types);
  hl_object_args end = {.size = sizeof end, .object = get.other};
  size_t n = types.num_types;
  real->fn[HL_EXECUTABLE_DESTROY](&end);
  void *e = real->fn[HL_LOADED_EXECUTE](a);
  for (size_t d = 0; !e && d < args->num_devices; d++) {
    live[BUFFERS] += n;
    if (args->events) made(e, EVENTS, args->events[d]);
  }
  return e;
}
static void (*release_any)(void *);
static void release_counted(void *backing) {
  live[HOLDS]--;
  release_any(backing);
}
static void *serialize(void *a) {
  hl_serialize_args *args = a;
  void *e = real->fn[HL_EXECUTABLE_SERIALIZE](a);
  if (e) return e;
  live[HOLDS]++;
  release_any = args->release;
  args->release = release_counted;
  return NULL;
}
static void *counts(void *a) {
  static _Thread_local char text[200];
  hl_text_args *args = a;
  args->text_size = snprintf(text, sizeof text, "%d clients, %d loaded, %d executables, %d buffers, %d holds, %d events", live[CLIENTS],
                             live[LOADED], live[EXECUTABLES], live[BUFFERS], live[HOLDS], live[EVENTS]);
  args->text = text;
  return NULL;
}

const void *GetPjrtApi(void) {
  if (table) return table;
  const char *bad = getenv("BAD");
  real = ((const hl_api *(*)(void))dlsym(dlopen(getenv("REAL_PLUGIN"), RTLD_NOW | RTLD_LOCAL), "GetPjrtApi"))();
  table = malloc(real->size);
  memcpy(table, real, real->size);
  static const struct {
    const char *name;
    int fn;
    hl_pjrt_fn with;
  } changes[] = {
      {"no initialize", HL_PLUGIN_INITIALIZE, NULL},
      {"no devices", HL_CLIENT_ADDRESSABLE_DEVICES, NULL},
      {"no ready event", HL_BUFFER_READY, NULL},
      {"no upload", HL_CLIENT_BUFFER_FROM_HOST, NULL},
      {"no compile", HL_CLIENT_COMPILE, NULL},
      {"no callback", HL_EVENT_ON_READY, NULL},
      {"no error message", HL_ERROR_MESSAGE, NULL},
      {"no error code", HL_ERROR_CODE, NULL},
      {"no destroy of events", HL_EVENT_DESTROY, NULL},
      {"crash at start", HL_PLUGIN_INITIALIZE, crash},
      {"crash in create", HL_CLIENT_CREATE, crash},
      {"abort in compile", HL_CLIENT_COMPILE, die},
      {"crash on a thread", HL_LOADED_EXECUTE, on_own_thread},
      {"exit in execute", HL_LOADED_EXECUTE, leave},
      {"exit in compile", HL_CLIENT_COMPILE, leave},
      {"_exit in create", HL_CLIENT_CREATE, leave_at_once},
      {"_exit in execute", HL_LOADED_EXECUTE, leave_at_once},
      {"endless create", HL_CLIENT_CREATE, endless},
      {"endless compile", HL_CLIENT_COMPILE, endless},
      {"endless execute", HL_LOADED_EXECUTE, endless},
      {"no client", HL_CLIENT_CREATE, nothing},
      {"no program", HL_CLIENT_COMPILE, nothing},
      {"no results", HL_LOADED_EXECUTE, nothing},
      {"no events", HL_LOADED_EXECUTE, no_events},
      {"no text", HL_CLIENT_PLATFORM_NAME, bad_text},
      {"tpu", HL_CLIENT_PLATFORM_NAME, tpu},
      {"cuda", HL_CLIENT_PLATFORM_NAME, cuda},
      {"no place of buffers", HL_BUFFER_ON_CPU, NULL},
      {"no device list of programs", HL_LOADED_ADDRESSABLE_DEVICES, NULL},
      {"huge text", HL_CLIENT_PLATFORM_VERSION, huge_text},
      {"no list", HL_CLIENT_ADDRESSABLE_DEVICES, bad_list},
      {"no types", HL_EXECUTABLE_OUTPUT_TYPES, bad_types},
      {"too many types", HL_EXECUTABLE_OUTPUT_TYPES, more_types},
      {"huge rank", HL_EXECUTABLE_OUTPUT_DIMENSIONS, bad_ranks},
      {"odd type", HL_EXECUTABLE_OUTPUT_TYPES, odd_type},
      {"no size", HL_EXECUTABLE_OUTPUT_DIMENSIONS, no_size},
      {"no addressable devices", HL_CLIENT_ADDRESSABLE_DEVICES, no_items},
      {"no description", HL_DEVICE_DESCRIPTION, nothing},
      {"no id", HL_DESCRIPTION_ID, NULL},
      {"no ordinal", HL_DEVICE_LOCAL_ID, NULL},
      {"no kind", HL_DESCRIPTION_KIND, NULL},
      {"no text of devices", HL_DESCRIPTION_DEBUG_STRING, NULL},
      {"no executable", HL_LOADED_EXECUTABLE, nothing},
      {"no devices of programs", HL_LOADED_ADDRESSABLE_DEVICES, no_items},
      {"foreign device", HL_LOADED_ADDRESSABLE_DEVICES, foreign_device},
      {"nothing uploaded", HL_CLIENT_BUFFER_FROM_HOST, nothing},
      {"nothing copied", HL_BUFFER_COPY_TO_DEVICE, nothing},
      {"no copy", HL_BUFFER_COPY_TO_DEVICE, NULL},
      {"nothing serialized", HL_EXECUTABLE_SERIALIZE, nothing},
      {"no serialization", HL_EXECUTABLE_SERIALIZE, NULL},
      {"no optimized program", HL_EXECUTABLE_OPTIMIZED_PROGRAM, NULL},
      {"empty optimized program", HL_EXECUTABLE_OPTIMIZED_PROGRAM, nothing},
      {"no unpadded sizes", HL_BUFFER_UNPADDED_DIMENSIONS, NULL},
      {"too many sizes", HL_BUFFER_UNPADDED_DIMENSIONS, more_sizes},
      {"huge size", HL_BUFFER_UNPADDED_DIMENSIONS, huge_size},
      {"no address", HL_BUFFER_ADDRESS, nothing},
      {"no address function", HL_BUFFER_ADDRESS, NULL},
      {"counts", HL_CLIENT_PLATFORM_VERSION, counts},
      {"counts", HL_CLIENT_CREATE, make_client},
      {"counts", HL_CLIENT_DESTROY, end_client},
      {"counts", HL_CLIENT_COMPILE, make_loaded},
      {"counts", HL_DESERIALIZE, load},
      {"counts", HL_LOADED_DESTROY, end_loaded},
      {"counts", HL_LOADED_EXECUTABLE, make_executable},
      {"counts", HL_EXECUTABLE_SERIALIZE, serialize},
      {"counts", HL_EXECUTABLE_DESTROY, end_executable},
      {"counts", HL_LOADED_EXECUTE, execute},
      {"counts", HL_CLIENT_BUFFER_FROM_HOST, upload},
      {"counts", HL_BUFFER_COPY_TO_DEVICE, make_copy},
      {"counts", HL_BUFFER_DESTROY, end_buffer},
      {"counts", HL_BUFFER_HOLD, make_hold},
      {"counts", HL_BUFFER_UNHOLD, end_hold},
      {"counts", HL_BUFFER_READY, make_ready},
      {"counts", HL_BUFFER_TO_HOST, to_host},
      {"counts", HL_EVENT_DESTROY, end_event},
  };
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
    if (!strcmp(bad, changes[i].name)) table->fn[changes[i].fn] = changes[i].with;
  if (!strcmp(bad, "no table")) return NULL;
  if (!strcmp(bad, "tiny table")) table->size = 8;
  if (!strcmp(bad, "short table")) table->size = offsetof(hl_api, fn) + HL_LOADED_EXECUTE * sizeof(hl_pjrt_fn);
  if (!strcmp(bad, "old")) table->version.minor = 1;
  if (!strcmp(bad, "too old")) table->version.minor = 53;
  if (!strcmp(bad, "oldest")) table->version.minor = 54;
  if (!strcmp(bad, "next major")) table->version.major = 1;
  if (!strcmp(bad, "extensions in a circle")) {
    static hl_ext a, b;
    a = (hl_ext){.size = sizeof a, .type = 90, .next = &b};
    b = (hl_ext){.size = sizeof b, .type = 91, .next = &a};
    table->ext = &a;
  }
  if (!strcmp(bad, "no ids")) {
    for (hl_ext **e = &table->ext; *e; e = &(*e)->next) {
      hl_ext *copy = memcpy(malloc((*e)->size), *e, (*e)->size);
      *e = copy;
      if (copy->type != HL_EXT_FFI) continue;
      register_any = ((hl_ffi_ext *)copy)->register_handler;
      ((hl_ffi_ext *)copy)->register_handler = register_refusing;
    }
  }
  if (!strcmp(bad, "error with errors")) {
    table->fn[HL_CLIENT_COMPILE] = fail;
    table->fn[HL_ERROR_MESSAGE] = bad_message;
    table->fn[HL_ERROR_CODE] = fail;
    table->fn[HL_ERROR_DESTROY] = nothing;
  }
  return table;
}
