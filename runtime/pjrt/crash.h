// The calls of plugins that are in progress, and crashes inside them.

#ifndef HLOCB_CRASH_H
#define HLOCB_CRASH_H

#include "abi.h"

// hl_inside is a call of a plugin on this thread. enter and leave nest, because handlers call plugins.
typedef struct hl_inside {
  const hl_api *api;  // NULL while the file is loaded
  const char *path;   // while the file is loaded
  int fn;
  struct hl_inside *outer;
} hl_inside;

void hl_enter(hl_inside *call);
void hl_leave(hl_inside *call);

// hl_name_plugin names a plugin for messages. The name stays valid.
void hl_name_plugin(const hl_api *api, const char *path);
// hl_subject names the program that is compiled next, for messages.
void hl_subject(const char *name);
// hl_function returns the name of a function of the table, such as "PJRT_Client_Create".
const char *hl_function(int fn);

// hl_report_crashes lets a crash inside a plugin end the process with one line, and the signal's number plus 128. Crashes
// of other code stay as they are.
void hl_report_crashes(void);

#endif
