// program LIBRARY [topology|newest]: compiles a program, runs it twice and prints the results. topology compiles it with
// PJRT_Compile, serializes and loads it; newest loads it by the last function of the table, which the header lacks.
#include "pjrt_c_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const PJRT_Api *api;

static void check(const char *op, PJRT_Error *error) {
  if (!error) return;
  PJRT_Error_Message_Args m = {.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE, .error = error};
  api->PJRT_Error_Message(&m);
  fprintf(stderr, "%s: %.*s\n", op, (int)m.message_size, m.message);
  exit(1);
}

#define NEW(type, name, ...) type name = {.struct_size = type##_STRUCT_SIZE, __VA_ARGS__}
#define CALL(fn, args) check(#fn, api->PJRT_##fn(&args))

static void await(PJRT_Event *event) {
  NEW(PJRT_Event_Await_Args, a, .event = event);
  CALL(Event_Await, a);
}

int main(int argc, char **argv) {
  void *library = dlopen(argv[1], RTLD_NOW);
  const PJRT_Api *(*get)(void) = library ? (const PJRT_Api *(*)(void))dlsym(library, "GetPjrtApi") : NULL;
  if (!get || !(api = get())) return 2;
  NEW(PJRT_Plugin_Initialize_Args, init);
  CALL(Plugin_Initialize, init);
  NEW(PJRT_Client_Create_Args, create);
  CALL(Client_Create, create);
  static char text[] = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
                       "  %y = stablehlo.multiply %x, %x : tensor<3xf32>\n  return %y : tensor<3xf32>\n}\n";
  static const char options[] = {0x1a, 4, 0x20, 1, 0x28, 1};  // one replica, one partition
  NEW(PJRT_Program, program, .code = text, .code_size = strlen(text), .format = "mlir", .format_size = 4);
  PJRT_LoadedExecutable *loaded = NULL;
  if (argc < 3) {
    NEW(PJRT_Client_Compile_Args, compile, .client = create.client, .program = &program, .compile_options = options,
        .compile_options_size = sizeof options);
    CALL(Client_Compile, compile);
    loaded = compile.executable;
  } else {
    NEW(PJRT_Compile_Args, compile, .program = &program, .compile_options = options, .compile_options_size = sizeof options,
        .client = create.client);
    CALL(Compile, compile);
    if (!strcmp(argv[2], "newest")) {
      PJRT_Error *(*newest)(void *) = ((PJRT_Error * (**)(void *))((char *)api + api->struct_size))[-1];
      NEW(PJRT_LoadedExecutable_GetExecutable_Args, get, .loaded_executable = (PJRT_LoadedExecutable *)compile.executable);
      check("the newest function", newest(&get));
      loaded = (PJRT_LoadedExecutable *)get.executable;
    } else {
      NEW(PJRT_Executable_Serialize_Args, serialize, .executable = compile.executable);
      CALL(Executable_Serialize, serialize);
      NEW(PJRT_Executable_DeserializeAndLoad_Args, load, .client = create.client,
          .serialized_executable = serialize.serialized_bytes, .serialized_executable_size = serialize.serialized_bytes_size);
      CALL(Executable_DeserializeAndLoad, load);
      serialize.serialized_executable_deleter(serialize.serialized_executable);
      loaded = load.loaded_executable;
    }
    NEW(PJRT_Executable_Destroy_Args, destroy, .executable = compile.executable);
    CALL(Executable_Destroy, destroy);
  }

  NEW(PJRT_Client_AddressableDevices_Args, devices, .client = create.client);
  CALL(Client_AddressableDevices, devices);
  float data[3] = {1, 2, 3};
  const int64_t dims[1] = {3};
  NEW(PJRT_Client_BufferFromHostBuffer_Args, from, .client = create.client, .data = data, .type = PJRT_Buffer_Type_F32, .dims = dims,
      .num_dims = 1, .device = devices.addressable_devices[0]);
  CALL(Client_BufferFromHostBuffer, from);
  await(from.done_with_host_buffer);
  for (int run = 0; run < 2; run++) {
    NEW(PJRT_ExecuteOptions, how);
    PJRT_Buffer *out = NULL, **outs = &out, *const ins[] = {from.buffer}, *const *const lists[] = {ins};
    PJRT_Buffer **const out_lists[] = {outs};
    PJRT_Event *done = NULL;
    NEW(PJRT_LoadedExecutable_Execute_Args, execute, .executable = loaded, .options = &how, .argument_lists = lists,
        .num_devices = 1, .num_args = 1, .output_lists = out_lists, .device_complete_events = &done);
    CALL(LoadedExecutable_Execute, execute);
    await(done);
    if (how.launch_id) return 3;  // the options are the caller's, and threads may share them
    NEW(PJRT_Buffer_ToHostBuffer_Args, to, .src = out, .dst = data, .dst_size = sizeof data);
    CALL(Buffer_ToHostBuffer, to);
    await(to.event);
    printf("%g %g %g\n", data[0], data[1], data[2]);
  }
  return 0;
}
