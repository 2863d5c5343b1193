// GetPjrtApi, and the work that must be done before Go's runtime starts in a foreign process.

#include "_cgo_export.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// Go's runtime installs a handler of SIGURG. If the process has another Go runtime, that runtime loses its asynchronous
// preemption, and a goroutine without calls blocks its collector forever. Restore the old handler: this library's runtime
// then has no asynchronous preemption, and needs none.
static struct sigaction urgent;
static const void *table;

__attribute__((constructor(101))) static void remember(void) { sigaction(SIGURG, NULL, &urgent); }

static void end(void) {
  int code = hlocbEngineEnd();
  if (!code) return;
  fflush(NULL);
  _exit(code);
}

static void first(void) {
  table = (const void *)hlocbEngineTable();
  if (urgent.sa_handler != SIG_DFL && urgent.sa_handler != SIG_IGN) sigaction(SIGURG, &urgent, NULL);
  atexit(end);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

__attribute__((visibility("default"))) const void *GetPjrtApi(void) {
  pthread_once(&once, first);
  return table;
}

// hlocb_configure changes the settings of a running process: see hlocbEngineConfigure. The caller frees the result by
// free.
__attribute__((visibility("default"))) char *hlocb_configure(const char *settings) {
  pthread_once(&once, first);
  return hlocbEngineConfigure((char *)settings);
}
