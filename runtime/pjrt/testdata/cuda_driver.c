// A CUDA driver over far memory, for a plugin that says that it is CUDA's: the functions that internal/cuda opens. Work in a
// stream is done as late as the driver may do it: when somebody waits, when a hook has returned, because XLA's later
// work is in the stream, or when memory is not from cuMemHostAlloc. So a copy that is not awaited is found, and so is
// host memory that is used again too early. A call without a current context ends the process.

typedef struct work {
  void *dst;
  const void *src;  // NULL: zeros
  size_t size;
  struct work *next;
} work;

typedef struct {
  work *first, **last;
  long queued, done;  // counts of work
} stream;

typedef struct {
  stream *in;
  long after;  // happens when this much work is done
} event;

enum { STREAMS = 64, BLOCKS = 4096, NOT_READY = 600, INVALID = 1 };

static pthread_mutex_t driver = PTHREAD_MUTEX_INITIALIZER;
static stream streams[STREAMS];  // of each device
static struct {
  char *at;
  size_t size;
} pinned[BLOCKS];
static _Thread_local void *current[8];
static _Thread_local int contexts;

static void in_context(void) {
  if (!contexts) abort();
}

static bool is_pinned(const void *at) {
  for (int i = 0; i < BLOCKS; i++)
    if (pinned[i].at && (char *)at >= pinned[i].at && (char *)at < pinned[i].at + pinned[i].size) return true;
  return false;
}

// flush does the work in a stream. The caller holds driver.
static void flush(stream *s) {
  for (work *w = s->first; w;) {
    work *next = w->next;
    if (w->src)
      memmove(w->dst, w->src, w->size);
    else
      memset(w->dst, 0, w->size);
    free(w);
    w = next;
    s->done++;
  }
  s->first = NULL;
  s->last = &s->first;
}

static void flush_all(void) {
  pthread_mutex_lock(&driver);
  for (int i = 0; i < STREAMS; i++) flush(&streams[i]);
  pthread_mutex_unlock(&driver);
}

static int queue(stream *s, void *dst, const void *src, size_t size, bool now) {
  in_context();
  work *w = malloc(sizeof *w);
  if (!w) abort();
  *w = (work){dst, src, size, NULL};
  pthread_mutex_lock(&driver);
  if (!s->last) s->last = &s->first;
  *s->last = w;
  s->last = &w->next;
  s->queued++;
  if (now) flush(s);
  pthread_mutex_unlock(&driver);
  return 0;
}

int cuGetErrorString(int result, const char **text) {
  *text = result == INVALID ? "invalid argument" : "unknown error";
  return 0;
}

int cuStreamGetCtx(void *s, void **context) {
  *context = s;
  return s ? 0 : INVALID;
}

int cuCtxPushCurrent_v2(void *context) {
  current[contexts++] = context;
  return 0;
}

int cuCtxPopCurrent_v2(void **context) {
  in_context();
  *context = current[--contexts];
  return 0;
}

static bool pinned_now(const void *at) {
  pthread_mutex_lock(&driver);
  bool found = is_pinned(at);
  pthread_mutex_unlock(&driver);
  return found;
}

int cuMemcpyDtoHAsync_v2(void *dst, uint64_t src, size_t size, void *s) {
  void *at = real((void *)src);
  if (!at) return INVALID;
  return queue(s, dst, at, size, !pinned_now(dst));
}

int cuMemcpyHtoDAsync_v2(uint64_t dst, const void *src, size_t size, void *s) {
  void *at = real((void *)dst);
  if (!at) return INVALID;
  return queue(s, at, src, size, !pinned_now(src));
}

int cuMemcpyDtoDAsync_v2(uint64_t dst, uint64_t src, size_t size, void *s) {
  void *to = real((void *)dst), *from = real((void *)src);
  if (!to || !from) return INVALID;
  return queue(s, to, from, size, false);
}

int cuMemsetD8Async(uint64_t at, unsigned char value, size_t size, void *s) {
  void *to = real((void *)at);
  if (!to || value) return INVALID;
  return queue(s, to, NULL, size, false);
}

int cuStreamQuery(void *s) {
  in_context();
  pthread_mutex_lock(&driver);
  bool empty = !((stream *)s)->first;
  pthread_mutex_unlock(&driver);
  return empty ? 0 : NOT_READY;
}

int cuStreamSynchronize(void *s) {
  in_context();
  pthread_mutex_lock(&driver);
  flush(s);
  pthread_mutex_unlock(&driver);
  return 0;
}

int cuMemHostAlloc(void **memory, size_t size, unsigned flags) {
  in_context();
  int result = 2;  // out of memory
  pthread_mutex_lock(&driver);
  for (int i = 0; i < BLOCKS && result; i++) {
    if (pinned[i].at) continue;
    pinned[i].at = *memory = aligned_alloc(4096, size);
    pinned[i].size = size;
    result = flags != 1;
  }
  pthread_mutex_unlock(&driver);
  return result;
}

int cuMemFreeHost(void *memory) {
  in_context();
  int result = INVALID;
  pthread_mutex_lock(&driver);
  for (int i = 0; i < BLOCKS; i++)
    if (pinned[i].at == memory) {
      pinned[i].at = NULL;
      result = 0;
    }
  pthread_mutex_unlock(&driver);
  if (result) abort();  // it is free already
  free(memory);
  return 0;
}

int cuEventCreate(void **e, unsigned flags) {
  in_context();
  *e = calloc(1, sizeof(event));
  return flags == 2 ? 0 : INVALID;
}

int cuEventDestroy_v2(void *e) {
  free(e);
  return 0;
}

int cuEventRecord(void *e, void *s) {
  in_context();
  if (getenv("REFUSE_RECORDS")) return INVALID;
  pthread_mutex_lock(&driver);
  *(event *)e = (event){s, ((stream *)s)->queued};
  pthread_mutex_unlock(&driver);
  return 0;
}

int cuEventQuery(void *e) {
  pthread_mutex_lock(&driver);
  const event *v = e;
  bool passed = v->in && v->in->done >= v->after;
  pthread_mutex_unlock(&driver);
  return passed ? 0 : NOT_READY;
}

int cuEventSynchronize(void *e) {
  in_context();
  pthread_mutex_lock(&driver);
  const event *v = e;
  if (v->in && v->in->done < v->after) flush(v->in);
  pthread_mutex_unlock(&driver);
  return 0;
}

// ---- the plugin's side ----

static void *get_stream(void *args) {
  hl_ffi_stream_args *a = args;
  // The context of the CPU plugin has no stream, but it knows the device.
  hl_ffi_ordinal_args o = {.size = sizeof o, .ctx = a->ctx};
  void *error = cpu_ffi_api->fn[HL_FFI_DEVICE_ORDINAL](&o);
  a->stream = &streams[o.ordinal % STREAMS];
  return error;
}

static void *set_available(void *args) {
  flush_all();
  return cpu_ffi_api->fn[HL_FFI_FUTURE_SET_AVAILABLE](args);
}

// on_gpu replaces the functions of a handler's frame.
static void on_gpu(hl_ffi_frame *frame) {
  static hl_ffi_api *api;
  pthread_mutex_lock(&driver);
  if (!api) {
    cpu_ffi_api = frame->api;
    hl_ffi_api *copy = malloc(frame->api->size);
    if (!copy) abort();
    memcpy(copy, frame->api, frame->api->size);
    copy->fn[HL_FFI_STREAM_GET] = get_stream;
    copy->fn[HL_FFI_FUTURE_SET_AVAILABLE] = set_available;
    api = copy;
  }
  pthread_mutex_unlock(&driver);
  frame->api = api;
}

static void *platform_name(void *args) {
  hl_text_args *a = args;
  a->text = "cuda";
  a->text_size = 4;
  return NULL;
}

// client_create accepts the option of hlocb's GPU clients and makes eight devices. Frameworks give no option.
static void *client_create(void *args) {
  hl_client_create_args a = *(hl_client_create_args *)args;
  const hl_named_value *o = a.options;
  if (!a.num_options) return cpu->fn[HL_CLIENT_CREATE](args);
  if (a.num_options != 1 || strcmp(o->name, "preallocate") || o->type != HL_VALUE_BOOL || o->value.boolean) abort();
  hl_named_value devices = {.size = sizeof devices, .name = "cpu_device_count", .name_size = 16,
                            .type = HL_VALUE_INT64, .value.integer = 8, .value_size = 1};
  a.options = &devices;
  void *error = cpu->fn[HL_CLIENT_CREATE](&a);
  ((hl_client_create_args *)args)->client = a.client;
  return error;
}
