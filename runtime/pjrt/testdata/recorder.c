// A plugin that passes every call to the plugin that RECORDER_PLUGIN names, with two changes. Its attribute
// stablehlo_current_version is RECORDER_VERSION (three numbers with spaces; empty: it has none), and its attribute
// xla_version is missing if RECORDER_TEXT is empty. It writes each program that it compiles to the file RECORDER_FILE.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../abi.h"

static const hl_api *real;

static void *attributes(void *args) {
  hl_plugin_attributes_args *a = args;
  void *error = real->fn[HL_PLUGIN_ATTRIBUTES](args);
  if (error) return error;
  static hl_named_value list[32];
  static int64_t version[3];
  size_t n = 0;
  for (size_t i = 0; i < a->num_attributes && n < 31; i++) {
    const char *name = a->attributes[i].name;
    int states_version = !strcmp(name, "stablehlo_current_version");
    if (states_version || (!strcmp(name, "xla_version") && !*getenv("RECORDER_TEXT"))) continue;
    list[n++] = a->attributes[i];
  }
  long long x, y, z;
  if (sscanf(getenv("RECORDER_VERSION"), "%lld %lld %lld", &x, &y, &z) == 3) {
    hl_named_value *v = &list[n++];
    memset(v, 0, sizeof *v);
    version[0] = x, version[1] = y, version[2] = z;
    v->size = sizeof *v;
    v->name = "stablehlo_current_version";
    v->name_size = strlen(v->name);
    v->type = HL_VALUE_INT64_LIST;
    v->value.integers = version;
    v->value_size = 3;
  }
  a->attributes = list;
  a->num_attributes = n;
  return NULL;
}

static void *compile(void *args) {
  const hl_program *p = ((hl_compile_args *)args)->program;
  FILE *f = fopen(getenv("RECORDER_FILE"), "wb");
  if (!f || fwrite(p->code, 1, p->code_size, f) != p->code_size || fclose(f)) abort();
  return real->fn[HL_CLIENT_COMPILE](args);
}

const hl_api *GetPjrtApi(void) {
  void *library = dlopen(getenv("RECORDER_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    abort();
  }
  real = ((const hl_api *(*)(void))dlsym(library, "GetPjrtApi"))();
  hl_api *api = malloc(real->size);
  memcpy(api, real, real->size);
  api->fn[HL_PLUGIN_ATTRIBUTES] = attributes;
  api->fn[HL_CLIENT_COMPILE] = compile;
  return api;
}
