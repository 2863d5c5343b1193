// The structs of the PJRT C API that only a plugin fills. runtime/pjrt/abi.h has the structs that a caller of plugins
// needs too, and says how both are checked: abi_layout.h holds the offsets of the public header as numbers.

#ifndef HLOCB_ENGINE_ABI_H
#define HLOCB_ENGINE_ABI_H

#include "../../runtime/pjrt/abi.h"

// The PJRT version whose table the plugin has, and the number of functions in it.
enum { HL_PJRT_MINOR = 104, HL_PJRT_FUNCTIONS = 135 };

// Positions in hl_api.fn, beside the positions of runtime/pjrt/abi.h.
enum {
  HL_EVENT_ERROR = 7,
  HL_CLIENT_PROCESS_INDEX = 13,
  HL_CLIENT_DEVICES = 15,
  HL_CLIENT_LOOKUP_DEVICE = 17,
  HL_CLIENT_LOOKUP_ADDRESSABLE_DEVICE = 18,
  HL_CLIENT_ADDRESSABLE_MEMORIES = 19,
  HL_CLIENT_DEFAULT_DEVICE_ASSIGNMENT = 21,
  HL_DESCRIPTION_PROCESS_INDEX = 24,
  HL_DESCRIPTION_ATTRIBUTES = 25,
  HL_DESCRIPTION_TO_STRING = 28,
  HL_DEVICE_IS_ADDRESSABLE = 30,
  HL_DEVICE_ADDRESSABLE_MEMORIES = 32,
  HL_DEVICE_DEFAULT_MEMORY = 33,
  HL_DEVICE_MEMORY_STATS = 34,
  HL_MEMORY_ID = 35,
  HL_MEMORY_KIND = 36,
  HL_MEMORY_DEBUG_STRING = 37,
  HL_MEMORY_TO_STRING = 38,
  HL_MEMORY_DEVICES = 39,
  HL_EXECUTABLE_NAME = 41,
  HL_EXECUTABLE_NUM_REPLICAS = 42,
  HL_EXECUTABLE_NUM_PARTITIONS = 43,
  HL_EXECUTABLE_NUM_OUTPUTS = 44,
  HL_EXECUTABLE_CODE_SIZE = 45,
  HL_EXECUTABLE_COST_ANALYSIS = 46,
  HL_EXECUTABLE_OUTPUT_MEMORY_KINDS = 47,
  HL_LOADED_DELETE = 53,
  HL_LOADED_IS_DELETED = 54,
  HL_BUFFER_TYPE = 59,
  HL_BUFFER_DIMENSIONS = 60,
  HL_BUFFER_DYNAMIC_DIMENSIONS = 62,
  HL_BUFFER_SIZE = 64,
  HL_BUFFER_DEVICE = 65,
  HL_BUFFER_MEMORY = 66,
  HL_BUFFER_DELETE = 67,
  HL_BUFFER_IS_DELETED = 68,
  HL_BUFFER_UNSAFE_POINTER = 73,
  HL_TOPOLOGY_DESTROY = 83,
  HL_TOPOLOGY_PLATFORM_NAME = 84,
  HL_TOPOLOGY_PLATFORM_VERSION = 85,
  HL_TOPOLOGY_DESCRIPTIONS = 86,
  HL_TOPOLOGY_ATTRIBUTES = 88,
  HL_BUFFER_COPY_TO_MEMORY = 92,
  HL_CLIENT_VIEW_OF_DEVICE_BUFFER = 93,
  HL_EXECUTABLE_FINGERPRINT = 94,
  HL_CLIENT_TOPOLOGY = 95,
  HL_EXECUTABLE_MEMORY_STATS = 96,
  HL_MEMORY_KIND_ID = 97,
  HL_BUFFER_COPY_RAW_TO_HOST = 100,
  HL_LOADED_DEVICE_ASSIGNMENT = 117,
  HL_EXECUTABLE_COMPILE_OPTIONS = 124,
  HL_DEVICE_ATTRIBUTES = 128,
  HL_LOADED_LOGICAL_IDS = 130,
  HL_BUFFER_BITCAST = 131,
  HL_ERROR_PAYLOADS = 132,
  HL_TOPOLOGY_FINGERPRINT = 133,
  HL_EXECUTABLE_PARAMETER_MEMORY_KINDS = 134,
};

enum { HL_EXT_LAYOUTS = 4, HL_EXT_SHARDINGS = 19 };

// Codes of errors.
enum {
  HL_UNKNOWN = 2,
  HL_INVALID_ARGUMENT = 3,
  HL_NOT_FOUND = 5,
  HL_RESOURCE_EXHAUSTED = 8,
  HL_FAILED_PRECONDITION = 9,
  HL_UNIMPLEMENTED = 12,
  HL_INTERNAL = 13,
};

enum { HL_TYPE_TOKEN = 23 };

// hl_size_args returns one number of an object.
typedef struct {
  HL_HEAD;
  void *object;
  uint64_t number;  // out
} hl_size_args;

// hl_lookup_args finds a device by a number.
typedef struct {
  HL_HEAD;
  void *client;
  int32_t id;
  void *device;  // out
} hl_lookup_args;

// hl_counted_args returns a list whose length comes first.
typedef struct {
  HL_HEAD;
  void *object;
  size_t num_items;   // out
  const void *items;  // out
} hl_counted_args;

// hl_kinds_args returns the kinds of memory of an executable's parameters or results.
typedef struct {
  HL_HEAD;
  void *executable;
  size_t num_items;          // out
  const char *const *kinds;  // out
  const size_t *sizes;       // out
} hl_kinds_args;

typedef struct {
  HL_HEAD;
  void *client;
  int32_t replicas, partitions;
  size_t capacity;
  int32_t *assignment;  // written
} hl_assignment_args;

// hl_bytes_args returns bytes that are valid until backing is released.
typedef struct {
  HL_HEAD;
  void *object;
  const char *bytes;  // out
  size_t num_bytes;   // out
  void *backing;      // out
  void (*release)(void *backing);
} hl_bytes_args;

typedef struct {
  HL_HEAD;
  void *device;
  const hl_named_value *attributes;  // out
  size_t num_attributes;             // out
  void *backing;                     // out
  void (*release)(void *backing);    // out
} hl_device_attributes_args;

typedef struct {
  HL_HEAD;
  void *buffer, *to;
  void *copy;  // out
} hl_copy_args;

typedef struct {
  HL_HEAD;
  void *buffer;
  int32_t type;
  const int64_t *dims;
  size_t num_dims;
  hl_layout *layout;
  void *copy;  // out
} hl_bitcast_args;

typedef struct {
  HL_HEAD;
  void *buffer;
  void *data;
  int64_t offset, num_bytes;
  void *event;  // out
} hl_raw_args;

typedef struct {
  HL_HEAD;
  void *client;
  void *data;
  const int64_t *dims;
  size_t num_dims;
  int32_t type;
  hl_layout *layout;
  void *device;
  void (*on_delete)(void *data, void *arg);
  void *on_delete_arg;
  intptr_t stream;
  void *buffer;  // out
  void *memory;
} hl_view_args;

typedef struct {
  HL_HEAD;
  void *context;  // out
} hl_context_create_args;

typedef struct {
  HL_HEAD;
  void *executable;
  int64_t code, arguments, outputs, aliases, temporaries;                                // out, bytes
  int64_t host_code, host_arguments, host_outputs, host_aliases, host_temporaries, peak;  // out
} hl_memory_stats_args;

typedef struct {
  int32_t replica, partition;
} hl_logical_id;

// ---- Extensions ----

// The extension Layouts (xla/pjrt/c/pjrt_c_api_layouts_extension.h, version 3).
typedef struct {
  hl_ext base;
  hl_pjrt_fn destroy, serialize, client_default, buffer, topology_default, outputs, parameters;
} hl_layouts_ext;

typedef struct {
  HL_HEAD;
  void *object;  // a client or a topology
  int32_t type;
  const int64_t *dims;
  size_t num_dims;
  void *layout;  // out
} hl_default_layout_args;

// The extension Shardings (xla/pjrt/c/pjrt_c_api_shardings_extension.h).
typedef struct {
  hl_ext base;
  hl_pjrt_fn parameters, outputs;
} hl_shardings_ext;

// hl_kinds_args with xla.OpSharding protos is the argument of both functions.

// hl_user_data_args adds data to an execution's context. Newer versions of the extension have no release, and then a
// smaller size; release may be NULL, too.
typedef struct {
  HL_HEAD;
  void *context;
  int64_t type;
  void *data;
  void (*release)(void *data);
} hl_user_data_args;

// hl_register_type_args registers a type of user data by its name. An id of 0 asks for a new one.
typedef struct {
  HL_HEAD;
  const char *name;
  size_t name_size;
  int64_t id;  // in and out
} hl_register_type_args;

#include "abi_layout.h"

#endif
