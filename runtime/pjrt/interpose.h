#ifndef HLOCB_INTERPOSE_H
#define HLOCB_INTERPOSE_H

#include "abi.h"

// hl_replacement is the program to compile instead of another program.
typedef struct {
  char *code;  // allocated; NULL: the unchanged program
  size_t code_size;
  int64_t program;  // its number in Go; 0: Go has no record of it
} hl_replacement;

// hl_interpose returns a copy of a plugin's table that passes programs through Go if active is set, and that serves
// JAX's callbacks. suffix is appended to the platform's version. number is the copy's number. It returns NULL if the
// process has too many plugins.
const hl_api *hl_interpose(const hl_api *real, bool active, const char *suffix, int *number);

// hl_interposed reports whether a table is a copy that hl_interpose made.
bool hl_interposed(const hl_api *api);

#endif
