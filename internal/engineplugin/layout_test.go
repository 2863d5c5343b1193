//go:build cgo

package engineplugin

import (
	"flag"
	"os"
	"regexp"
	"testing"

	"github.com/hlocb/hlocb/internal/abilayout"
)

var update = flag.Bool("update", false, "write abi_layout.h from the header of the PJRT C API")

// tables maps the structs of abi.h, and of runtime/pjrt/abi.h where a plugin uses them for more, to pjrt_c_api.h.
var tables = abilayout.Tables{Prefix: "PJRT_", API: "PJRT_Api", First: "Error_Destroy",
	Layout: `
hl_object_args LoadedExecutable_Delete_Args object=executable
hl_object_args Buffer_Delete_Args object=buffer
hl_object_args TopologyDescription_Destroy_Args object=topology
hl_object_args Event_Error_Args object=event
hl_object_args ExecuteContext_Destroy_Args object=context
hl_get_args Client_TopologyDescription_Args object=client other=topology
hl_get_args Device_DefaultMemory_Args object=device other=memory
hl_get_args Buffer_Device_Args object=buffer other=device
hl_get_args Buffer_Memory_Args object=buffer other=memory
hl_get_args Buffer_ReadyEvent_Args object=buffer other=event
hl_get_args Buffer_UnsafePointer_Args object=buffer other=buffer_pointer
hl_int_args Client_ProcessIndex_Args object=client number=process_index
hl_int_args DeviceDescription_ProcessIndex_Args object=device_description number=process_index
hl_int_args Memory_Id_Args object=memory number=id
hl_int_args Memory_Kind_Id_Args object=memory number=kind_id
hl_int_args Buffer_ElementType_Args object=buffer number=type
hl_is_ready_args Device_IsAddressable_Args event=device ready=is_addressable
hl_is_ready_args Buffer_IsDeleted_Args event=buffer ready=is_deleted
hl_is_ready_args Buffer_IsOnCpu_Args event=buffer ready=is_on_cpu
hl_is_ready_args LoadedExecutable_IsDeleted_Args event=executable ready=is_deleted
hl_text_args DeviceDescription_ToString_Args object=device_description text=to_string text_size=to_string_size
hl_text_args Memory_Kind_Args object=memory text=kind text_size=kind_size
hl_text_args Memory_DebugString_Args object=memory text=debug_string text_size=debug_string_size
hl_text_args Memory_ToString_Args object=memory text=to_string text_size=to_string_size
hl_text_args Executable_Name_Args object=executable text=executable_name text_size=executable_name_size
hl_text_args Executable_Fingerprint_Args object=executable text=executable_fingerprint text_size=executable_fingerprint_size
hl_text_args TopologyDescription_PlatformName_Args object=topology text=platform_name text_size=platform_name_size
hl_text_args TopologyDescription_PlatformVersion_Args object=topology text=platform_version text_size=platform_version_size
hl_list_args Client_Devices_Args object=client items=devices num_items=num_devices
hl_list_args Client_AddressableMemories_Args object=client items=addressable_memories num_items=num_addressable_memories
hl_list_args Device_AddressableMemories_Args object=device items=memories num_items=num_memories
hl_list_args Memory_AddressableByDevices_Args object=memory items=devices num_items=num_devices
hl_list_args TopologyDescription_GetDeviceDescriptions_Args object=topology items=descriptions num_items=num_descriptions
hl_list_args TopologyDescription_Attributes_Args object=topology items=attributes num_items=num_attributes
hl_list_args LoadedExecutable_AddressableDeviceLogicalIds_Args object=executable items=addressable_device_logical_ids num_items=num_addressable_device_logical_ids
hl_list_args Buffer_Dimensions_Args object=buffer items=dims num_items=num_dims
hl_list_args Buffer_UnpaddedDimensions_Args object=buffer items=unpadded_dims num_items=num_dims
hl_list_args Buffer_DynamicDimensionIndices_Args object=buffer items=dynamic_dim_indices num_items=num_dynamic_dims
hl_size_args Executable_NumReplicas_Args object=executable number=num_replicas
hl_size_args Executable_NumPartitions_Args object=executable number=num_partitions
hl_size_args Executable_NumOutputs_Args object=executable number=num_outputs
hl_size_args Executable_SizeOfGeneratedCodeInBytes_Args object=executable number=size_in_bytes
hl_size_args Buffer_OnDeviceSizeInBytes_Args object=buffer number=on_device_size_in_bytes
hl_size_args TopologyDescription_Fingerprint_Args object=topology number=fingerprint
hl_lookup_args Client_LookupDevice_Args client id device
hl_lookup_args Client_LookupAddressableDevice_Args client id=local_hardware_id device=addressable_device
hl_counted_args DeviceDescription_Attributes_Args object=device_description num_items=num_attributes items=attributes
hl_counted_args Executable_GetCostAnalysis_Args object=executable num_items=num_properties items=properties
hl_kinds_args Executable_OutputMemoryKinds_Args executable num_items=num_outputs kinds=memory_kinds sizes=memory_kind_sizes
hl_kinds_args Executable_ParameterMemoryKinds_Args executable num_items=num_parameters kinds=memory_kinds sizes=memory_kind_sizes
hl_assignment_args Client_DefaultDeviceAssignment_Args client replicas=num_replicas partitions=num_partitions capacity=default_assignment_size assignment=default_assignment
hl_bytes_args Executable_Serialize_Args object=executable bytes=serialized_bytes num_bytes=serialized_bytes_size backing=serialized_executable release=serialized_executable_deleter
hl_bytes_args Executable_GetCompileOptions_Args object=executable bytes=serialized_bytes num_bytes=serialized_bytes_size backing=serialized_compile_options release=serialized_compile_options_deleter
hl_bytes_args LoadedExecutable_GetDeviceAssignment_Args object=executable bytes=serialized_bytes num_bytes=serialized_bytes_size backing=serialized_device_assignment release=serialized_device_assignment_deleter
hl_device_attributes_args Device_GetAttributes_Args device attributes num_attributes backing=device_attributes release=attributes_deleter
hl_copy_args Buffer_CopyToDevice_Args buffer to=dst_device copy=dst_buffer
hl_copy_args Buffer_CopyToMemory_Args buffer to=dst_memory copy=dst_buffer
hl_bitcast_args Buffer_Bitcast_Args buffer type=element_type dims num_dims layout=device_layout copy=out_buffer
hl_raw_args Buffer_CopyRawToHost_Args buffer data=dst offset num_bytes=transfer_size event
hl_view_args Client_CreateViewOfDeviceBuffer_Args client data=device_buffer_ptr dims num_dims type=element_type layout device on_delete=on_delete_callback on_delete_arg=on_delete_callback_arg stream buffer memory
hl_context_create_args ExecuteContext_Create_Args context
hl_memory_stats_args Executable_GetCompiledMemoryStats_Args executable code=generated_code_size_in_bytes arguments=argument_size_in_bytes outputs=output_size_in_bytes aliases=alias_size_in_bytes temporaries=temp_size_in_bytes host_code=host_generated_code_size_in_bytes host_arguments=host_argument_size_in_bytes host_outputs=host_output_size_in_bytes host_aliases=host_alias_size_in_bytes host_temporaries=host_temp_size_in_bytes peak=peak_memory_in_bytes
hl_logical_id LogicalDeviceIds replica partition
`,
	Functions: `
HL_EVENT_ERROR Event_Error
HL_CLIENT_PROCESS_INDEX Client_ProcessIndex
HL_CLIENT_DEVICES Client_Devices
HL_CLIENT_LOOKUP_DEVICE Client_LookupDevice
HL_CLIENT_LOOKUP_ADDRESSABLE_DEVICE Client_LookupAddressableDevice
HL_CLIENT_ADDRESSABLE_MEMORIES Client_AddressableMemories
HL_CLIENT_DEFAULT_DEVICE_ASSIGNMENT Client_DefaultDeviceAssignment
HL_DESCRIPTION_PROCESS_INDEX DeviceDescription_ProcessIndex
HL_DESCRIPTION_ATTRIBUTES DeviceDescription_Attributes
HL_DESCRIPTION_TO_STRING DeviceDescription_ToString
HL_DEVICE_IS_ADDRESSABLE Device_IsAddressable
HL_DEVICE_ADDRESSABLE_MEMORIES Device_AddressableMemories
HL_DEVICE_DEFAULT_MEMORY Device_DefaultMemory
HL_DEVICE_MEMORY_STATS Device_MemoryStats
HL_MEMORY_ID Memory_Id
HL_MEMORY_KIND Memory_Kind
HL_MEMORY_DEBUG_STRING Memory_DebugString
HL_MEMORY_TO_STRING Memory_ToString
HL_MEMORY_DEVICES Memory_AddressableByDevices
HL_EXECUTABLE_NAME Executable_Name
HL_EXECUTABLE_NUM_REPLICAS Executable_NumReplicas
HL_EXECUTABLE_NUM_PARTITIONS Executable_NumPartitions
HL_EXECUTABLE_NUM_OUTPUTS Executable_NumOutputs
HL_EXECUTABLE_CODE_SIZE Executable_SizeOfGeneratedCodeInBytes
HL_EXECUTABLE_COST_ANALYSIS Executable_GetCostAnalysis
HL_EXECUTABLE_OUTPUT_MEMORY_KINDS Executable_OutputMemoryKinds
HL_LOADED_DELETE LoadedExecutable_Delete
HL_LOADED_IS_DELETED LoadedExecutable_IsDeleted
HL_BUFFER_TYPE Buffer_ElementType
HL_BUFFER_DIMENSIONS Buffer_Dimensions
HL_BUFFER_UNPADDED_DIMENSIONS Buffer_UnpaddedDimensions
HL_BUFFER_DYNAMIC_DIMENSIONS Buffer_DynamicDimensionIndices
HL_BUFFER_SIZE Buffer_OnDeviceSizeInBytes
HL_BUFFER_DEVICE Buffer_Device
HL_BUFFER_MEMORY Buffer_Memory
HL_BUFFER_DELETE Buffer_Delete
HL_BUFFER_IS_DELETED Buffer_IsDeleted
HL_BUFFER_COPY_TO_DEVICE Buffer_CopyToDevice
HL_BUFFER_UNSAFE_POINTER Buffer_UnsafePointer
HL_TOPOLOGY_DESTROY TopologyDescription_Destroy
HL_TOPOLOGY_PLATFORM_NAME TopologyDescription_PlatformName
HL_TOPOLOGY_PLATFORM_VERSION TopologyDescription_PlatformVersion
HL_TOPOLOGY_DESCRIPTIONS TopologyDescription_GetDeviceDescriptions
HL_TOPOLOGY_ATTRIBUTES TopologyDescription_Attributes
HL_BUFFER_COPY_TO_MEMORY Buffer_CopyToMemory
HL_CLIENT_VIEW_OF_DEVICE_BUFFER Client_CreateViewOfDeviceBuffer
HL_EXECUTABLE_FINGERPRINT Executable_Fingerprint
HL_CLIENT_TOPOLOGY Client_TopologyDescription
HL_EXECUTABLE_MEMORY_STATS Executable_GetCompiledMemoryStats
HL_MEMORY_KIND_ID Memory_Kind_Id
HL_BUFFER_COPY_RAW_TO_HOST Buffer_CopyRawToHost
HL_LOADED_DEVICE_ASSIGNMENT LoadedExecutable_GetDeviceAssignment
HL_EXECUTABLE_COMPILE_OPTIONS Executable_GetCompileOptions
HL_DEVICE_ATTRIBUTES Device_GetAttributes
HL_LOADED_LOGICAL_IDS LoadedExecutable_AddressableDeviceLogicalIds
HL_BUFFER_BITCAST Buffer_Bitcast
HL_ERROR_PAYLOADS Error_ForEachPayload
HL_TOPOLOGY_FINGERPRINT TopologyDescription_Fingerprint
HL_EXECUTABLE_PARAMETER_MEMORY_KINDS Executable_ParameterMemoryKinds
`,
	Constants: `
HL_PJRT_MINOR API_MINOR
HL_EXT_LAYOUTS Extension_Type_Layouts
HL_EXT_SHARDINGS Extension_Type_Shardings
HL_UNKNOWN Error_Code_UNKNOWN
HL_INVALID_ARGUMENT Error_Code_INVALID_ARGUMENT
HL_NOT_FOUND Error_Code_NOT_FOUND
HL_RESOURCE_EXHAUSTED Error_Code_RESOURCE_EXHAUSTED
HL_FAILED_PRECONDITION Error_Code_FAILED_PRECONDITION
HL_UNIMPLEMENTED Error_Code_UNIMPLEMENTED
HL_INTERNAL Error_Code_INTERNAL
HL_TYPE_TOKEN Buffer_Type_TOKEN
`,
	Headless: map[string][]string{"hl_logical_id": nil}, Whole: []string{"hl_logical_id"},
	Extra: [][2]string{{"HL_IS(HL_PJRT_FUNCTIONS, %%zu);", "(sizeof(PJRT_Api) - offsetof(PJRT_Api, PJRT_Error_Destroy)) / sizeof(void *)"}},
}

// TestLayout compares abi_layout.h with the public header of the version whose table the plugin has.
func TestLayout(t *testing.T) {
	var headers []string
	if file := abilayout.NewestHeader(); file != "" {
		headers = append(headers, file)
	}
	abilayout.Check(t, *update, "go test -run TestLayout -update ./internal/engineplugin", []abilayout.Tables{tables}, [][]string{headers})
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
	// No wheel carries the headers of the extensions.
	known := map[string]bool{"hl_layouts_ext": true, "hl_default_layout_args": true, "hl_shardings_ext": true, "hl_user_data_args": true, "hl_register_type_args": true}
	names := append(regexp.MustCompile(`(?m)^\} (hl_\w+);`).FindAllSubmatch(abi, -1), regexp.MustCompile(`\b(HL_[A-Z0-9_]+) = `).FindAllSubmatch(abi, -1)...)
	if len(names) < 60 {
		t.Fatalf("found only %d names in abi.h", len(names))
	}
	for _, m := range names {
		if name := string(m[1]); !known[name] && !regexp.MustCompile(`\(`+name+`,`).Match(layout) {
			t.Errorf("abi_layout.h lacks %s", name)
		}
	}
}
