// The function table of the plugin: GetPjrtApi returns it.

#include "objects.h"
#include "_cgo_export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FN(name, type) static void *name(type *a)

static void set_text(hl_text_args *a, const char *text) {
  a->text = text;
  a->text_size = strlen(text);
}

static void *unimplemented(const char *what) { return he_fail(HL_UNIMPLEMENTED, "hlocb's engine does not implement %s", what); }

// ---- Errors and events ----

FN(error_destroy, hl_object_args) {
  free(a->object);
  return NULL;
}

FN(error_message, hl_error_message_args) {
  const he_error *e = a->error;
  a->message = e->message;
  a->message_size = e->size;
  return NULL;
}

FN(error_code, hl_error_code_args) {
  a->code = ((const he_error *)a->error)->code;
  return NULL;
}

FN(error_payloads, hl_plain_args) { return NULL; }

static void *event_error(he_event *e) {
  he_error *error = he_event_wait(e);
  return error ? he_fail(error->code, "%s", error->message) : NULL;
}

FN(event_destroy, hl_object_args) {
  he_event_drop(a->object);
  return NULL;
}

FN(event_is_ready, hl_is_ready_args) {
  a->ready = ((he_event *)a->event)->done;
  return NULL;
}

FN(event_await, hl_object_args) { return event_error(a->object); }

FN(event_on_ready, hl_on_ready_args) {
  he_event_on_ready(a->event, a->callback, a->data);
  return NULL;
}

// ---- Plugin and clients ----

FN(plugin_initialize, hl_plain_args) { return NULL; }

FN(plugin_attributes, hl_plugin_attributes_args) {
  static hl_named_value list[3];
  static int64_t versions[2][3];
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  hlocbEngineVersions(versions[0], versions[1]);
  list[0] = (hl_named_value){.size = sizeof *list, .name = "xla_version", .name_size = 11, .type = HL_VALUE_INT64, .value.integer = 2, .value_size = 1};
  list[1] = (hl_named_value){.size = sizeof *list, .name = "stablehlo_current_version", .name_size = 25, .type = HL_VALUE_INT64_LIST, .value.integers = versions[0], .value_size = 3};
  list[2] = (hl_named_value){.size = sizeof *list, .name = "stablehlo_minimum_version", .name_size = 25, .type = HL_VALUE_INT64_LIST, .value.integers = versions[1], .value_size = 3};
  pthread_mutex_unlock(&lock);
  a->attributes = list;
  a->num_attributes = 3;
  return NULL;
}

static const char *const memory_kinds[HE_MEMORIES] = {"device", "pinned_host", "unpinned_host"};

static he_client *new_client(int n) {
  he_client *c = calloc(1, sizeof *c);
  if (!c) abort();
  c->num_devices = n;
  c->devices = calloc(n, sizeof *c->devices);
  c->device_list = calloc(n, sizeof *c->device_list);
  c->memory_list = calloc(n * HE_MEMORIES, sizeof *c->memory_list);
  if (!c->devices || !c->device_list || !c->memory_list) abort();
  for (int i = 0; i < n; i++) {
    he_device *d = c->device_list[i] = &c->devices[i];
    d->client = c;
    d->id = i;
    snprintf(d->debug, sizeof d->debug, "HLOCB_CPU_%d", i);
    snprintf(d->text, sizeof d->text, "CpuDevice(id=%d)", i);
    for (int k = 0; k < HE_MEMORIES; k++) {
      he_memory *m = d->memory_list[k] = c->memory_list[i * HE_MEMORIES + k] = &d->memories[k];
      *m = (he_memory){.device = d, .id = i * HE_MEMORIES + k, .kind = k};
      snprintf(m->debug, sizeof m->debug, "HLOCB_CPU_%d memory %s", i, memory_kinds[k]);
    }
  }
  c->version = hlocbEnginePlatformVersion();
  return c;
}

FN(client_create, hl_client_create_args) {
  int64_t devices = 0;
  for (size_t i = 0; i < a->num_options; i++) {
    const hl_named_value *o = &a->options[i];
    if (o->type == HL_VALUE_INT64 && o->name_size == 16 && !memcmp(o->name, "cpu_device_count", 16)) devices = o->value.integer;
  }
  if (devices == 0) devices = hlocbEngineDevices();
  if (devices < 1 || devices > 1 << 10) return he_fail(HL_INVALID_ARGUMENT, "cpu_device_count is %lld; expected 1 to 1024", (long long)devices);
  a->client = new_client((int)devices);
  return NULL;
}

FN(client_destroy, hl_object_args) {
  he_client *c = a->object;
  free(c->devices);
  free(c->device_list);
  free(c->memory_list);
  free(c->version);
  free(c);
  return NULL;
}

FN(client_platform_name, hl_text_args) {
  set_text(a, "cpu");
  return NULL;
}

FN(zero, hl_int_args) {
  a->number = 0;
  return NULL;
}

FN(client_platform_version, hl_text_args) {
  set_text(a, ((he_client *)a->object)->version);
  return NULL;
}

FN(client_devices, hl_list_args) {
  he_client *c = a->object;
  a->items = (void *const *)c->device_list;
  a->num_items = c->num_devices;
  return NULL;
}

FN(client_lookup, hl_lookup_args) {
  he_client *c = a->client;
  if (a->id < 0 || a->id >= c->num_devices) return he_fail(HL_INVALID_ARGUMENT, "no device has the number %d", a->id);
  a->device = &c->devices[a->id];
  return NULL;
}

FN(client_memories, hl_list_args) {
  he_client *c = a->object;
  a->items = (void *const *)c->memory_list;
  a->num_items = (size_t)c->num_devices * HE_MEMORIES;
  return NULL;
}

FN(client_assignment, hl_assignment_args) {
  he_client *c = a->client;
  int64_t n = (int64_t)a->replicas * a->partitions;
  if (a->replicas < 1 || a->partitions < 1 || n > c->num_devices || (size_t)n > a->capacity)
    return he_fail(HL_INVALID_ARGUMENT, "%d replicas of %d partitions need more than %d devices", a->replicas, a->partitions, c->num_devices);
  for (int64_t i = 0; i < n; i++) a->assignment[i] = (int32_t)i;
  return NULL;
}

// A client is its own topology, and a device its own description.

FN(get_self, hl_get_args) {
  a->other = a->object;
  return NULL;
}


FN(topology_attributes_of, hl_counted_args) {  // of a topology: the list comes first
  hl_list_args *l = (hl_list_args *)a;
  l->items = NULL;
  l->num_items = 0;
  return NULL;
}

FN(no_attributes, hl_counted_args) {
  a->num_items = 0;
  a->items = NULL;
  return NULL;
}

FN(topology_fingerprint, hl_size_args) {
  a->number = 0x686c6f63620000 + (uint64_t)((he_client *)a->object)->num_devices;
  return NULL;
}

FN(nothing, hl_plain_args) { return NULL; }

// ---- Devices and memories ----

FN(device_id, hl_int_args) {
  a->number = ((he_device *)a->object)->id;
  return NULL;
}

FN(device_kind, hl_text_args) {
  set_text(a, "cpu");
  return NULL;
}

FN(device_debug, hl_text_args) {
  set_text(a, ((he_device *)a->object)->debug);
  return NULL;
}

FN(device_text, hl_text_args) {
  set_text(a, ((he_device *)a->object)->text);
  return NULL;
}

FN(yes, hl_is_ready_args) {
  a->ready = true;
  return NULL;
}

FN(device_memories, hl_list_args) {
  a->items = (void *const *)((he_device *)a->object)->memory_list;
  a->num_items = HE_MEMORIES;
  return NULL;
}

FN(device_memory, hl_get_args) {
  a->other = &((he_device *)a->object)->memories[0];
  return NULL;
}

static void release_nothing(void *backing) {}

FN(device_attributes, hl_device_attributes_args) {
  a->attributes = NULL;
  a->num_attributes = 0;
  a->backing = NULL;
  a->release = release_nothing;
  return NULL;
}

FN(device_memory_stats, hl_plain_args) { return unimplemented("statistics of a device's memory"); }

FN(memory_id, hl_int_args) {
  a->number = ((he_memory *)a->object)->id;
  return NULL;
}

FN(memory_kind, hl_text_args) {
  set_text(a, memory_kinds[((he_memory *)a->object)->kind]);
  return NULL;
}

FN(memory_kind_id, hl_int_args) {
  a->number = ((he_memory *)a->object)->kind;
  return NULL;
}

FN(memory_debug, hl_text_args) {
  set_text(a, ((he_memory *)a->object)->debug);
  return NULL;
}

FN(memory_devices, hl_list_args) {
  he_memory *m = a->object;
  a->items = (void *const *)&m->device->client->device_list[m->device->id];
  a->num_items = 1;
  return NULL;
}

// ---- Compilation ----

static void *loaded_from(he_client *c, const char *code, size_t code_size, const char *format, size_t format_size,
                         const char *options, size_t options_size, void **loaded) {
  he_executable *e = calloc(1, sizeof *e);
  if (!e) abort();
  e->refs = 1;
  e->client = c;
  int32_t error = HL_INTERNAL;
  char *message = hlocbEngineCompile(e, (char *)code, code_size, (char *)format, format_size, (char *)options, options_size, &error);
  if (message) {
    void *failure = he_fail(error, "%s", message);
    free(message);
    he_executable_drop(e);
    return failure;
  }
  *loaded = e;
  return NULL;
}

FN(client_compile, hl_compile_args) {
  const hl_program *p = a->program;
  return loaded_from(a->client, p->code, p->code_size, p->format, p->format_size, a->options, a->options_size, &a->loaded);
}

// A serialized executable is its program and its options: size of the format, size of the options, format, options,
// program. Compiling it again takes milliseconds, and no machine code needs to be trusted.

static void free_backing(void *backing) { free(backing); }

FN(executable_serialize, hl_bytes_args) {
  he_executable *e = a->object;
  uint64_t sizes[2] = {strlen(e->format), e->options_size};
  size_t n = sizeof sizes + sizes[0] + sizes[1] + e->text_size;
  char *bytes = malloc(n), *at = bytes;
  if (!bytes) return he_fail(HL_RESOURCE_EXHAUSTED, "no memory for %zu bytes", n);
  at = mempcpy(at, sizes, sizeof sizes);
  at = mempcpy(at, e->format, sizes[0]);
  at = mempcpy(at, e->options, sizes[1]);
  memcpy(at, e->text, e->text_size);
  a->bytes = bytes;
  a->num_bytes = n;
  a->backing = bytes;
  a->release = free_backing;
  return NULL;
}

FN(deserialize, hl_deserialize_args) {
  uint64_t sizes[2], left = a->num_bytes;
  if (left < sizeof sizes) return he_fail(HL_INVALID_ARGUMENT, "the serialized executable is cut off");
  memcpy(sizes, a->bytes, sizeof sizes);
  left -= sizeof sizes;
  if (sizes[0] > left || sizes[1] > left - sizes[0]) return he_fail(HL_INVALID_ARGUMENT, "the serialized executable is damaged");
  const char *format = a->bytes + sizeof sizes, *options = format + sizes[0], *code = options + sizes[1];
  size_t code_size = left - sizes[0] - sizes[1], options_size = sizes[1];
  if (a->options) {
    options = a->options;
    options_size = a->num_options;
  }
  return loaded_from(a->client, code, code_size, format, sizes[0], options, options_size, &a->loaded);
}

FN(loaded_executable, hl_get_args) {
  he_executable *e = a->object;
  e->refs++;
  a->other = e;
  return NULL;
}

FN(executable_destroy, hl_object_args) {
  he_executable_drop(a->object);
  return NULL;
}

FN(executable_name, hl_text_args) {
  set_text(a, ((he_executable *)a->object)->name);
  return NULL;
}

FN(executable_fingerprint, hl_text_args) {
  ((he_executable *)a->object)->loaded = true;
  set_text(a, ((he_executable *)a->object)->fingerprint);
  return NULL;
}

FN(executable_replicas, hl_size_args) {
  a->number = ((he_executable *)a->object)->replicas;
  return NULL;
}

FN(executable_partitions, hl_size_args) {
  a->number = ((he_executable *)a->object)->partitions;
  return NULL;
}

FN(executable_outputs, hl_size_args) {
  a->number = ((he_executable *)a->object)->num_results;
  return NULL;
}

FN(executable_code_size, hl_size_args) {
  a->number = 0;  // no machine code
  return NULL;
}

FN(executable_output_types, hl_output_types_args) {
  he_executable *e = a->executable;
  a->types = e->result_types;
  a->num_types = e->num_results;
  return NULL;
}

FN(executable_output_dims, hl_output_dims_args) {
  he_executable *e = a->executable;
  a->num_outputs = e->num_results;
  a->dims = e->result_dims;
  a->ranks = e->result_ranks;
  return NULL;
}

FN(executable_output_kinds, hl_kinds_args) {
  he_executable *e = a->executable;
  a->num_items = e->num_results;
  a->kinds = e->kinds;
  a->sizes = e->kind_sizes;
  return NULL;
}

FN(executable_parameter_kinds, hl_kinds_args) {
  he_executable *e = a->executable;
  a->num_items = e->num_parameters;
  a->kinds = e->parameter_kinds;
  a->sizes = e->parameter_kind_sizes;
  return NULL;
}

// jaxlib asks for the program of each executable while it loads it, and converts it to HLO, which takes five times as
// long as compilation. It needs no answer then. Loading ends with the question for the fingerprint; later questions come
// from users. torch_xla needs the answer, and asks for the sizes before it.
FN(executable_program, hl_optimized_program_args) {
  he_executable *e = a->executable;
  hl_program *p = a->program;
  if (!e->loaded) return unimplemented("the program of an executable that is being loaded");
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  char *message = e->shown ? NULL : hlocbEngineShow(e);
  pthread_mutex_unlock(&lock);
  if (message) {
    void *error = he_fail(HL_INTERNAL, "%s", message);
    free(message);
    return error;
  }
  p->format = "mlir";
  p->format_size = strlen(p->format);
  if (p->code) memcpy(p->code, e->shown, e->shown_size);
  p->code_size = e->shown_size;
  return NULL;
}

FN(executable_memory_stats, hl_memory_stats_args) {
  he_executable *e = a->executable;
  e->loaded = true;
  hl_memory_stats_args out = {.size = a->size, .ext = a->ext, .executable = e};
  for (size_t i = 0; i < e->num_parameters; i++) out.arguments += (int64_t)e->parameters[i].size;
  for (size_t i = 0; i < e->num_results; i++) out.outputs += (int64_t)e->results[i].size;
  memcpy(a, &out, a->size < sizeof out ? a->size : sizeof out);
  return NULL;
}

FN(executable_options, hl_bytes_args) {
  he_executable *e = a->object;
  a->bytes = e->options;
  a->num_bytes = e->options_size;
  a->backing = NULL;
  a->release = release_nothing;
  return NULL;
}

FN(loaded_devices, hl_list_args) {
  he_executable *e = a->object;
  a->items = (void *const *)e->devices;
  a->num_items = e->num_devices;
  return NULL;
}

FN(loaded_logical_ids, hl_list_args) {
  he_executable *e = a->object;
  a->items = (void *const *)e->logical;
  a->num_items = e->num_devices;
  return NULL;
}

static char *put_int(char *at, uint64_t v) {
  for (; v >= 128; v >>= 7) *at++ = (char)(v | 128);
  *at++ = (char)v;
  return at;
}

// The assignment is an xla.DeviceAssignmentProto: replica_count, computation_count, and for each computation the devices
// of its replicas.
FN(loaded_assignment, hl_bytes_args) {
  he_executable *e = a->object;
  char *bytes = malloc(24 + 32 * e->num_devices), *at = bytes;
  if (!bytes) abort();
  *at++ = 1 << 3;
  at = put_int(at, e->replicas);
  *at++ = 2 << 3;
  at = put_int(at, e->partitions);
  for (int p = 0; p < e->partitions; p++) {
    char ids[10 * (e->replicas + 1)], *end = ids;
    for (int r = 0; r < e->replicas; r++) {
      *end++ = 1 << 3;
      end = put_int(end, e->devices[r * e->partitions + p]->id);
    }
    *at++ = 3 << 3 | 2;
    at = put_int(at, end - ids);
    at = mempcpy(at, ids, end - ids);
  }
  a->bytes = bytes;
  a->num_bytes = at - bytes;
  a->backing = bytes;
  a->release = free_backing;
  return NULL;
}

FN(loaded_delete, hl_object_args) {
  ((he_executable *)a->object)->deleted = true;
  return NULL;
}

FN(loaded_is_deleted, hl_is_ready_args) {
  a->ready = ((he_executable *)a->event)->deleted;
  return NULL;
}

// ---- Buffers ----

static he_buffer *new_buffer(he_memory *memory, int32_t type, const int64_t *dims, size_t n, he_value *value) {
  he_buffer *b = calloc(1, sizeof *b + n * sizeof *dims);
  if (!b) abort();
  b->memory = memory;
  b->type = type;
  pthread_mutex_init(&b->lock, NULL);
  b->value = value;
  b->num_dims = n;
  if (n) memcpy(b->dims, dims, n * sizeof *dims);
  return b;
}

// take returns the value of a buffer with a reference, or NULL if the buffer was deleted. With delete it deletes the
// buffer.
static he_value *take(he_buffer *b, bool delete) {
  pthread_mutex_lock(&b->lock);
  he_value *v = b->deleted ? NULL : he_value_hold(b->value);
  if (v && delete) {
    b->deleted = true;
    if (!b->held) {  // else the last external reference drops the value
      he_value_drop(b->value);
      b->value = NULL;
    }
  }
  pthread_mutex_unlock(&b->lock);
  return v;
}

static void *deleted_error(void) { return he_fail(HL_INVALID_ARGUMENT, "Buffer has been deleted or donated."); }

static he_memory *memory_of(he_device *device, he_memory *memory) { return memory ? memory : &device->memories[0]; }

// host_released tells the owner of host memory that no value needs it any more.
static void host_released(void *data, void *done) {
  he_event_set(done, NULL);
  he_event_drop(done);
}

FN(buffer_from_host, hl_from_host_args) {
  he_client *c = a->client;
  if (!a->memory && !a->device) a->device = &c->devices[0];
  size_t size = he_size(a->type, a->dims, a->num_dims);
  if (size == SIZE_MAX) return he_fail(HL_INVALID_ARGUMENT, "hlocb's engine has no arrays with PJRT's element type %d", a->type);
  bool dense = true;
  if (a->num_byte_strides) {
    int64_t step = he_sizes[a->type];
    for (size_t d = a->num_dims; d-- > 0;) {
      dense = dense && (a->dims[d] <= 1 || a->byte_strides[d] == step);
      step *= a->dims[d];
    }
  }
  he_value *v = he_value_new(&he_ready);
  v->size = size;
  he_event *done = &he_ready;
  if (a->semantics >= HL_HOST_ZERO_COPY && dense && (uintptr_t)a->data % 64 == 0 && size > 0) {
    v->data = (void *)a->data;
    done = he_event_new();  // set when the value is freed
    he_event_hold(done);
    v->release = host_released;
    v->release_arg = done;
  } else {
    char *message = hlocbEngineUpload(v, (void *)a->data, he_sizes[a->type], (int64_t *)a->dims, a->num_dims, dense ? NULL : (int64_t *)a->byte_strides);
    if (message) {
      void *error = he_fail(HL_RESOURCE_EXHAUSTED, "%s", message);
      free(message);
      he_value_drop(v);
      return error;
    }
  }
  a->done_with_data = done;
  a->buffer = new_buffer(memory_of(a->device, a->memory), a->type, a->dims, a->num_dims, v);
  return NULL;
}

static bool is_row_major(const hl_layout *l, size_t num_dims) {
  for (size_t i = 0; l && l->type == 0 && i < l->tiled.num_minor_to_major; i++)
    if (l->tiled.minor_to_major[i] != (int64_t)(num_dims - 1 - i)) return false;
  return true;
}

FN(view_of_memory, hl_view_args) {
  he_client *c = a->client;
  if (!a->memory && !a->device) a->device = &c->devices[0];
  size_t size = he_size(a->type, a->dims, a->num_dims);
  if (size == SIZE_MAX) return he_fail(HL_INVALID_ARGUMENT, "hlocb's engine has no arrays with PJRT's element type %d", a->type);
  if (!is_row_major(a->layout, a->num_dims)) return unimplemented("views of arrays that are not row-major");
  he_value *v = he_value_new(&he_ready);
  v->size = size;
  v->data = a->data;
  v->release = a->on_delete;
  v->release_arg = a->on_delete_arg;
  a->buffer = new_buffer(memory_of(a->device, a->memory), a->type, a->dims, a->num_dims, v);
  return NULL;
}

FN(buffer_destroy, hl_object_args) {
  he_buffer *b = a->object;
  if (b->value) he_value_drop(b->value);
  pthread_mutex_destroy(&b->lock);
  free(b);
  return NULL;
}

FN(buffer_type, hl_int_args) {
  a->number = ((he_buffer *)a->object)->type;
  return NULL;
}

FN(buffer_dims, hl_list_args) {
  he_buffer *b = a->object;
  a->items = (void *const *)b->dims;
  a->num_items = b->num_dims;
  return NULL;
}

FN(buffer_dynamic_dims, hl_list_args) {
  a->items = NULL;
  a->num_items = 0;
  return NULL;
}

enum { MAX_RANK = 64 };
static int64_t row_major[MAX_RANK];

FN(buffer_memory_layout, hl_memory_layout_args) {
  he_buffer *b = a->buffer;
  if (b->num_dims > MAX_RANK) return unimplemented("layouts of more than 64 dimensions");
  a->layout.type = 0;
  a->layout.tiled = (hl_tiled_layout){.size = a->layout.tiled.size, .minor_to_major = row_major + MAX_RANK - b->num_dims, .num_minor_to_major = b->num_dims};
  return NULL;
}

FN(buffer_size, hl_size_args) {
  he_buffer *b = a->object;
  a->number = he_size(b->type, b->dims, b->num_dims);
  return NULL;
}

FN(buffer_device, hl_get_args) {
  a->other = ((he_buffer *)a->object)->memory->device;
  return NULL;
}

FN(buffer_memory, hl_get_args) {
  a->other = ((he_buffer *)a->object)->memory;
  return NULL;
}

FN(buffer_delete, hl_object_args) {
  he_value *v = take(a->object, true);
  if (v) he_value_drop(v);
  return NULL;
}

FN(buffer_is_deleted, hl_is_ready_args) {
  he_buffer *b = a->event;
  pthread_mutex_lock(&b->lock);
  a->ready = b->deleted;
  pthread_mutex_unlock(&b->lock);
  return NULL;
}

static void *copy_to(he_buffer *b, he_memory *to, void **out) {
  he_value *v = take(b, false);
  if (!v) return deleted_error();
  *out = new_buffer(to, b->type, b->dims, b->num_dims, v);
  return NULL;
}

FN(buffer_copy_to_device, hl_copy_args) { return copy_to(a->buffer, &((he_device *)a->to)->memories[0], &a->copy); }
FN(buffer_copy_to_memory, hl_copy_args) { return copy_to(a->buffer, a->to, &a->copy); }

// packed_size returns the bytes of an array as XLA stores it: it packs elements narrower than a byte.
static size_t packed_size(int32_t type, const int64_t *dims, size_t n) {
  size_t size = he_size(type, dims, n);
  if (size == SIZE_MAX || type == HL_TYPE_TOKEN || !he_packed[type]) return size;
  size_t per = 8 / he_packed[type];
  return size / per + (size % per > 0);
}

// A bitcast shares the memory of its operand, unless only one of the types is narrower than a byte: the engine stores an
// element of such a type in a byte.
FN(buffer_bitcast, hl_bitcast_args) {
  he_buffer *b = a->buffer;
  size_t size = he_size(a->type, a->dims, a->num_dims), packed = packed_size(a->type, a->dims, a->num_dims);
  if (size == SIZE_MAX) return he_fail(HL_INVALID_ARGUMENT, "hlocb's engine has no arrays with PJRT's element type %d", a->type);
  if (!is_row_major(a->layout, a->num_dims)) return unimplemented("bitcasts to arrays that are not row-major");
  if (packed != packed_size(b->type, b->dims, b->num_dims))
    return he_fail(HL_INVALID_ARGUMENT, "a bitcast from %zu bytes to %zu", packed_size(b->type, b->dims, b->num_dims), packed);
  he_value *v = take(b, false);
  if (!v) return deleted_error();
  if (b->type != a->type && (he_packed[b->type] || he_packed[a->type])) {
    he_value *from = v;
    he_error *error = he_event_wait(from->event);
    void *failure = error ? he_fail(error->code, "%s", error->message) : NULL;
    if (!failure) {
      v = he_value_new(&he_ready);
      v->size = size;
      char *message = hlocbEngineBitcast(v, a->type, from->data, from->size, b->type, packed);
      if (message) {
        failure = he_fail(HL_RESOURCE_EXHAUSTED, "%s", message);
        free(message);
        he_value_drop(v);
      }
    }
    he_value_drop(from);
    if (failure) return failure;
  }
  a->copy = new_buffer(b->memory, a->type, a->dims, a->num_dims, v);
  return NULL;
}

// transfer copies bytes of a value when it is ready.
typedef struct {
  he_value *value;
  void *to;
  size_t offset, size;
  int32_t type;
  int64_t *order, *dims;  // of dimensions in the copy, from minor to major; NULL if it is row-major
  size_t num_dims;
  he_event *event;  // NULL: nobody waits
} transfer;

static void transfer_ready(void *failure, void *data) {
  transfer *t = data;
  he_error *error = failure;
  if (!error) {
    if (t->order)
      hlocbEngineReorder(t->to, t->value->data, t->size, he_sizes[t->type], t->dims, t->num_dims, t->order);
    else
      memcpy(t->to, (char *)t->value->data + t->offset, t->size);
  }
  he_value_drop(t->value);
  he_event_set(t->event, error);
  he_event_drop(t->event);
  free(t->order);
  free(t->dims);
  free(t);
}

static void *start_transfer(he_value *v, transfer t, void **event) {
  if (v->event->done && !v->event->error && !t.order) {
    memcpy(t.to, (char *)v->data + t.offset, t.size);
    he_value_drop(v);
    *event = &he_ready;
    return NULL;
  }
  transfer *p = malloc(sizeof *p);
  if (!p) abort();
  *p = t;
  p->value = v;
  p->event = he_event_new();
  *event = he_event_hold(p->event);
  he_event_on_ready(v->event, transfer_ready, p);
  return NULL;
}

FN(buffer_to_host, hl_to_host_args) {
  he_buffer *b = a->buffer;
  size_t size = he_size(b->type, b->dims, b->num_dims);
  if (!a->data) {
    a->data_size = size;
    return NULL;
  }
  if (a->data_size < size) return he_fail(HL_INVALID_ARGUMENT, "the array takes %zu bytes, the destination has %zu", size, a->data_size);
  transfer t = {.to = a->data, .size = size, .type = b->type};
  const hl_layout *l = a->layout;
  if (l && l->type == 0 && l->tiled.num_minor_to_major == b->num_dims) {
    bool same = true;
    for (size_t i = 0; i < b->num_dims; i++) same = same && l->tiled.minor_to_major[i] == (int64_t)(b->num_dims - 1 - i);
    if (!same) {
      t.num_dims = b->num_dims;
      t.order = malloc(b->num_dims * sizeof *t.order);
      t.dims = malloc(b->num_dims * sizeof *t.dims);
      if (!t.order || !t.dims) abort();
      memcpy(t.order, l->tiled.minor_to_major, b->num_dims * sizeof *t.order);
      memcpy(t.dims, b->dims, b->num_dims * sizeof *t.dims);
    }
  }
  he_value *v = take(b, false);
  if (!v) {
    free(t.order);
    free(t.dims);
    return deleted_error();
  }
  return start_transfer(v, t, &a->event);
}

FN(buffer_copy_raw, hl_raw_args) {
  he_buffer *b = a->buffer;
  size_t size = he_size(b->type, b->dims, b->num_dims);
  if (a->offset < 0 || a->num_bytes < 0 || (uint64_t)a->offset + (uint64_t)a->num_bytes > size)
    return he_fail(HL_INVALID_ARGUMENT, "bytes %lld to %lld are not in an array of %zu bytes", (long long)a->offset, (long long)(a->offset + a->num_bytes), size);
  he_value *v = take(b, false);
  if (!v) return deleted_error();
  return start_transfer(v, (transfer){.to = a->data, .offset = a->offset, .size = a->num_bytes}, &a->event);
}

FN(buffer_ready, hl_get_args) {
  he_buffer *b = a->object;
  pthread_mutex_lock(&b->lock);
  if (!b->value) {
    pthread_mutex_unlock(&b->lock);
    return deleted_error();
  }
  a->other = he_event_hold(b->value->event);
  pthread_mutex_unlock(&b->lock);
  return NULL;
}

FN(buffer_hold, hl_object_args) {
  he_buffer *b = a->object;
  pthread_mutex_lock(&b->lock);
  bool deleted = b->deleted;
  if (!deleted) {
    b->held++;
    he_value_hold(b->value);
  }
  pthread_mutex_unlock(&b->lock);
  return deleted ? deleted_error() : NULL;
}

FN(buffer_unhold, hl_object_args) {
  he_buffer *b = a->object;
  pthread_mutex_lock(&b->lock);
  he_value *v = b->held > 0 ? b->value : NULL;
  if (v && --b->held == 0 && b->deleted) {
    he_value_drop(v);
    b->value = NULL;
  }
  pthread_mutex_unlock(&b->lock);
  if (!v) return he_fail(HL_INVALID_ARGUMENT, "the buffer has no external reference");
  he_value_drop(v);
  return NULL;
}

// buffer_address waits for the value: its memory is allocated when it is computed.
FN(buffer_address, hl_get_args) {
  he_value *v = take(a->object, false);
  if (!v) return deleted_error();
  he_error *error = he_event_wait(v->event);
  void *failure = error ? he_fail(error->code, "%s", error->message) : NULL;
  a->other = v->data;
  he_value_drop(v);
  return failure;
}

// ---- Execution ----

FN(context_create, hl_context_create_args) {
  he_context *c = calloc(1, sizeof *c);
  if (!c) abort();
  c->refs = 1;
  a->context = c;
  return NULL;
}

FN(context_destroy, hl_object_args) {
  he_context_drop(a->object);
  return NULL;
}

static bool kept(const hl_execute_options *o, size_t i) {
  for (size_t k = 0; o && k < o->num_not_donated; k++)
    if (o->not_donated[k] == (int64_t)i) return true;
  return false;
}

// take_arguments fills the arguments of a run from buffers. Donated buffers are deleted.
static void *take_arguments(he_run *r, const hl_execute_args *a) {
  he_executable *e = r->executable;
  size_t n = e->num_parameters;
  for (size_t i = 0; i < n; i++) {
    r->own[i] = e->parameters[i].donated && !kept(a->options, i);
    for (size_t d = 0; d < r->num_devices; d++)  // a view of the memory prevents donation, as in JAX's own client
      if (((he_buffer *)a->arguments[d][i])->held) r->own[i] = false;
    for (size_t d = 0; d < r->num_devices; d++) {
      he_buffer *b = a->arguments[d][i];
      he_type *t = &e->parameters[i];
      // JAX passes any array for a token. Otherwise the bytes count, as in XLA, unless the engine stores the types in
      // different ways.
      if (t->type != HL_TYPE_TOKEN && (he_size(b->type, b->dims, b->num_dims) != t->size || (b->type != t->type && (he_packed[b->type] || he_packed[t->type]))))
        return he_fail(HL_INVALID_ARGUMENT, "argument %zu of %s has another type than the program's parameter", i, e->name);
      if (!r->own[i]) continue;
      for (size_t k = 0; k < n; k++) {
        bool other = k > i && e->parameters[k].donated && !kept(a->options, k);
        if (k != i && a->arguments[d][k] == b && (other || !(e->parameters[k].donated && !kept(a->options, k))))
          return other ? he_fail(HL_INVALID_ARGUMENT, "Attempt to donate the same buffer twice in Execute() (flattened argument %zu, first use: %zu).", k, i)
                       : he_fail(HL_INVALID_ARGUMENT, "Attempt to donate a buffer which is also used by the same call to Execute() (flattened argument %zu, first use: %zu).", k, i);
      }
    }
  }
  // Nothing is deleted before everything is checked.
  for (size_t d = 0; d < r->num_devices; d++)
    for (size_t i = 0; i < n; i++)
      if (!(r->arguments[d * n + i] = take(a->arguments[d][i], false))) return deleted_error();
  for (size_t d = 0; d < r->num_devices; d++)
    for (size_t i = 0; i < n; i++) {
      if (!r->own[i]) continue;
      he_value *v = take(a->arguments[d][i], true);
      if (!v) return deleted_error();  // another thread was faster
      he_value_drop(v);
    }
  return NULL;
}

FN(execute, hl_execute_args) {
  he_executable *e = a->loaded;
  if (e->deleted) return he_fail(HL_INVALID_ARGUMENT, "the executable %s has been deleted", e->name);
  if (a->num_devices != e->num_devices || a->num_arguments != e->num_parameters)
    return he_fail(HL_INVALID_ARGUMENT, "Execution supplied %zu buffers but compiled program expected %zu buffers, for each of %zu devices (%zu given): %s",
                   a->num_arguments, e->num_parameters, e->num_devices, a->num_devices, e->name);
  size_t devices = e->num_devices, np = devices * e->num_parameters, nr = devices * e->num_results;
  he_run *r = calloc(1, sizeof *r);
  if (!r || !(r->arguments = calloc(np + 1, sizeof *r->arguments)) || !(r->own = calloc(e->num_parameters + 1, 1)) ||
      !(r->results = calloc(nr + 1, sizeof *r->results)))
    abort();
  e->refs++;
  r->executable = e;
  r->num_devices = devices;
  r->event = &he_ready;
  if (a->options && (r->context = a->options->context)) r->context->refs++;
  static _Atomic int64_t runs = INT32_MAX;  // beyond the launch ids of clients
  r->id = a->options && a->options->launch_id ? a->options->launch_id : ++runs;
  void *error = take_arguments(r, a);
  bool here = true;  // run on this thread
  for (size_t i = 0; i < np && !error; i++) {
    he_event *ready = r->arguments[i]->event;
    if (e->hooks)
      he_event_wait(ready);
    else
      here = here && ready->done;
  }
  here = here && (e->hooks || e->quick);
  if (!here && !error) r->event = he_event_new();
  for (size_t i = 0; i < nr; i++) r->results[i] = he_value_new(r->event);
  if (error) {
    he_run_end(r, NULL);
    return error;
  }
  he_event *event = he_event_hold(r->event);
  // The buffers exist before the run starts, and are given up if it fails at once.
  for (size_t d = 0; d < devices; d++)
    for (size_t i = 0; i < e->num_results; i++) {
      const he_type *t = &e->results[i];
      he_device *device = a->device ? a->device : e->devices[d];
      a->outputs[d][i] = new_buffer(&device->memories[t->memory], t->type, t->dims, t->num_dims, he_value_hold(r->results[d * e->num_results + i]));
    }
  if (here) {
    int32_t code = HL_INTERNAL;
    char *message = hlocbEngineRun(r, &code);
    if (message) {
      error = he_fail(code, "%s", message);
      free(message);
      for (size_t d = 0; d < devices; d++)
        for (size_t i = 0; i < e->num_results; i++) {
          hl_object_args destroy = {.object = a->outputs[d][i]};
          buffer_destroy(&destroy);
          a->outputs[d][i] = NULL;  // a client may destroy what it finds
        }
    }
    he_run_end(r, NULL);
  } else {
    hlocbEngineStart(r);
  }
  if (!error && a->events)
    for (size_t d = 0; d < devices; d++) a->events[d] = he_event_hold(event);
  he_event_drop(event);
  return error;
}

// ---- Extensions ----

FN(layout_destroy, hl_object_args) {
  he_layout *l = a->object;
  if (!l->owned) free(l);
  return NULL;
}

FN(layout_serialize, hl_bytes_args) {
  he_layout *l = a->object;
  char *copy = malloc(l->size + 1);
  if (!copy) abort();
  memcpy(copy, l->text, l->size);
  a->bytes = copy;
  a->num_bytes = l->size;
  a->backing = copy;
  a->release = free_backing;
  return NULL;
}

static he_layout *layout_of(int32_t type, size_t num_dims) {
  char text[MAX_RANK * 4 + 16], *at = text;
  *at++ = '{';
  for (size_t i = num_dims; i-- > 0;) at += sprintf(at, i ? "%zu," : "%zu", i);
  int bits = (type >= 0 && type < HE_TYPES ? he_packed[type] : 0);
  if (bits) at += sprintf(at, ":E(%d)", bits);
  *at++ = '}';
  he_layout *l = malloc(sizeof *l + (at - text));
  if (!l) abort();
  l->owned = false;
  l->size = at - text;
  memcpy(l->text, text, l->size);
  return l;
}

FN(default_layout, hl_default_layout_args) {
  if (a->num_dims > MAX_RANK) return unimplemented("layouts of more than 64 dimensions");
  a->layout = layout_of(a->type, a->num_dims);
  return NULL;
}

FN(buffer_layout, hl_get_args) {
  he_buffer *b = a->object;
  if (b->num_dims > MAX_RANK) return unimplemented("layouts of more than 64 dimensions");
  a->other = layout_of(b->type, b->num_dims);
  return NULL;
}

FN(output_layouts, hl_counted_args) {
  he_executable *e = a->object;
  a->num_items = e->num_results;
  a->items = e->result_layouts;
  return NULL;
}

FN(parameter_layouts, hl_counted_args) {
  he_executable *e = a->object;
  a->num_items = e->num_parameters;
  a->items = e->parameter_layouts;
  return NULL;
}

FN(parameter_shardings, hl_kinds_args) {
  he_executable *e = a->executable;
  a->num_items = e->num_parameters;
  a->kinds = e->num_parameters ? e->parameter_shardings : NULL;
  a->sizes = e->num_parameters ? e->parameter_sharding_sizes : NULL;
  return NULL;
}

FN(output_shardings, hl_kinds_args) {  // NULL for no results: an empty list would be the sharding of an empty tuple
  he_executable *e = a->executable;
  a->num_items = e->num_results;
  a->kinds = e->num_results ? e->result_shardings : NULL;
  a->sizes = e->num_results ? e->result_sharding_sizes : NULL;
  return NULL;
}

FN(add_user_data, hl_user_data_args) {
  bool releases = a->size >= offsetof(hl_user_data_args, release) + sizeof a->release;
  he_context_add(a->context, a->type, a->data, releases ? a->release : NULL);
  return NULL;
}

// register_type gives a type of user data a number. The numbers belong to the process.
FN(register_type, hl_register_type_args) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static struct type {
    struct type *next;
    int64_t id;
    size_t size;
    char name[];
  } *types;
  static int64_t last;
  pthread_mutex_lock(&lock);
  struct type *t = types;
  while (t && (t->size != a->name_size || memcmp(t->name, a->name, t->size))) t = t->next;
  if (!t) {
    t = malloc(sizeof *t + a->name_size);
    if (!t) abort();
    *t = (struct type){types, a->id ? a->id : ++last, a->name_size};
    memcpy(t->name, a->name, a->name_size);
    types = t;
  }
  int64_t id = t->id;
  pthread_mutex_unlock(&lock);
  if (a->id && a->id != id) return he_fail(HL_INVALID_ARGUMENT, "the type %.*s has the number %lld", (int)a->name_size, a->name, (long long)id);
  a->id = id;
  return NULL;
}

FN(register_handler, hl_register_args) {
  int32_t code = HL_INTERNAL;
  char *message = hlocbEngineRegister((char *)a->target, a->target_size, (char *)a->platform, a->platform_size, a->handler, &code);
  if (!message) return NULL;
  void *error = he_fail(code, "%s", message);
  free(message);
  return error;
}

// he_executable_lists makes the flat lists of an executable from its types.
void he_executable_lists(he_executable *e) {
  size_t n = e->num_results, m = e->num_parameters, dims = 0;
  for (size_t i = 0; i < n; i++) dims += e->results[i].num_dims;
  e->result_types = calloc(n + 1, sizeof *e->result_types);
  e->result_dims = calloc(dims + 1, sizeof *e->result_dims);
  e->result_ranks = calloc(n + 1, sizeof *e->result_ranks);
  e->kinds = calloc(n + 1, sizeof *e->kinds);
  e->kind_sizes = calloc(n + 1, sizeof *e->kind_sizes);
  e->result_layouts = calloc(n + 1, sizeof *e->result_layouts);
  e->parameter_layouts = calloc(m + 1, sizeof *e->parameter_layouts);
  e->parameter_kinds = calloc(m + 1, sizeof *e->parameter_kinds);
  e->parameter_kind_sizes = calloc(m + 1, sizeof *e->parameter_kind_sizes);
  if (!e->parameter_kinds || !e->parameter_kind_sizes || !e->result_types || !e->result_dims || !e->result_ranks || !e->kinds || !e->kind_sizes || !e->result_layouts || !e->parameter_layouts) abort();
  int64_t *at = e->result_dims;
  for (size_t i = 0; i < n; i++) {
    he_type *t = &e->results[i];
    e->result_types[i] = t->type;
    e->result_ranks[i] = t->num_dims;
    for (size_t d = 0; d < t->num_dims; d++) *at++ = t->dims[d];
    e->kinds[i] = memory_kinds[t->memory];
    e->kind_sizes[i] = strlen(e->kinds[i]);
    e->result_layouts[i] = t->layout = layout_of(t->type, t->num_dims);
    t->layout->owned = true;
  }
  for (size_t i = 0; i < m; i++) {
    he_type *t = &e->parameters[i];
    e->parameter_kinds[i] = memory_kinds[t->memory];
    e->parameter_kind_sizes[i] = strlen(e->parameter_kinds[i]);
    e->parameter_layouts[i] = t->layout = layout_of(t->type, t->num_dims);
    t->layout->owned = true;
  }
  // JAX reads shardings only if there are several devices; then all values have one.
  if (e->num_devices < 2) return;
  e->parameter_shardings = calloc(m + 1, sizeof *e->parameter_shardings);
  e->parameter_sharding_sizes = calloc(m + 1, sizeof *e->parameter_sharding_sizes);
  e->result_shardings = calloc(n + 1, sizeof *e->result_shardings);
  e->result_sharding_sizes = calloc(n + 1, sizeof *e->result_sharding_sizes);
  if (!e->parameter_shardings || !e->parameter_sharding_sizes || !e->result_shardings || !e->result_sharding_sizes) abort();
  for (size_t i = 0; i < m; i++) {
    e->parameter_shardings[i] = e->parameters[i].sharding;
    e->parameter_sharding_sizes[i] = e->parameters[i].sharding_size;
  }
  for (size_t i = 0; i < n; i++) {
    e->result_shardings[i] = e->results[i].sharding;
    e->result_sharding_sizes[i] = e->results[i].sharding_size;
  }
}

// ---- The table ----

static const struct {
  int at;
  void *fn;
} functions[] = {
    {HL_ERROR_DESTROY, error_destroy},
    {HL_ERROR_MESSAGE, error_message},
    {HL_ERROR_CODE, error_code},
    {HL_ERROR_PAYLOADS, error_payloads},
    {HL_PLUGIN_INITIALIZE, plugin_initialize},
    {HL_PLUGIN_ATTRIBUTES, plugin_attributes},
    {HL_EVENT_DESTROY, event_destroy},
    {HL_EVENT_IS_READY, event_is_ready},
    {HL_EVENT_ERROR, event_await},
    {HL_EVENT_AWAIT, event_await},
    {HL_EVENT_ON_READY, event_on_ready},
    {HL_CLIENT_CREATE, client_create},
    {HL_CLIENT_DESTROY, client_destroy},
    {HL_CLIENT_PLATFORM_NAME, client_platform_name},
    {HL_CLIENT_PROCESS_INDEX, zero},
    {HL_CLIENT_PLATFORM_VERSION, client_platform_version},
    {HL_CLIENT_DEVICES, client_devices},
    {HL_CLIENT_ADDRESSABLE_DEVICES, client_devices},
    {HL_CLIENT_LOOKUP_DEVICE, client_lookup},
    {HL_CLIENT_LOOKUP_ADDRESSABLE_DEVICE, client_lookup},
    {HL_CLIENT_ADDRESSABLE_MEMORIES, client_memories},
    {HL_CLIENT_COMPILE, client_compile},
    {HL_CLIENT_DEFAULT_DEVICE_ASSIGNMENT, client_assignment},
    {HL_CLIENT_BUFFER_FROM_HOST, buffer_from_host},
    {HL_CLIENT_VIEW_OF_DEVICE_BUFFER, view_of_memory},
    {HL_CLIENT_TOPOLOGY, get_self},
    {HL_TOPOLOGY_DESTROY, nothing},
    {HL_TOPOLOGY_PLATFORM_NAME, client_platform_name},
    {HL_TOPOLOGY_PLATFORM_VERSION, client_platform_version},
    {HL_TOPOLOGY_DESCRIPTIONS, client_devices},
    {HL_TOPOLOGY_ATTRIBUTES, topology_attributes_of},
    {HL_TOPOLOGY_FINGERPRINT, topology_fingerprint},
    {HL_DESCRIPTION_ID, device_id},
    {HL_DESCRIPTION_PROCESS_INDEX, zero},
    {HL_DESCRIPTION_ATTRIBUTES, no_attributes},
    {HL_DESCRIPTION_KIND, device_kind},
    {HL_DESCRIPTION_DEBUG_STRING, device_debug},
    {HL_DESCRIPTION_TO_STRING, device_text},
    {HL_DEVICE_DESCRIPTION, get_self},
    {HL_DEVICE_IS_ADDRESSABLE, yes},
    {HL_DEVICE_LOCAL_ID, device_id},
    {HL_DEVICE_ADDRESSABLE_MEMORIES, device_memories},
    {HL_DEVICE_DEFAULT_MEMORY, device_memory},
    {HL_DEVICE_MEMORY_STATS, device_memory_stats},
    {HL_DEVICE_ATTRIBUTES, device_attributes},
    {HL_MEMORY_ID, memory_id},
    {HL_MEMORY_KIND, memory_kind},
    {HL_MEMORY_KIND_ID, memory_kind_id},
    {HL_MEMORY_DEBUG_STRING, memory_debug},
    {HL_MEMORY_TO_STRING, memory_debug},
    {HL_MEMORY_DEVICES, memory_devices},
    {HL_EXECUTABLE_DESTROY, executable_destroy},
    {HL_EXECUTABLE_NAME, executable_name},
    {HL_EXECUTABLE_NUM_REPLICAS, executable_replicas},
    {HL_EXECUTABLE_NUM_PARTITIONS, executable_partitions},
    {HL_EXECUTABLE_NUM_OUTPUTS, executable_outputs},
    {HL_EXECUTABLE_CODE_SIZE, executable_code_size},
    {HL_EXECUTABLE_COST_ANALYSIS, no_attributes},
    {HL_EXECUTABLE_OUTPUT_MEMORY_KINDS, executable_output_kinds},
    {HL_EXECUTABLE_OUTPUT_TYPES, executable_output_types},
    {HL_EXECUTABLE_OUTPUT_DIMENSIONS, executable_output_dims},
    {HL_EXECUTABLE_OPTIMIZED_PROGRAM, executable_program},
    {HL_EXECUTABLE_SERIALIZE, executable_serialize},
    {HL_EXECUTABLE_FINGERPRINT, executable_fingerprint},
    {HL_EXECUTABLE_MEMORY_STATS, executable_memory_stats},
    {HL_EXECUTABLE_COMPILE_OPTIONS, executable_options},
    {HL_LOADED_DESTROY, executable_destroy},
    {HL_LOADED_EXECUTABLE, loaded_executable},
    {HL_LOADED_ADDRESSABLE_DEVICES, loaded_devices},
    {HL_LOADED_LOGICAL_IDS, loaded_logical_ids},
    {HL_LOADED_DEVICE_ASSIGNMENT, loaded_assignment},
    {HL_LOADED_DELETE, loaded_delete},
    {HL_LOADED_IS_DELETED, loaded_is_deleted},
    {HL_LOADED_EXECUTE, execute},
    {HL_DESERIALIZE, deserialize},
    {HL_BUFFER_DESTROY, buffer_destroy},
    {HL_BUFFER_TYPE, buffer_type},
    {HL_BUFFER_DIMENSIONS, buffer_dims},
    {HL_BUFFER_UNPADDED_DIMENSIONS, buffer_dims},
    {HL_BUFFER_DYNAMIC_DIMENSIONS, buffer_dynamic_dims},
    {HL_BUFFER_MEMORY_LAYOUT, buffer_memory_layout},
    {HL_BUFFER_SIZE, buffer_size},
    {HL_BUFFER_DEVICE, buffer_device},
    {HL_BUFFER_MEMORY, buffer_memory},
    {HL_BUFFER_DELETE, buffer_delete},
    {HL_BUFFER_IS_DELETED, buffer_is_deleted},
    {HL_BUFFER_COPY_TO_DEVICE, buffer_copy_to_device},
    {HL_BUFFER_COPY_TO_MEMORY, buffer_copy_to_memory},
    {HL_BUFFER_BITCAST, buffer_bitcast},
    {HL_BUFFER_TO_HOST, buffer_to_host},
    {HL_BUFFER_COPY_RAW_TO_HOST, buffer_copy_raw},
    {HL_BUFFER_ON_CPU, yes},
    {HL_BUFFER_READY, buffer_ready},
    {HL_BUFFER_UNSAFE_POINTER, buffer_address},
    {HL_BUFFER_HOLD, buffer_hold},
    {HL_BUFFER_UNHOLD, buffer_unhold},
    {HL_BUFFER_ADDRESS, buffer_address},
    {HL_EXECUTABLE_PARAMETER_MEMORY_KINDS, executable_parameter_kinds},
    {HL_CONTEXT_CREATE, context_create},
    {HL_CONTEXT_DESTROY, context_destroy},
};

static void *not_here(void *args) { return unimplemented("this function of the PJRT C API"); }

static hl_shardings_ext shardings = {{sizeof shardings, HL_EXT_SHARDINGS, NULL}, (hl_pjrt_fn)parameter_shardings, (hl_pjrt_fn)output_shardings};
static hl_ffi_ext ffi = {{sizeof ffi, HL_EXT_FFI, &shardings.base}, (hl_pjrt_fn)register_type, (hl_pjrt_fn)add_user_data, (hl_pjrt_fn)register_handler};
static hl_layouts_ext layouts = {{sizeof layouts, HL_EXT_LAYOUTS, &ffi.base},
                                 (hl_pjrt_fn)layout_destroy,
                                 (hl_pjrt_fn)layout_serialize,
                                 (hl_pjrt_fn)default_layout,
                                 (hl_pjrt_fn)buffer_layout,
                                 (hl_pjrt_fn)default_layout,
                                 (hl_pjrt_fn)output_layouts,
                                 (hl_pjrt_fn)parameter_layouts};

static struct {
  hl_api head;
  hl_pjrt_fn fn[HL_PJRT_FUNCTIONS];
} table;

static void make_table(void) {
  table.head.size = sizeof table;
  table.head.ext = &layouts.base;
  table.head.version = (hl_version){.size = sizeof(hl_version), .major = 0, .minor = HL_PJRT_MINOR};
  for (int i = 0; i < HL_PJRT_FUNCTIONS; i++) table.fn[i] = not_here;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) table.fn[functions[i].at] = (hl_pjrt_fn)functions[i].fn;
  for (int i = 0; i < MAX_RANK; i++) row_major[i] = MAX_RANK - 1 - i;
}

const hl_api *he_api(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_table);
  return &table.head;
}
