// GetPjrtApi, and the work that must be done before Go's runtime starts in a foreign process.

#include "_cgo_export.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

// Go's runtime installs a handler of SIGURG. If the process has another Go runtime, that runtime loses its asynchronous
// preemption, and a goroutine without calls blocks its collector forever. Restore the old handler: this library's runtime
// then has no asynchronous preemption, and needs none.
static struct sigaction urgent;

__attribute__((constructor(101))) static void remember(void) { sigaction(SIGURG, NULL, &urgent); }

static void give_back(void) {
  if (urgent.sa_handler != SIG_DFL && urgent.sa_handler != SIG_IGN) sigaction(SIGURG, &urgent, NULL);
}

static void end(void) {
  int code = hlocbEnd();
  if (!code) return;
  fflush(NULL);
  _exit(code);
}

static void first(void) {
  give_back();
  atexit(end);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static const void *_Atomic engine; // the table of the engine, once it is open

static void open_engine(void) {
  atomic_store(&engine, (const void *)hlocbEngineTable());
  pthread_once(&once, first);
}

// hlocb_engine_api is GetPjrtApi of the engine: libhlocb_engine.so calls it.
EXPORT const void *hlocb_engine_api(void) {
  static pthread_once_t opened = PTHREAD_ONCE_INIT;
  pthread_once(&opened, open_engine);
  return atomic_load(&engine);
}

// hlocb_configure changes the settings of the engine in a running process: see hlocbEngineConfigure. The caller frees the
// result by free.
EXPORT char *hlocb_configure(const char *settings) {
  hlocb_engine_api();
  return hlocbEngineConfigure((char *)settings);
}

// known is the last answer of GetPjrtApi. The child of a fork gets it from here: Go's other threads are not in the child.
struct answer {
  const void *api, *table;
};
static _Atomic(struct answer *) known;

EXPORT const void *GetPjrtApi(void) {
  // The library that hlocb exec preloads passes the table of the plugin that the framework has opened.
  const void *(*next)(void) = (const void *(*)(void))dlsym(RTLD_DEFAULT, "hlocb_preload_next");
  const void *api = next ? next() : NULL;
  if (api && api == atomic_load(&engine)) return api; // the engine looks into its programs itself
  struct answer *old = atomic_load(&known);
  if (old && old->api == api) return old->table;
  const void *table = (const void *)hlocbTable((uintptr_t)api);
  pthread_once(&once, first);
  struct answer *new = table ? malloc(sizeof *new) : NULL;  // never freed: another thread may read it
  if (new) {
    *new = (struct answer){api, table};
    atomic_store(&known, new);
  }
  return table;
}
