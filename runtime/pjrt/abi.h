// The part that this package uses of two binary interfaces: the PJRT C API (a plugin's function table; each function
// takes one struct of arguments) and the XLA FFI (how a compiled program calls a handler). The layouts are from
// PJRT API 0.81 and XLA FFI API 0.2, and later minor versions keep them. abi_layout.h holds them as numbers, and the
// compiler checks the structs below against it.
//
// Every struct starts with its own size and a list of extensions. The callee writes the fields marked "out".

#ifndef HLOCB_ABI_H
#define HLOCB_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HL_HEAD \
  size_t size;  \
  struct hl_ext *ext

typedef struct hl_ext {
  size_t size;
  int32_t type;
  struct hl_ext *next;
} hl_ext;

typedef struct {
  HL_HEAD;
  int32_t major, minor;
} hl_version;

// ---- PJRT ----

typedef void *(*hl_pjrt_fn)(void *args);

// hl_api is the table that GetPjrtApi returns. Older plugins have fewer functions: hl_has compares with the size first.
typedef struct {
  HL_HEAD;
  hl_version version;
  hl_pjrt_fn fn[];
} hl_api;

// Positions in hl_api.fn.
enum {
  HL_ERROR_DESTROY = 0,
  HL_ERROR_MESSAGE = 1,
  HL_ERROR_CODE = 2,
  HL_PLUGIN_INITIALIZE = 3,
  HL_PLUGIN_ATTRIBUTES = 4,
  HL_EVENT_DESTROY = 5,
  HL_EVENT_IS_READY = 6,
  HL_EVENT_AWAIT = 8,
  HL_EVENT_ON_READY = 9,
  HL_CLIENT_CREATE = 10,
  HL_CLIENT_DESTROY = 11,
  HL_CLIENT_PLATFORM_NAME = 12,
  HL_CLIENT_PLATFORM_VERSION = 14,
  HL_CLIENT_ADDRESSABLE_DEVICES = 16,
  HL_CLIENT_COMPILE = 20,
  HL_CLIENT_BUFFER_FROM_HOST = 22,
  HL_DESCRIPTION_ID = 23,
  HL_DESCRIPTION_KIND = 26,
  HL_DESCRIPTION_DEBUG_STRING = 27,
  HL_DEVICE_DESCRIPTION = 29,
  HL_DEVICE_LOCAL_ID = 31,
  HL_EXECUTABLE_DESTROY = 40,
  HL_EXECUTABLE_OPTIMIZED_PROGRAM = 48,
  HL_EXECUTABLE_SERIALIZE = 49,
  HL_LOADED_DESTROY = 50,
  HL_LOADED_EXECUTABLE = 51,
  HL_LOADED_ADDRESSABLE_DEVICES = 52,
  HL_LOADED_EXECUTE = 55,
  HL_DESERIALIZE = 56,
  HL_BUFFER_DESTROY = 58,
  HL_BUFFER_UNPADDED_DIMENSIONS = 61,
  HL_BUFFER_MEMORY_LAYOUT = 63,
  HL_BUFFER_COPY_TO_DEVICE = 69,
  HL_BUFFER_TO_HOST = 70,
  HL_BUFFER_ON_CPU = 71,
  HL_BUFFER_READY = 72,
  HL_BUFFER_HOLD = 74,
  HL_BUFFER_UNHOLD = 75,
  HL_BUFFER_ADDRESS = 76,
  HL_COMPILE = 89,
  HL_EXECUTABLE_OUTPUT_TYPES = 90,
  HL_EXECUTABLE_OUTPUT_DIMENSIONS = 91,
  HL_CONTEXT_CREATE = 98,
  HL_CONTEXT_DESTROY = 99,
};

// Extensions of hl_api.
enum { HL_EXT_GPU = 0, HL_EXT_FFI = 5 };

typedef struct {
  HL_HEAD;
  const void *error;
  const char *message;  // out
  size_t message_size;  // out
} hl_error_message_args;

typedef struct {
  HL_HEAD;
  const void *error;
  int32_t code;  // out
} hl_error_code_args;

typedef struct {
  HL_HEAD;
} hl_plain_args;

enum { HL_VALUE_STRING = 0, HL_VALUE_INT64 = 1, HL_VALUE_INT64_LIST = 2, HL_VALUE_FLOAT = 3, HL_VALUE_BOOL = 4 };

typedef struct {
  HL_HEAD;
  const char *name;
  size_t name_size;
  int32_t type;
  union {
    const char *text;
    int64_t integer;
    const int64_t *integers;
    float real;
    bool boolean;
  } value;
  size_t value_size;  // elements of a list, bytes of a text, else 1
} hl_named_value;

typedef struct {
  HL_HEAD;
  const hl_named_value *attributes;  // out
  size_t num_attributes;             // out
} hl_plugin_attributes_args;

typedef struct {
  HL_HEAD;
  const hl_named_value *options;
  size_t num_options;
  void *kv_get, *kv_get_arg, *kv_put, *kv_put_arg;
  void *client;  // out
  void *kv_try_get, *kv_try_get_arg;
} hl_client_create_args;

// hl_object_args is the argument of every function that takes one object and returns nothing else.
typedef struct {
  HL_HEAD;
  void *object;
} hl_object_args;

typedef struct {
  HL_HEAD;
  void *event;
  void (*callback)(void *error, void *data);  // owns error
  void *data;
} hl_on_ready_args;

typedef struct {
  HL_HEAD;
  void *event;
  bool ready;  // out
} hl_is_ready_args;

typedef struct {
  HL_HEAD;
  void *object;
  const char *text;  // out
  size_t text_size;  // out
} hl_text_args;

typedef struct {
  HL_HEAD;
  void *object;
  int32_t number;  // out
} hl_int_args;

typedef struct {
  HL_HEAD;
  void *object;
  void *other;  // out
} hl_get_args;

typedef struct {
  HL_HEAD;
  void *object;
  void *const *items;  // out
  size_t num_items;    // out
} hl_list_args;

typedef struct {
  HL_HEAD;
  char *code;
  size_t code_size;
  const char *format;
  size_t format_size;
} hl_program;

typedef struct {
  HL_HEAD;
  void *client;
  const hl_program *program;
  const char *options;  // a CompileOptionsProto
  size_t options_size;
  void *loaded;  // out
} hl_compile_args;

// hl_compile_only_args compiles for a topology, which need not have devices here.
typedef struct {
  HL_HEAD;
  const void *topology;
  const hl_program *program;
  const char *options;
  size_t options_size;
  void *client;      // may be NULL
  void *executable;  // out
} hl_compile_only_args;

typedef struct {
  HL_HEAD;
  void *executable;
  hl_program *program;  // in and out
} hl_optimized_program_args;

// When the caller may change or free the host memory.
enum { HL_HOST_ONLY_DURING_CALL = 0, HL_HOST_ZERO_COPY = 2 };

typedef struct {
  HL_HEAD;
  void *client;
  const void *data;
  int32_t type;
  const int64_t *dims;
  size_t num_dims;
  const int64_t *byte_strides;  // none: row-major
  size_t num_byte_strides;
  int32_t semantics;
  void *device, *memory, *layout;
  void *done_with_data;  // out, an event
  void *buffer;          // out
} hl_from_host_args;

typedef struct {
  HL_HEAD;
  const int64_t *minor_to_major;
  size_t num_minor_to_major;
  const int64_t *tile_dims;
  const size_t *tile_sizes;
  size_t num_tiles;
} hl_tiled_layout;

typedef struct {
  HL_HEAD;
  hl_tiled_layout tiled;
  int32_t type;  // 0: tiled
} hl_layout;

typedef struct {
  HL_HEAD;
  void *buffer;
  hl_layout layout;  // out
} hl_memory_layout_args;

typedef struct {
  HL_HEAD;
  void *buffer;
  const int64_t *dims;  // out
  size_t num_dims;      // out
} hl_buffer_dims_args;

typedef struct {
  HL_HEAD;
  void *buffer;
  void *device;
  void *copied;  // out
} hl_copy_to_device_args;

typedef struct {
  HL_HEAD;
  void *buffer;
  hl_layout *layout;
  void *data;
  size_t data_size;  // in and out
  void *event;       // out
} hl_to_host_args;

typedef struct {
  HL_HEAD;
  void *send, *recv;
  size_t num_send, num_recv;
  int32_t launch_id;
  const int64_t *not_donated;
  size_t num_not_donated;
  void *context;
  const char *location;
  size_t num_tasks;
  int32_t *task_ids;
  int64_t *incarnations;
} hl_execute_options;

typedef struct {
  HL_HEAD;
  void *loaded;
  hl_execute_options *options;
  void *const *const *arguments;  // [num_devices][num_arguments]
  size_t num_devices, num_arguments;
  void **const *outputs;  // [num_devices][outputs of the executable], out
  void **events;          // [num_devices], out
  void *device;
} hl_execute_args;

typedef struct {
  HL_HEAD;
  void *executable;
  const int32_t *types;  // out
  size_t num_types;      // out
} hl_output_types_args;

typedef struct {
  HL_HEAD;
  void *executable;
  size_t num_outputs;
  const int64_t *dims;  // out, of all outputs, one after the other
  const size_t *ranks;  // out
} hl_output_dims_args;

typedef struct {
  HL_HEAD;
  const void *executable;
  const char *bytes;  // out, valid until backing is released
  size_t num_bytes;   // out
  void *backing;      // out
  void (*release)(void *backing);
} hl_serialize_args;

typedef struct {
  HL_HEAD;
  void *client;
  const char *bytes;
  size_t num_bytes;
  void *loaded;  // out
  const char *options;
  size_t num_options;
} hl_deserialize_args;

// The FFI extension of hl_api. Its registration has two layouts: that of API 0.81 and later, and an earlier layout with
// a version in the middle. Neither has a list of extensions, and no wheel carries the header that declares them.
typedef struct {
  hl_ext base;
  hl_pjrt_fn register_type, add_user_data, register_handler;
} hl_ffi_ext;

typedef struct {
  size_t size;
  const char *target;
  size_t target_size;
  void *handler;
  const char *platform;
  size_t platform_size;
  int32_t traits;
} hl_register_args;

typedef struct {
  size_t size;
  const char *target;
  size_t target_size;
  int32_t api_version;
  void *handler;
  const char *platform;
  size_t platform_size;
  int32_t traits;
} hl_register_versioned_args;

// ---- XLA FFI ----

typedef void *(*hl_ffi_fn)(void *args);

// Positions in hl_ffi_api.fn.
enum {
  HL_FFI_ERROR_CREATE = 0,
  HL_FFI_ERROR_MESSAGE = 1,
  HL_FFI_ERROR_DESTROY = 2,
  HL_FFI_HANDLER_REGISTER = 3,
  HL_FFI_STREAM_GET = 4,
  HL_FFI_TYPE_REGISTER = 5,
  HL_FFI_CONTEXT_GET = 6,
  HL_FFI_STATE_SET = 7,
  HL_FFI_STATE_GET = 8,
  HL_FFI_ALLOCATE = 9,
  HL_FFI_FREE = 10,
  HL_FFI_SCHEDULE = 11,
  HL_FFI_NUM_THREADS = 12,
  HL_FFI_FUTURE_CREATE = 13,
  HL_FFI_FUTURE_SET_AVAILABLE = 14,
  HL_FFI_FUTURE_SET_ERROR = 15,
  HL_FFI_RUN_ID = 16,
  HL_FFI_DEVICE_ORDINAL = 17,
  HL_FFI_FUNCTIONS
};

typedef struct {
  HL_HEAD;
  hl_version version;
  const void *internal;
  hl_ffi_fn fn[];
} hl_ffi_api;

typedef struct {
  HL_HEAD;
  int32_t dtype;
  void *data;
  int64_t rank;
  int64_t *dims;
} hl_ffi_buffer;

enum { HL_FFI_BUFFER = 1 };

// hl_ffi_list holds a frame's operands or results: n pointers to hl_ffi_buffer, each with the kind HL_FFI_BUFFER.
typedef struct {
  HL_HEAD;
  int64_t n;
  int32_t *kinds;
  hl_ffi_buffer **items;
} hl_ffi_list;

typedef struct {
  const char *ptr;
  size_t len;
} hl_ffi_span;

// hl_ffi_attrs is sorted by name. A string is an hl_ffi_span.
typedef struct {
  HL_HEAD;
  int64_t n;
  int32_t *kinds;
  hl_ffi_span **names;
  void **items;
} hl_ffi_attrs;

typedef struct {
  int32_t dtype;
  void *value;
} hl_ffi_scalar;

typedef struct {
  int32_t dtype;
  size_t n;
  void *data;
} hl_ffi_array;

// The FFI version of hlocb's frames and tables.
enum { HL_FFI_MAJOR = 0, HL_FFI_MINOR = 3 };

enum { HL_FFI_ATTR_ARRAY = 1, HL_FFI_ATTR_DICTIONARY = 2, HL_FFI_ATTR_SCALAR = 3, HL_FFI_ATTR_STRING = 4 };

enum { HL_FFI_STAGE_EXECUTE = 3, HL_FFI_EXT_METADATA = 1 };

typedef struct {
  HL_HEAD;
  const hl_ffi_api *api;
  void *ctx;
  int32_t stage;
  hl_ffi_list operands;
  hl_ffi_list results;
  hl_ffi_attrs attrs;
  void *future;  // out
} hl_ffi_frame;

typedef struct {
  size_t size;
  hl_version version;
  uint32_t traits;
  int64_t state_type;
} hl_ffi_metadata;

typedef struct {
  hl_ext base;
  hl_ffi_metadata *metadata;
} hl_ffi_metadata_ext;

typedef struct {
  HL_HEAD;
  const char *message;
  int32_t code;
} hl_ffi_error_args;

typedef struct {
  HL_HEAD;
  void *error;
  const char *message;  // out
} hl_ffi_error_message_args;

typedef struct {
  HL_HEAD;
  void *error;
} hl_ffi_error_destroy_args;

typedef struct {
  HL_HEAD;
  void *ctx;
  size_t bytes, alignment;
  void *data;  // out
} hl_ffi_allocate_args;

typedef struct {
  HL_HEAD;
  void *ctx;
  size_t bytes;
  void *data;
} hl_ffi_free_args;

typedef struct {
  HL_HEAD;
  void *ctx;
  void (*task)(void *data);
  void *data;
} hl_ffi_schedule_args;

typedef struct {
  HL_HEAD;
  void *ctx;
  int64_t *num_threads;  // out
} hl_ffi_num_threads_args;

typedef struct {
  HL_HEAD;
  void *ctx;
  const int64_t *type;
  void *data;  // out
} hl_ffi_context_args;

typedef struct {
  HL_HEAD;
  void *ctx;
  void *stream;  // out
} hl_ffi_stream_args;

typedef struct {
  HL_HEAD;
  void *ctx;
  int64_t run_id;  // out
} hl_ffi_run_id_args;

typedef struct {
  HL_HEAD;
  void *ctx;
  int32_t ordinal;  // out
} hl_ffi_ordinal_args;

typedef struct {
  HL_HEAD;
  void *future;
} hl_ffi_future_args;

typedef struct {
  HL_HEAD;
  void *future;
  void *error;
} hl_ffi_future_error_args;

// ---- Layout ----

#define HL_AT(type, field, at) _Static_assert(offsetof(type, field) == at, "offset of " #type "." #field)
#define HL_SIZE(type, bytes) _Static_assert(sizeof(type) == bytes, "size of " #type)
#define HL_IS(constant, value) _Static_assert(constant == value, "value of " #constant)
#include "abi_layout.h"

#endif
