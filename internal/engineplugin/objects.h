// The objects behind the opaque pointers of the PJRT C API. C answers all questions about them; Go compiles, executes
// and allocates.

#ifndef HLOCB_ENGINE_OBJECTS_H
#define HLOCB_ENGINE_OBJECTS_H

#include "abi.h"

#include <pthread.h>
#include <stdatomic.h>

// An error of the API. The caller of the API owns it.
typedef struct {
  int32_t code;
  size_t size;
  char message[];
} he_error;

he_error *he_fail(int32_t code, const char *format, ...) __attribute__((format(printf, 2, 3)));

// he_event is ready when a run has ended. It is shared by the run and all values that the run computes.
typedef struct he_waiter he_waiter;
typedef struct {
  atomic_int refs;
  atomic_bool done;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  he_error *error;     // of the run; NULL if it succeeded
  he_waiter *waiters;  // called when the event is ready
} he_event;

he_event *he_event_new(void);
he_event *he_event_hold(he_event *e);
void he_event_drop(he_event *e);
// he_event_wait returns the event's error, which the event owns.
he_error *he_event_wait(he_event *e);
// he_event_set makes the event ready. The event owns the error from then on.
void he_event_set(he_event *e, he_error *error);
// he_ready is an event that is ready without an error. Nobody counts its references.
extern he_event he_ready;

typedef struct he_client he_client;
typedef struct he_device he_device;

enum { HE_MEMORIES = 3 };  // kinds of memory of a device, which are the same memory

typedef struct {
  he_device *device;
  int32_t id, kind;
  char debug[48];
} he_memory;

struct he_device {
  he_client *client;
  int32_t id;
  he_memory memories[HE_MEMORIES];  // the first is the default
  he_memory *memory_list[HE_MEMORIES];
  char debug[24], text[24];
};

struct he_client {
  int32_t num_devices;
  he_device *devices;
  he_device **device_list;
  he_memory **memory_list;
  char *version;  // of the platform
};

// he_value is the memory of a value. Several buffers may share it. Its fields change only before event is ready.
typedef struct {
  atomic_int refs;
  he_event *event;
  void *data;
  size_t size;
  bool pooled;  // the memory is the pool's; only then a program may overwrite it
  void (*release)(void *data, void *arg);  // of memory that is not the pool's; may be NULL
  void *release_arg;
} he_value;

// he_event_on_ready calls callback with a copy of the error, now or when the event is ready.
void he_event_on_ready(he_event *e, void (*callback)(void *error, void *data), void *data);

he_value *he_value_new(he_event *event);
he_value *he_value_hold(he_value *v);
void he_value_drop(he_value *v);

typedef struct {
  he_memory *memory;
  int32_t type;
  pthread_mutex_t lock;
  bool deleted;
  int held;  // external references
  he_value *value;
  size_t num_dims;
  int64_t dims[];
} he_buffer;

typedef struct {
  bool owned;  // by an executable
  size_t size;
  char text[];
} he_layout;

typedef struct {
  int32_t type;  // a PJRT element type, or HL_TYPE_TOKEN
  size_t num_dims;
  int64_t *dims;
  size_t size;  // bytes
  bool donated;
  int32_t memory;  // its kind
  he_layout *layout;
  char *sharding;  // an xla.OpSharding, or NULL
  size_t sharding_size;
} he_type;

// he_executable is both the executable and the loaded executable of the API. Go fills it.
typedef struct {
  atomic_int refs;
  he_client *client;
  uintptr_t program;  // Go's handle
  char *name, *fingerprint;
  int32_t replicas, partitions;
  size_t num_devices;
  he_device **devices;     // replicas outermost
  hl_logical_id *logical;  // of each device
  size_t num_parameters, num_results;
  he_type *parameters, *results;
  bool hooks;            // runs stay on the caller's thread, because handlers may be Python functions
  bool quick;            // a hint: the last run was so short that the next one stays on the caller's thread
  atomic_bool deleted, loaded;
  char *text, *options;  // the program and its options, as they were given
  size_t text_size, options_size;
  char *format;
  char *shown;  // the program without Shardy's ops, for users; NULL until somebody asks
  size_t shown_size;
  // Flat lists for the API.
  int32_t *result_types;
  int64_t *result_dims;
  size_t *result_ranks;
  const char **kinds, **parameter_kinds;
  size_t *kind_sizes, *parameter_kind_sizes;
  const char **parameter_shardings, **result_shardings;
  size_t *parameter_sharding_sizes, *result_sharding_sizes;
  he_layout **parameter_layouts, **result_layouts;
} he_executable;

void he_executable_drop(he_executable *e);

// he_context holds the data that the caller adds to an execution.
typedef struct {
  atomic_int refs;
  void *functions;  // JAX's list of Python functions
  struct he_user_data *data;
} he_context;

void he_context_add(he_context *c, int64_t type, void *data, void (*release)(void *data));
void he_context_drop(he_context *c);
// he_user_data_function returns a function void *(void *context, int64_t type), which returns NULL for an unknown type.
void *he_user_data_function(void);

// he_run is one execution of a program.
typedef struct {
  he_executable *executable;
  he_event *event;
  size_t num_devices;
  he_context *context;
  int64_t id;            // for handlers
  he_value **arguments;  // [num_devices][parameters]
  bool *own;             // [parameters]: the program may overwrite the memory of the argument
  he_value **results;    // [num_devices][results]
} he_run;

// he_run_end makes the results of a run ready, with an error or NULL, and frees the run.
void he_run_end(he_run *r, he_error *error);
// he_run_share makes result i of device d the same memory as that of device from.
void he_run_share(he_run *r, size_t d, size_t from, size_t i);

// he_executable_lists makes the flat lists of an executable from its types.
void he_executable_lists(he_executable *e);

// he_sizes and he_packed hold, by PJRT element type, the bytes of an element and the bits that XLA packs it into, 0 if it
// does not. Go fills them once.
enum { HE_TYPES = 40 };
extern uint8_t he_sizes[HE_TYPES], he_packed[HE_TYPES];
// he_size returns the bytes of an array, SIZE_MAX if the engine has no such type.
size_t he_size(int32_t type, const int64_t *dims, size_t n);

// For Go.
he_error *he_copy(int32_t code, const char *message);
const char *he_message(const he_error *e);
int he_sole(he_value *v);  // whether v has one reference

const hl_api *he_api(void);

#endif
