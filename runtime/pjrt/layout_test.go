//go:build cgo

package pjrt

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/abilayout"
	"github.com/hlocb/hlocb/internal/xlatypes"
	"github.com/hlocb/hlocb/tensor"
)

var update = flag.Bool("update", false, "write abi_layout.h from the headers of the PJRT C API and the XLA FFI")

// pjrtLayout maps the structs of abi.h to structs of pjrt_c_api.h: hlocb's name, PJRT's name without PJRT_, then the
// fields after the head as hlocb's=PJRT's, or one name if both are the same.
const pjrtLayout = `
hl_ext Extension_Base type next
hl_version Api_Version major=major_version minor=minor_version
hl_error_message_args Error_Message_Args error message message_size
hl_error_code_args Error_GetCode_Args error code
hl_plain_args Plugin_Initialize_Args
hl_named_value NamedValue name name_size type value=string_value value=int64_value value=int64_array_value value=float_value value=bool_value value_size
hl_plugin_attributes_args Plugin_Attributes_Args attributes num_attributes
hl_client_create_args Client_Create_Args options=create_options num_options kv_get=kv_get_callback kv_get_arg=kv_get_user_arg kv_put=kv_put_callback kv_put_arg=kv_put_user_arg client kv_try_get=kv_try_get_callback kv_try_get_arg=kv_try_get_user_arg
hl_object_args Error_Destroy_Args object=error
hl_object_args Event_Destroy_Args object=event
hl_object_args Event_Await_Args object=event
hl_object_args Client_Destroy_Args object=client
hl_object_args ExecuteContext_Destroy_Args object=context
hl_is_ready_args Event_IsReady_Args event ready=is_ready
hl_on_ready_args Event_OnReady_Args event callback data=user_arg
hl_object_args Executable_Destroy_Args object=executable
hl_object_args LoadedExecutable_Destroy_Args object=executable
hl_object_args Buffer_Destroy_Args object=buffer
hl_object_args Buffer_IncreaseExternalReferenceCount_Args object=buffer
hl_object_args Buffer_DecreaseExternalReferenceCount_Args object=buffer
hl_text_args Client_PlatformName_Args object=client text=platform_name text_size=platform_name_size
hl_text_args Client_PlatformVersion_Args object=client text=platform_version text_size=platform_version_size
hl_text_args DeviceDescription_Kind_Args object=device_description text=device_kind text_size=device_kind_size
hl_text_args DeviceDescription_DebugString_Args object=device_description text=debug_string text_size=debug_string_size
hl_int_args DeviceDescription_Id_Args object=device_description number=id
hl_int_args Device_LocalHardwareId_Args object=device number=local_hardware_id
hl_int_args Buffer_IsOnCpu_Args object=buffer number=is_on_cpu
hl_get_args Device_GetDescription_Args object=device other=device_description
hl_get_args LoadedExecutable_GetExecutable_Args object=loaded_executable other=executable
hl_get_args Buffer_OpaqueDeviceMemoryDataPointer_Args object=buffer other=device_memory_ptr
hl_list_args Client_AddressableDevices_Args object=client items=addressable_devices num_items=num_addressable_devices
hl_list_args LoadedExecutable_AddressableDevices_Args object=executable items=addressable_devices num_items=num_addressable_devices
hl_program Program code code_size format format_size
hl_compile_args Client_Compile_Args client program options=compile_options options_size=compile_options_size loaded=executable
hl_compile_only_args Compile_Args topology program options=compile_options options_size=compile_options_size client executable
hl_optimized_program_args Executable_OptimizedProgram_Args executable program
hl_from_host_args Client_BufferFromHostBuffer_Args client data type dims num_dims byte_strides num_byte_strides semantics=host_buffer_semantics device memory layout=device_layout done_with_data=done_with_host_buffer buffer
hl_tiled_layout Buffer_MemoryLayout_Tiled minor_to_major num_minor_to_major=minor_to_major_size tile_dims tile_sizes=tile_dim_sizes num_tiles
hl_layout Buffer_MemoryLayout tiled type
hl_memory_layout_args Buffer_GetMemoryLayout_Args buffer layout
hl_buffer_dims_args Buffer_UnpaddedDimensions_Args buffer dims=unpadded_dims num_dims
hl_copy_to_device_args Buffer_CopyToDevice_Args buffer device=dst_device copied=dst_buffer
hl_to_host_args Buffer_ToHostBuffer_Args buffer=src layout=host_layout data=dst data_size=dst_size event
hl_execute_options ExecuteOptions send=send_callbacks recv=recv_callbacks num_send=num_send_ops num_recv=num_recv_ops launch_id not_donated=non_donatable_input_indices num_not_donated=num_non_donatable_input_indices context location=call_location num_tasks task_ids incarnations=incarnation_ids
hl_execute_args LoadedExecutable_Execute_Args loaded=executable options arguments=argument_lists num_devices num_arguments=num_args outputs=output_lists events=device_complete_events device=execute_device
hl_output_types_args Executable_OutputElementTypes_Args executable types=output_types num_types=num_output_types
hl_output_dims_args Executable_OutputDimensions_Args executable num_outputs dims ranks=dim_sizes
hl_serialize_args Executable_Serialize_Args executable bytes=serialized_bytes num_bytes=serialized_bytes_size backing=serialized_executable release=serialized_executable_deleter
hl_deserialize_args Executable_DeserializeAndLoad_Args client bytes=serialized_executable num_bytes=serialized_executable_size loaded=loaded_executable options=overridden_serialized_compile_options num_options=overridden_serialized_compile_options_size
`

// pjrtFunctions maps the positions of functions in hl_api.fn to the fields of PJRT_Api.
const pjrtFunctions = `
HL_ERROR_DESTROY Error_Destroy
HL_ERROR_MESSAGE Error_Message
HL_ERROR_CODE Error_GetCode
HL_PLUGIN_INITIALIZE Plugin_Initialize
HL_PLUGIN_ATTRIBUTES Plugin_Attributes
HL_EVENT_DESTROY Event_Destroy
HL_EVENT_IS_READY Event_IsReady
HL_EVENT_AWAIT Event_Await
HL_EVENT_ON_READY Event_OnReady
HL_CLIENT_CREATE Client_Create
HL_CLIENT_DESTROY Client_Destroy
HL_CLIENT_PLATFORM_NAME Client_PlatformName
HL_CLIENT_PLATFORM_VERSION Client_PlatformVersion
HL_CLIENT_ADDRESSABLE_DEVICES Client_AddressableDevices
HL_CLIENT_COMPILE Client_Compile
HL_CLIENT_BUFFER_FROM_HOST Client_BufferFromHostBuffer
HL_DESCRIPTION_ID DeviceDescription_Id
HL_DESCRIPTION_KIND DeviceDescription_Kind
HL_DESCRIPTION_DEBUG_STRING DeviceDescription_DebugString
HL_DEVICE_DESCRIPTION Device_GetDescription
HL_DEVICE_LOCAL_ID Device_LocalHardwareId
HL_EXECUTABLE_DESTROY Executable_Destroy
HL_EXECUTABLE_OPTIMIZED_PROGRAM Executable_OptimizedProgram
HL_EXECUTABLE_SERIALIZE Executable_Serialize
HL_LOADED_DESTROY LoadedExecutable_Destroy
HL_LOADED_EXECUTABLE LoadedExecutable_GetExecutable
HL_LOADED_ADDRESSABLE_DEVICES LoadedExecutable_AddressableDevices
HL_LOADED_EXECUTE LoadedExecutable_Execute
HL_DESERIALIZE Executable_DeserializeAndLoad
HL_BUFFER_DESTROY Buffer_Destroy
HL_BUFFER_UNPADDED_DIMENSIONS Buffer_UnpaddedDimensions
HL_BUFFER_MEMORY_LAYOUT Buffer_GetMemoryLayout
HL_BUFFER_COPY_TO_DEVICE Buffer_CopyToDevice
HL_BUFFER_TO_HOST Buffer_ToHostBuffer
HL_BUFFER_ON_CPU Buffer_IsOnCpu
HL_BUFFER_READY Buffer_ReadyEvent
HL_BUFFER_HOLD Buffer_IncreaseExternalReferenceCount
HL_BUFFER_UNHOLD Buffer_DecreaseExternalReferenceCount
HL_BUFFER_ADDRESS Buffer_OpaqueDeviceMemoryDataPointer
HL_COMPILE Compile
HL_EXECUTABLE_OUTPUT_TYPES Executable_OutputElementTypes
HL_EXECUTABLE_OUTPUT_DIMENSIONS Executable_OutputDimensions
HL_CONTEXT_CREATE ExecuteContext_Create
HL_CONTEXT_DESTROY ExecuteContext_Destroy
`

// pjrtConstants maps the other constants to the constants of pjrt_c_api.h.
const pjrtConstants = `
HL_EXT_GPU Extension_Type_Gpu_Custom_Call
HL_EXT_FFI Extension_Type_FFI
HL_VALUE_STRING NamedValue_kString
HL_VALUE_INT64 NamedValue_kInt64
HL_VALUE_INT64_LIST NamedValue_kInt64List
HL_VALUE_FLOAT NamedValue_kFloat
HL_VALUE_BOOL NamedValue_kBool
HL_HOST_ONLY_DURING_CALL HostBufferSemantics_kImmutableOnlyDuringCall
HL_HOST_ZERO_COPY HostBufferSemantics_kImmutableZeroCopy
`

// ffiLayout, ffiFunctions and ffiConstants do the same for xla/ffi/api/c_api.h.
const ffiLayout = `
hl_ffi_api Api version=api_version internal=internal_api
hl_ffi_buffer Buffer dtype data rank dims
hl_ffi_list Args n=size kinds=types items=args
hl_ffi_list Rets n=size kinds=types items=rets
hl_ffi_span ByteSpan ptr len
hl_ffi_attrs Attrs n=size kinds=types names items=attrs
hl_ffi_scalar Scalar dtype value
hl_ffi_array Array dtype n=size data
hl_ffi_frame CallFrame api ctx stage operands=args results=rets attrs future
hl_ffi_metadata Metadata version=api_version traits state_type=state_type_id
hl_ffi_metadata_ext Metadata_Extension base=extension_base metadata
hl_ffi_error_args Error_Create_Args message code=errc
hl_ffi_error_message_args Error_GetMessage_Args error message
hl_ffi_error_destroy_args Error_Destroy_Args error
hl_ffi_context_args ExecutionContext_Get_Args ctx type=type_id data
hl_ffi_stream_args Stream_Get_Args ctx stream
hl_ffi_run_id_args RunId_Get_Args ctx run_id
hl_ffi_ordinal_args DeviceOrdinal_Get_Args ctx ordinal=device_ordinal
hl_ffi_future_args Future_Create_Args future
hl_ffi_future_args Future_SetAvailable_Args future
hl_ffi_future_error_args Future_SetError_Args future error
hl_ffi_allocate_args DeviceMemory_Allocate_Args ctx bytes=size alignment data
hl_ffi_free_args DeviceMemory_Free_Args ctx bytes=size data
hl_ffi_schedule_args ThreadPool_Schedule_Args ctx task data
hl_ffi_num_threads_args ThreadPool_NumThreads_Args ctx num_threads
`

const ffiFunctions = `
HL_FFI_ERROR_CREATE Error_Create
HL_FFI_ERROR_MESSAGE Error_GetMessage
HL_FFI_ERROR_DESTROY Error_Destroy
HL_FFI_HANDLER_REGISTER Handler_Register
HL_FFI_STREAM_GET Stream_Get
HL_FFI_TYPE_REGISTER Type_Register
HL_FFI_CONTEXT_GET ExecutionContext_Get
HL_FFI_STATE_SET State_Set
HL_FFI_STATE_GET State_Get
HL_FFI_ALLOCATE DeviceMemory_Allocate
HL_FFI_FREE DeviceMemory_Free
HL_FFI_SCHEDULE ThreadPool_Schedule
HL_FFI_NUM_THREADS ThreadPool_NumThreads
HL_FFI_FUTURE_CREATE Future_Create
HL_FFI_FUTURE_SET_AVAILABLE Future_SetAvailable
HL_FFI_FUTURE_SET_ERROR Future_SetError
HL_FFI_RUN_ID RunId_Get
HL_FFI_DEVICE_ORDINAL DeviceOrdinal_Get
`

const ffiConstants = `
HL_FFI_ATTR_ARRAY AttrType_ARRAY
HL_FFI_ATTR_DICTIONARY AttrType_DICTIONARY
HL_FFI_ATTR_SCALAR AttrType_SCALAR
HL_FFI_ATTR_STRING AttrType_STRING
HL_FFI_STAGE_EXECUTE ExecutionStage_EXECUTE
HL_FFI_EXT_METADATA Extension_Metadata
HL_FFI_BUFFER ArgType_BUFFER
`

// headless are structs that do not start with a size and a list of extensions, with the fields of their first words.
var headless = map[string][]string{
	"hl_ext": {"size=struct_size"}, "hl_ffi_span": nil, "hl_ffi_scalar": nil, "hl_ffi_array": nil,
	"hl_ffi_metadata": {"size=struct_size"}, "hl_ffi_metadata_ext": nil,
}

// whole are structs that other structs or arrays hold, so their sizes count too.
var whole = []string{"hl_ext", "hl_version", "hl_named_value", "hl_tiled_layout", "hl_layout", "hl_ffi_buffer", "hl_ffi_list",
	"hl_ffi_span", "hl_ffi_attrs", "hl_ffi_scalar", "hl_ffi_array"}

// pjrtTables and ffiTables hold the tables above.
func pjrtTables() abilayout.Tables {
	return abilayout.Tables{Prefix: "PJRT_", API: "PJRT_Api", First: "Error_Destroy", Layout: pjrtLayout, Functions: pjrtFunctions, Constants: pjrtConstants,
		Whole: whole, Headless: headless, Extra: [][2]string{
			{"HL_AT(hl_api, version, %%zu);", "offsetof(PJRT_Api, pjrt_api_version)"}, {"HL_AT(hl_api, fn, %%zu);", "offsetof(PJRT_Api, PJRT_Error_Destroy)"}}}
}

func ffiTables() abilayout.Tables {
	return abilayout.Tables{Prefix: "XLA_FFI_", API: "XLA_FFI_Api", First: "Error_Create", Layout: ffiLayout, Functions: ffiFunctions, Constants: ffiConstants,
		Whole: whole, Headless: headless, Extra: [][2]string{{"HL_AT(hl_ffi_api, fn, %%zu);", "offsetof(XLA_FFI_Api, XLA_FFI_Error_Create)"}}}
}

// TestLayout compares abi_layout.h with every header on this machine. All headers must agree with the file: minor
// versions of the interfaces only add fields and functions.
func TestLayout(t *testing.T) {
	pjrt, ffi := abilayout.FindHeaders(t)
	abilayout.Check(t, *update, "go test -run TestLayout -update ./runtime/pjrt", []abilayout.Tables{pjrtTables(), ffiTables()}, [][]string{pjrt, ffi})
}

// TestLayoutIsWhole: abi_layout.h has every struct, function and constant of abi.h.
func TestLayoutIsWhole(t *testing.T) {
	abi, err := os.ReadFile("abi.h")
	if err != nil {
		t.Fatal(err)
	}
	layout, err := os.ReadFile("abi_layout.h")
	if err != nil {
		t.Fatal(err)
	}
	// No wheel carries the header of the FFI extension; the version numbers are hlocb's.
	known := map[string]bool{"hl_ffi_ext": true, "hl_register_args": true, "hl_register_versioned_args": true, "HL_FFI_MAJOR": true, "HL_FFI_MINOR": true}
	names := append(regexp.MustCompile(`(?m)^\} (hl_\w+);`).FindAllSubmatch(abi, -1), regexp.MustCompile(`\b(HL_[A-Z0-9_]+) = `).FindAllSubmatch(abi, -1)...)
	if len(names) < 100 {
		t.Fatalf("found only %d names in abi.h", len(names))
	}
	for _, m := range names {
		if name := string(m[1]); !known[name] && !regexp.MustCompile(`\(`+name+`,`).Match(layout) {
			t.Errorf("abi_layout.h lacks %s", name)
		}
	}
}

// TestElementTypes: the codes of element types agree with the headers.
func TestElementTypes(t *testing.T) {
	pjrt, ffi := abilayout.FindHeaders(t)
	names := map[tensor.DType]string{tensor.I1: "PRED", tensor.Complex64: "C64", tensor.Complex128: "C128"}
	for _, c := range []struct {
		headers []string
		prefix  string
		typeOf  func(code int) tensor.DType
	}{
		{pjrt, "PJRT_Buffer_Type_", func(code int) tensor.DType {
			d, _ := xlatypes.BufferType(int32(code))
			return d
		}},
		{ffi, "XLA_FFI_DataType_", xlatypes.FFIType},
	} {
		for _, h := range c.headers {
			var source, want strings.Builder
			fmt.Fprintf(&source, "#include %q\n#include <stdio.h>\nint main(void) {\n", h)
			text, err := os.ReadFile(h)
			if err != nil {
				t.Fatal(err)
			}
			for code := range 64 {
				d := c.typeOf(code)
				// Headers before API 0.115 lack the 6-bit floats.
				if d == tensor.Invalid || d.Bits() == 6 && !bytes.Contains(text, []byte("_F6E2M3FN")) {
					continue
				}
				name := names[d]
				if name == "" {
					name = strings.ToUpper(strings.Replace(strings.Replace(d.String(), "ui", "u", 1), "i", "s", 1))
				}
				fmt.Fprintf(&source, "  printf(\"%s %%d\\n\", (int)%s%s);\n", name, c.prefix, name)
				fmt.Fprintf(&want, "%s %d\n", name, code)
			}
			source.WriteString("}\n")
			if got := abilayout.CompileAndRun(t, source.String()); got != want.String() {
				t.Errorf("%s has\n%sexpected\n%s", h, got, want.String())
			}
		}
	}
}
