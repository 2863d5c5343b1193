// The part of the XLA FFI that a handler of buffers and attributes needs. xla/ffi/api/ffi.h, which the jaxlib package
// carries, declares all of it for C++; a handler compiled with that is loaded in the same way.

#ifndef FFI_H
#define FFI_H

#include <stddef.h>
#include <stdint.h>

typedef struct Extension {
  size_t size;
  int32_t type;  // 1: the caller asks for the handler's version
  struct Extension *next;
} Extension;

typedef struct {
  size_t size;
  Extension *extensions;
  int32_t major, minor;
} Version;

typedef struct {
  size_t size;
  Version version;
  uint32_t traits;
  int64_t state_type;
} Metadata;

typedef struct {
  Extension base;
  Metadata *metadata;
} MetadataExtension;

typedef struct {
  size_t size;
  Extension *extensions;
  const char *message;
  int32_t code;
} ErrorCreateArgs;

typedef struct {
  size_t size;
  Extension *extensions;
  Version version;
  const void *internal;
  void *(*error_create)(ErrorCreateArgs *args);
  // ... and more functions: memory, threads, futures, run id, device ordinal
} Api;

// Element types: 1 i1, 2..5 s8..s64, 6..9 u8..u64, 10 f16, 11 f32, 12 f64, 15 c64, 16 bf16, 18 c128.
typedef struct {
  size_t size;
  Extension *extensions;
  int32_t dtype;
  void *data;  // row-major; null if there are no elements
  int64_t rank;
  int64_t *dims;
} Buffer;

typedef struct {
  size_t size;
  Extension *extensions;
  int64_t n;
  int32_t *kinds;
  Buffer **items;
} Buffers;

typedef struct {
  const char *ptr;
  size_t len;
} Text;

typedef struct {
  int32_t dtype;
  void *value;
} Scalar;

// Attributes are sorted by name. Kinds: 1 array, 2 dictionary, 3 Scalar, 4 Text.
typedef struct {
  size_t size;
  Extension *extensions;
  int64_t n;
  int32_t *kinds;
  Text **names;
  void **items;
} Attributes;

typedef struct {
  size_t size;
  Extension *extensions;
  const Api *api;
  void *context;
  int32_t stage;
  Buffers operands, results;
  Attributes attributes;
  void *future;
} CallFrame;

#endif
