#define _GNU_SOURCE  // dladdr, on_exit

#include "crash.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static _Thread_local hl_inside *inside;

// For crashes on the plugin's own threads: the number of calls in progress, and the last one.
static atomic_int calls;
static _Atomic(const hl_api *) last_api;
static atomic_int last_fn;

void hl_enter(hl_inside *call) {
  call->outer = inside;
  inside = call;
  atomic_store_explicit(&last_api, call->api, memory_order_relaxed);
  atomic_store_explicit(&last_fn, call->fn, memory_order_relaxed);
  atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
}

void hl_leave(hl_inside *call) {
  inside = call->outer;
  atomic_fetch_sub_explicit(&calls, 1, memory_order_relaxed);
}

enum { PLUGINS = 32 };
static struct {
  const hl_api *api;
  const char *path;
} plugins[PLUGINS];
static atomic_int named;

void hl_name_plugin(const hl_api *api, const char *path) {
  int i = atomic_load(&named);
  if (i == PLUGINS) return;
  plugins[i].api = api;
  plugins[i].path = path;
  atomic_store(&named, i + 1);
}

static char subject[256];

void hl_subject(const char *name) { strncpy(subject, name, sizeof subject - 1); }

static const char *const functions[] = {
    [HL_ERROR_DESTROY] = "PJRT_Error_Destroy",
    [HL_ERROR_MESSAGE] = "PJRT_Error_Message",
    [HL_ERROR_CODE] = "PJRT_Error_GetCode",
    [HL_PLUGIN_INITIALIZE] = "PJRT_Plugin_Initialize",
    [HL_PLUGIN_ATTRIBUTES] = "PJRT_Plugin_Attributes",
    [HL_EVENT_DESTROY] = "PJRT_Event_Destroy",
    [HL_EVENT_IS_READY] = "PJRT_Event_IsReady",
    [HL_EVENT_AWAIT] = "PJRT_Event_Await",
    [HL_EVENT_ON_READY] = "PJRT_Event_OnReady",
    [HL_CLIENT_CREATE] = "PJRT_Client_Create",
    [HL_CLIENT_DESTROY] = "PJRT_Client_Destroy",
    [HL_CLIENT_PLATFORM_NAME] = "PJRT_Client_PlatformName",
    [HL_CLIENT_PLATFORM_VERSION] = "PJRT_Client_PlatformVersion",
    [HL_CLIENT_ADDRESSABLE_DEVICES] = "PJRT_Client_AddressableDevices",
    [HL_CLIENT_COMPILE] = "PJRT_Client_Compile",
    [HL_CLIENT_BUFFER_FROM_HOST] = "PJRT_Client_BufferFromHostBuffer",
    [HL_DESCRIPTION_ID] = "PJRT_DeviceDescription_Id",
    [HL_DESCRIPTION_KIND] = "PJRT_DeviceDescription_Kind",
    [HL_DESCRIPTION_DEBUG_STRING] = "PJRT_DeviceDescription_DebugString",
    [HL_DEVICE_DESCRIPTION] = "PJRT_Device_GetDescription",
    [HL_DEVICE_LOCAL_ID] = "PJRT_Device_LocalHardwareId",
    [HL_EXECUTABLE_DESTROY] = "PJRT_Executable_Destroy",
    [HL_EXECUTABLE_OPTIMIZED_PROGRAM] = "PJRT_Executable_OptimizedProgram",
    [HL_EXECUTABLE_SERIALIZE] = "PJRT_Executable_Serialize",
    [HL_LOADED_DESTROY] = "PJRT_LoadedExecutable_Destroy",
    [HL_LOADED_EXECUTABLE] = "PJRT_LoadedExecutable_GetExecutable",
    [HL_LOADED_ADDRESSABLE_DEVICES] = "PJRT_LoadedExecutable_AddressableDevices",
    [HL_LOADED_EXECUTE] = "PJRT_LoadedExecutable_Execute",
    [HL_DESERIALIZE] = "PJRT_Executable_DeserializeAndLoad",
    [HL_BUFFER_DESTROY] = "PJRT_Buffer_Destroy",
    [HL_BUFFER_UNPADDED_DIMENSIONS] = "PJRT_Buffer_UnpaddedDimensions",
    [HL_BUFFER_MEMORY_LAYOUT] = "PJRT_Buffer_GetMemoryLayout",
    [HL_BUFFER_COPY_TO_DEVICE] = "PJRT_Buffer_CopyToDevice",
    [HL_BUFFER_TO_HOST] = "PJRT_Buffer_ToHostBuffer",
    [HL_BUFFER_ON_CPU] = "PJRT_Buffer_IsOnCpu",
    [HL_BUFFER_READY] = "PJRT_Buffer_ReadyEvent",
    [HL_BUFFER_HOLD] = "PJRT_Buffer_IncreaseExternalReferenceCount",
    [HL_BUFFER_UNHOLD] = "PJRT_Buffer_DecreaseExternalReferenceCount",
    [HL_BUFFER_ADDRESS] = "PJRT_Buffer_OpaqueDeviceMemoryDataPointer",
    [HL_COMPILE] = "PJRT_Compile",
    [HL_EXECUTABLE_OUTPUT_TYPES] = "PJRT_Executable_OutputElementTypes",
    [HL_EXECUTABLE_OUTPUT_DIMENSIONS] = "PJRT_Executable_OutputDimensions",
    [HL_CONTEXT_DESTROY] = "PJRT_ExecuteContext_Destroy",
};

const char *hl_function(int fn) {
  if (fn >= 0 && fn < (int)(sizeof functions / sizeof *functions) && functions[fn]) return functions[fn];
  return "a function of the PJRT C API";
}

// end ends the process.
static _Noreturn void end(int status) {
  for (;;) syscall(SYS_exit_group, status);
}

// text is a message that a signal handler puts together.
typedef struct {
  char bytes[2048];
  size_t n;
} text;

static void add(text *t, const char *s) {
  size_t n = strlen(s);
  if (n > sizeof t->bytes - t->n) n = sizeof t->bytes - t->n;
  memcpy(t->bytes + t->n, s, n);
  t->n += n;
}

// place adds the plugin, the function and the program of a call.
static void place(text *t, const hl_inside *call, const char *what) {
  const char *path = call->path;
  for (int i = 0; i < atomic_load(&named); i++)
    if (call->api && plugins[i].api == call->api) path = plugins[i].path;
  add(t, "error: the plugin ");
  add(t, path ? path : "");
  add(t, what);
  if (!call->api) {
    add(t, " while it was loaded");
    return;
  }
  add(t, " in ");
  add(t, hl_function(call->fn));
  if (*subject && (call->fn == HL_CLIENT_COMPILE || call->fn == HL_DESERIALIZE)) {
    add(t, " of ");
    add(t, subject);
  }
}

static void write_all(const text *t) {
  for (size_t at = 0; at < t->n;) {
    ssize_t n = write(2, t->bytes + at, t->n - at);
    if (n <= 0) return;
    at += n;
  }
}

static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
static const char *const signal_names[] = {"SIGSEGV", "SIGBUS", "SIGABRT", "SIGFPE", "SIGILL"};
enum { SIGNALS = sizeof signals / sizeof *signals };
static struct sigaction before[SIGNALS];
static void *own_base;

static void *counter(const ucontext_t *c) {
#if defined __x86_64__
  return (void *)c->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
  return (void *)c->uc_mcontext.pc;
#else
  (void)c;
  return NULL;
#endif
}

static void on_crash(int sig, siginfo_t *info, void *context) {
  int k = 0;
  while (k < SIGNALS - 1 && signals[k] != sig) k++;
  hl_inside other = {.api = atomic_load(&last_api), .fn = atomic_load(&last_fn)};
  const hl_inside *call = inside ? inside : atomic_load(&calls) > 0 && other.api ? &other : NULL;
  Dl_info in = {0};
  void *pc = counter(context);
  // A jump to address 0 has no library. The address that called it is that of the plugin.
  bool own = pc && dladdr(pc, &in) && in.dli_fbase == own_base;
  if (!call || own || (info->si_code == SI_USER && info->si_pid != getpid())) {
    if (before[k].sa_flags & SA_SIGINFO) before[k].sa_sigaction(sig, info, context);
    return;
  }
  text what = {.n = 0}, t = {.n = 0};
  add(&what, " crashed (");
  add(&what, signal_names[k]);
  add(&what, call == &other ? ", on a thread of its own)" : ")");
  what.bytes[what.n] = 0;
  place(&t, call, what.bytes);
  add(&t, "; HLOCB_TRACEBACK=1 prints the stacks\n");
  write_all(&t);
  end(128 + sig);
}

// say_end reports a plugin that ends the process.
static void say_end(void) {
  text t = {.n = 0};
  place(&t, inside, " ended the process");
  add(&t, "\n");
  write_all(&t);
}

static void on_leave(int status, void *unused) {
  (void)unused;
  (void)status;
  if (!inside) return;
  say_end();
  end(1);
}

static atomic_bool reporting;

#ifdef __GLIBC__
// _exit is what plugins of a command get for the C library's. The exit code would say that all went well.
void _exit(int status) {
  if (inside && atomic_load(&reporting)) {
    say_end();
    status = status ? status : 1;
  }
  end(status);
}
#endif

void hl_report_crashes(void) {
  Dl_info in;
  if (atomic_exchange(&reporting, true) || !dladdr((void *)hl_report_crashes, &in)) return;
  own_base = in.dli_fbase;
  for (int k = 0; k < SIGNALS; k++) {
    if (sigaction(signals[k], NULL, &before[k]) || !(before[k].sa_flags & SA_SIGINFO)) continue;
    struct sigaction a = before[k];
    a.sa_sigaction = on_crash;
    sigaction(signals[k], &a, NULL);
  }
#ifdef __GLIBC__
  on_exit(on_leave, NULL);
#endif
}
