package hlo

// protoSchema lists the messages and enumerations of HLO's protos for their text form. A message has fields
// name=number:type, with * after the number if the field is repeated. A type is i (integer), b (bool), f (float),
// d (double), s (string or bytes), - (not read), #enumeration, or a message. A line that begins with a tab continues
// the line before it.
const protoSchema = `
HloModuleProto: name=1:s entry_computation_name=2:s entry_computation_id=6:i computations=3*:HloComputationProto
	host_program_shape=4:ProgramShapeProto id=5:i pjrt_id=23:i schedule=7:HloScheduleProto
	input_output_alias=8:HloInputOutputAliasProto payloads=22*:s buffer_donor=18:HloBufferDonorProto
	cross_program_prefetches=10*:CrossProgramPrefetch is_dynamic=11:b spmd_output_sharding=12:OpSharding
	spmd_parameters_shardings=14*:OpSharding use_auto_spmd_partitioning=16:b
	profile_info=13*:HloModuleProto.ProfileInfo device_assignment=15:DeviceAssignmentProto
	stack_frame_index=17:StackFrameIndexProto frontend_attributes=19:FrontendAttributes
	original_value_recovery_table=20:OriginalValueRecoveryTableProto device_type=21:s
	debug_attributes=24*:DebugAttributeTableEntryProto
HloSnapshot: hlo=1:HloProto arguments=2*:LiteralProto result=3:LiteralProto execution_platform=4:s
HloComputationProto: name=1:s instructions=2*:HloInstructionProto program_shape=4:ProgramShapeProto id=5:i
	root_id=6:i is_fusion_computation=7:b execution_thread=8:s
ProgramShapeProto: parameters=1*:ShapeProto result=2:ShapeProto parameter_names=3*:s
HloScheduleProto: sequences=1*:HloScheduleProto.SequencesEntry
HloInputOutputAliasProto: entries=1*:HloInputOutputAliasProto.AliasEntryProto
HloBufferDonorProto: entries=1*:HloBufferDonorProto.BufferDonorEntryProto
CrossProgramPrefetch: parameter=1:i index=2*:i offset=3:i
OpSharding: type=1:#OpSharding.Type tile_shape=2:ShapeProto tile_assignment_dimensions=3*:i
	tile_assignment_devices=4*:i tuple_shardings=5*:OpSharding replicate_on_last_tile_dim=6:b metadata=7*:OpMetadata
	last_tile_dims=8*:#OpSharding.Type iota_reshape_dims=9*:i iota_transpose_perm=10*:i is_shard_group=11:b
	shard_group_id=12:i shard_group_type=13:#OpSharding.ShardGroupType named_sharding=14:NamedShardingProto
HloModuleProto.ProfileInfo: profile_type=1:#HloModuleProto.ProfileType relative_speedup=2:d
	profile_source=3:#ProfileSource compilation_event=4:#CompilationEvent fingerprint=5:s
	profile_generation_strategy=6:#ProfileGenerationStrategy original_changelist=7:i changelist=8:i
DeviceAssignmentProto: replica_count=1:i computation_count=2:i
	computation_devices=3*:DeviceAssignmentProto.ComputationDevice
StackFrameIndexProto: file_names=1*:s function_names=2*:s file_locations=3*:StackFrameIndexProto.FileLocation
	stack_frames=4*:StackFrameIndexProto.StackFrame
FrontendAttributes: map=1*:FrontendAttributes.MapEntry
OriginalValueRecoveryTableProto: entries=1*:OriginalValueRecoveryTableProto.Entry
DebugAttributeTableEntryProto: original_array=1:OriginalArrayProto debug_attributes=2*:DebugAttributesProto
LiteralProto: shape=1:ShapeProto preds=2*:b s1s=30:s s2s=26:s s4s=21:s s8s=15:s u1s=31:s u2s=27:s u4s=22:s u8s=3:s
	s32s=4*:i s64s=5*:i u32s=6*:i u64s=7*:i f32s=8*:f f64s=9*:d c64s=12*:f c128s=18*:d tuple_literals=10*:LiteralProto
	f16s=11:s bf16s=13:s u16s=16:s s16s=17:s f4e2m1fns=32:s f8e3m4s=29:s f8e4m3b11fnuzs=23:s f8e4m3fns=20:s
	f8e4m3fnuzs=25:s f8e4m3s=28:s f8e5m2fnuzs=24:s f8e5m2s=19:s f8e8m0fnus=33:s f6e3m2fns=35:s f6e2m3fns=36:s
	sparse_indices=14*:i dynamic_sizes=34*:i
HloInputs: arguments=1*:LiteralProto arguments_descriptors=2*:HloInputs.LiteralDescriptor
HloInstructionProto: name=1:s opcode=2:s shape=3:ShapeProto metadata=7:OpMetadata literal=8:LiteralProto
	parameter_number=9:i fusion_kind=11:s tuple_index=13:i dimensions=14*:i window=15:Window
	convolution_dimension_numbers=16:ConvolutionDimensionNumbers feature_group_count=50:i batch_group_count=58:i
	slice_dimensions=17*:HloInstructionProto.SliceDimensions exponent_bits=18:i mantissa_bits=19:i
	dynamic_slice_sizes=20*:i padding_config=21:PaddingConfig outfeed_config=22:s distribution=23:#RandomDistribution
	epsilon=24:f feature_index=25:i channel_id=26:i infeed_config=27:s custom_call_target=28:s
	outfeed_shape=29:ShapeProto dot_dimension_numbers=30:DotDimensionNumbers
	ragged_dot_dimension_numbers=90:RaggedDotDimensionNumbers fft_type=31:#FftType fft_length=32*:i
	comparison_direction=63:s gather_dimension_numbers=33:GatherDimensionNumbers gather_slice_sizes=34*:i id=35:i
	operand_ids=36*:i control_predecessor_ids=37*:i called_computation_ids=38*:i sharding=40:OpSharding
	backend_config=43:s backend_config_payload=99:Payload replica_groups=49*:ReplicaGroup all_reduce_id=45:i
	use_global_device_ids=71:b is_host_transfer=47:b is_stable=60:b
	scatter_dimension_numbers=48:ScatterDimensionNumbers precision_config=51:PrecisionConfig
	source_target_pairs=52*:SourceTarget domain_entry_sharding=54:OpSharding domain_exit_sharding=55:OpSharding
	constrain_layout=56:b operand_shapes_with_layout=57*:ShapeProto triangular_solve_options=59:TriangularSolveOptions
	cholesky_options=62:CholeskyOptions parameter_replication=61:ParameterReplication custom_call_has_side_effect=65:b
	output_operand_aliasing=74*:OutputOperandAliasing custom_call_schedule=76:#CustomCallSchedule delta=66:i
	indices_are_sorted=67:b frontend_attributes=68:FrontendAttributes unique_indices=69:b
	rng_algorithm=70:#RandomAlgorithm comparison_type=72:s is_cross_program_prefetch=73:b
	cross_program_prefetch_index=80:i padding_type=75:#PaddingType custom_call_api_version=77:#CustomCallApiVersion
	async_execution_thread=79:s k=81:i largest=85:b statistics_viz=82:StatisticsViz
	collective_device_list=87:CollectiveDeviceListProto iota_collective_device_list=92:IotaReplicaGroupListProto
	mesh_axes_replica_group_list=93:MeshAxesReplicaGroupListProto original_value=88:OriginalValueProto
	is_composite=89:b result_accuracy=91:ResultAccuracy is_reverse=94:b num_carries=95:i is_associative=96:#TriState
	conv_kind=97:#ConvolutionKind sparsity_config=98:SparsityConfig has_dynamic_root=100:b
	block_scaling_config=101:BlockScalingConfig comparison_order=102:s
ShapeProto: element_type=2:#PrimitiveType dimensions=3*:i is_dynamic_dimension=6*:b tuple_shapes=4*:ShapeProto
	layout=5:LayoutProto
HloScheduleProto.SequencesEntry: key=1:i value=2:HloScheduleProto.InstructionSequence
HloInputOutputAliasProto.AliasEntryProto: output_shape_index=1*:i parameter_number=2:i parameter_shape_index=3*:i
	kind=4:#Kind
HloBufferDonorProto.BufferDonorEntryProto: parameter_number=1:i parameter_shape_index=2*:i
OpMetadata: op_type=1:s op_name=2:s source_file=3:s source_line=4:i source_end_line=17:i source_column=18:i
	source_end_column=19:i profile_type=5*:#ProfileType size_of_generated_code_in_bytes=8:i
	size_of_memory_working_set_in_bytes=9:i profile_info=10:OpMetadata.ProfileInfo deduplicated_name=12:s
	stack_frame_id=15:i scheduling_name=16:s metadata_payload=20:Payload
NamedShardingProto: mesh=2:MeshProto dim_shardings=3*:NamedShardingProto.DimensionSharding
	replicated_axes=4*:AxisRefProto unreduced_axes=5*:AxisRefProto reduction_op=8:#NamedShardingProto.ReductionOpProto
	manual_axes=7*:AxisRefProto metadata=6*:OpMetadata
DeviceAssignmentProto.ComputationDevice: replica_device_ids=1*:i
StackFrameIndexProto.FileLocation: file_name_id=1:i function_name_id=2:i line=3:i end_line=5:i column=4:i
	end_column=6:i
StackFrameIndexProto.StackFrame: file_location_id=1:i parent_frame_id=2:i
FrontendAttributes.MapEntry: key=1:s value=2:s
OriginalValueRecoveryTableProto.Entry: old_original_array=1:OriginalArrayProto
	new_original_array=2:OriginalArrayProto recovery_module=3:HloModuleProto
OriginalArrayProto: instruction_name=1:s shape_index=2*:i
DebugAttributesProto: log_mode=1:#DebugAttributesProto.DebugLogModeProto callback_id=2:i op_id=3:i partitioned=4:b
	operands_sharding=5:s x64_config=6:X64ConfigProto
HloInputs.LiteralDescriptor: version=1:i argument_size_bytes=2:i
Window: dimensions=1*:WindowDimension
ConvolutionDimensionNumbers: input_batch_dimension=7:i input_feature_dimension=8:i input_spatial_dimensions=11*:i
	kernel_input_feature_dimension=3:i kernel_output_feature_dimension=4:i kernel_spatial_dimensions=6*:i
	output_batch_dimension=9:i output_feature_dimension=10:i output_spatial_dimensions=12*:i
HloInstructionProto.SliceDimensions: start=1:i limit=2:i stride=3:i
PaddingConfig: dimensions=1*:PaddingConfig.PaddingConfigDimension
DotDimensionNumbers: lhs_contracting_dimensions=1*:i rhs_contracting_dimensions=2*:i lhs_batch_dimensions=3*:i
	rhs_batch_dimensions=4*:i
RaggedDotDimensionNumbers: dot_dimension_numbers=1:DotDimensionNumbers lhs_ragged_dimensions=2*:i
	rhs_group_dimensions=3*:i
GatherDimensionNumbers: offset_dims=1*:i collapsed_slice_dims=2*:i start_index_map=3*:i index_vector_dim=4:i
	operand_batching_dims=5*:i start_indices_batching_dims=6*:i
Payload: value=1:s id=2:i
ReplicaGroup: replica_ids=1*:i
ScatterDimensionNumbers: update_window_dims=1*:i inserted_window_dims=2*:i scatter_dims_to_operand_dims=3*:i
	index_vector_dim=4:i input_batching_dims=5*:i scatter_indices_batching_dims=6*:i
PrecisionConfig: operand_precision=1*:#PrecisionConfig.Precision algorithm=2:#PrecisionConfig.Algorithm
SourceTarget: source=1:i target=2:i
TriangularSolveOptions: left_side=1:b lower=2:b unit_diagonal=3:b transpose_a=4:#TriangularSolveOptions.Transpose
CholeskyOptions: lower=1:b
ParameterReplication: replicated_at_leaf_buffers=1*:b
OutputOperandAliasing: output_shape_index=1*:i operand_index=2:i operand_shape_index=3*:i
StatisticsViz: stat_index_to_visualize=1:i statistics=2*:Statistic
CollectiveDeviceListProto: replica_groups=1*:ReplicaGroup
IotaReplicaGroupListProto: num_replica_groups=1:i num_devices_per_group=2:i iota_reshape_dims=3*:i
	iota_transpose_perm=4*:i
MeshAxesReplicaGroupListProto: mesh=1:MeshProto axes=2*:AxisRefProto
OriginalValueProto: elements=1*:OriginalValueElementProto is_synthetic_call=2:b call_hierarchy=3:s
ResultAccuracy: mode=1:#ResultAccuracy.Mode tolerance=2:ResultAccuracy.Tolerance
SparsityConfig: lhs=1:SparsityConfig.TensorSparsityConfig rhs=2:SparsityConfig.TensorSparsityConfig
BlockScalingConfig: lhs=1:BlockScalingConfig.TensorBlockScalingConfig
	rhs=2:BlockScalingConfig.TensorBlockScalingConfig
LayoutProto: minor_to_major=1*:i dim_level_types=9*:#DimLevelType dim_unique=13*:b dim_ordered=14*:b
	tiles=6*:TileProto tail_padding_alignment_in_elements=16:i element_size_in_bits=7:i memory_space=8:i
	index_primitive_type=11:#PrimitiveType pointer_primitive_type=12:#PrimitiveType physical_shape=10:ShapeProto
	dynamic_shape_metadata_prefix_bytes=15:i split_configs=17*:SplitConfigProto
HloScheduleProto.InstructionSequence: instruction_ids=1*:i
OpMetadata.ProfileInfo: profile_type=1*:#ProfileType relative_speedup=2:d profile_source=3:#ProfileSource
	compilation_event=4:#CompilationEvent profile_generation_strategy=5:#ProfileGenerationStrategy
MeshProto: axes=1*:MeshProto.MeshAxis device_ids=2*:i iota_transform=3:MeshProto.IotaTransform
NamedShardingProto.DimensionSharding: axes=1*:AxisRefProto is_closed=2:b
AxisRefProto: mesh_axis_index=1:i sub_axis_info=2:AxisRefProto.SubAxis
X64ConfigProto: xprecision_64bit_fragment=1:s original_log_instruction_name=2:s xprecision_64bit_original_type=3:s
WindowDimension: size=1:i stride=2:i padding_low=3:i padding_high=4:i window_dilation=5:i base_dilation=6:i
	window_reversal=7:b
PaddingConfig.PaddingConfigDimension: edge_padding_low=1:i edge_padding_high=2:i interior_padding=3:i
Statistic: stat_name=1:s stat_val=2:d
OriginalValueElementProto: shape_index=1*:i original_array=2:OriginalArrayProto
ResultAccuracy.Tolerance: atol=1:d rtol=2:d ulps=3:i
SparsityConfig.TensorSparsityConfig: num_non_zero=1:i block_size=2:i dimension=3:i stride=4:i idx=5:i
BlockScalingConfig.TensorBlockScalingConfig: scale_idx=1:i zero_idx=2:i strides=3*:i steps=4*:i
TileProto: dimensions=1*:i
SplitConfigProto: dimension=1:i split_indices=2*:i
MeshProto.MeshAxis: name=1:s size=2:i
MeshProto.IotaTransform: reshape_dims=1*:i transpose_perm=2*:i
AxisRefProto.SubAxis: pre_size=1:i size=2:i
HloProto: hlo_module=1:HloModuleProto partitions=2*:HloInputs buffer_assignment=3:-
#CompilationEvent: COMPILATION_EVENT_UNKNOWN_EVENT=0 COMPILATION_EVENT_FIRST_COMPILATION=1
	COMPILATION_EVENT_RECOMPILATION=2
#ConvolutionKind: CONVOLUTION_KIND_UNSET=0 CONVOLUTION_KIND_FPROP=1 CONVOLUTION_KIND_DGRAD=2
	CONVOLUTION_KIND_WGRAD=3
#CustomCallApiVersion: API_VERSION_UNSPECIFIED=0 API_VERSION_ORIGINAL=1 API_VERSION_STATUS_RETURNING=2
	API_VERSION_STATUS_RETURNING_UNIFIED=3 API_VERSION_TYPED_FFI=4
#CustomCallSchedule: SCHEDULE_NONE=0 SCHEDULE_LATEST=1 SCHEDULE_EARLIEST=2
#DebugAttributesProto.DebugLogModeProto: NONE=0 DEFAULT=1 FUSION_DEBUGGER=2 NO_FUSION=3 GUARANTEED=4
#DimLevelType: DIM_DENSE=0 DIM_COMPRESSED=1 DIM_SINGLETON=2 DIM_LOOSE_COMPRESSED=3
#FftType: FFT=0 IFFT=1 RFFT=2 IRFFT=3
#HloModuleProto.ProfileType: INVALID=0 FLAG=1 FUSION=2 LAYOUT=3 DOT=4 FLAGNET=5 SHARDING=6 SCHEDULE=7
#Kind: UNDEFINED_ALIAS=0 MAY_ALIAS=1 MUST_ALIAS=2
#NamedShardingProto.ReductionOpProto: SUM=0 MAX=1 MIN=2
#OpSharding.ShardGroupType: AS=0 LIKE=1
#OpSharding.Type: REPLICATED=0 MAXIMAL=1 TUPLE=2 OTHER=3 MANUAL=4 UNKNOWN=5 UNREDUCED=6
#PaddingType: PADDING_INVALID=0 PADDING_VALID=1 PADDING_SAME=2
#PrecisionConfig.Algorithm: ALG_UNSET=0 ALG_DOT_ANY_F8_ANY_F8_F32=1 ALG_DOT_ANY_F8_ANY_F8_F32_FAST_ACCUM=2
	ALG_DOT_F16_F16_F16=3 ALG_DOT_F16_F16_F32=4 ALG_DOT_BF16_BF16_BF16=5 ALG_DOT_BF16_BF16_F32=6
	ALG_DOT_BF16_BF16_F32_X3=7 ALG_DOT_BF16_BF16_F32_X6=8 ALG_DOT_TF32_TF32_F32=9 ALG_DOT_TF32_TF32_F32_X3=10
	ALG_DOT_F32_F32_F32=11 ALG_DOT_F64_F64_F64=12 ALG_DOT_BF16_BF16_F32_X9=13
#PrecisionConfig.Precision: DEFAULT=0 HIGH=1 HIGHEST=2
#PrimitiveType: PRIMITIVE_TYPE_INVALID=0 PRED=1 S1=30 S2=26 S4=21 S8=2 S16=3 S32=4 S64=5 U1=31 U2=27 U4=22 U8=6
	U16=7 U32=8 U64=9 F16=10 F32=11 BF16=16 F64=12 F8E5M2=19 F8E4M3=28 F8E4M3FN=20 F8E4M3B11FNUZ=23 F8E3M4=29
	F8E5M2FNUZ=24 F8E4M3FNUZ=25 F4E2M1FN=32 F8E8M0FNU=33 F6E3M2FN=35 F6E2M3FN=36 C64=15 C128=18 TUPLE=13 OPAQUE_TYPE=14
	TOKEN=17 BUFFER=34
#ProfileGenerationStrategy: PROFILE_GENERATION_STRATEGY_UNKNOWN=0 PROFILE_GENERATION_STRATEGY_GA=1
	PROFILE_GENERATION_STRATEGY_FANTA=2 PROFILE_GENERATION_STRATEGY_CFO=3 PROFILE_GENERATION_STRATEGY_EXHAUSTIVE=4
	PROFILE_GENERATION_STRATEGY_LCM_GNN=5 PROFILE_GENERATION_STRATEGY_LCM_MOE=6
#ProfileSource: PROFILE_SOURCE_UNKNOWN_SOURCE=0 PROFILE_SOURCE_EMBEDDED=1 PROFILE_SOURCE_REMOTE=2
#ProfileType: INVALID=0 WINDOW=1 FLAG=2 INTEGER=3
#RandomAlgorithm: RNG_DEFAULT=0 RNG_THREE_FRY=1 RNG_PHILOX=2
#RandomDistribution: RNG_INVALID=0 RNG_UNIFORM=1 RNG_NORMAL=2
#ResultAccuracy.Mode: DEFAULT=0 HIGHEST=1
#TriState: TRI_STATE_UNSPECIFIED=0 TRI_STATE_TRUE=1 TRI_STATE_FALSE=2
#TriangularSolveOptions.Transpose: TRANSPOSE_INVALID=0 NO_TRANSPOSE=1 TRANSPOSE=2 ADJOINT=3
`
