package interp

import "math"

// buildTable returns how each op kind is executed. It is the one place where an op is connected to its kernel.
func buildTable() map[string]row {
	t := map[string]row{
		// Control flow, functions, values that are no tensors.
		"func.call":                      {control: planCall},
		"stablehlo.while":                {control: planWhile},
		"stablehlo.if":                   {control: planIf},
		"stablehlo.case":                 {control: planCase},
		"stablehlo.optimization_barrier": {control: planForward},
		"stablehlo.after_all":            {control: planToken},
		"stablehlo.create_token":         {control: planToken},
		"stablehlo.tuple":                {control: planTuple},
		"stablehlo.get_tuple_element":    {control: planGetTupleElement},
		"stablehlo.constant":             {control: planConstant, elementwise: true},
		"stablehlo.replica_id":           {control: planReplicaID},
		"stablehlo.partition_id":         {control: planPartitionID},
		"stablehlo.custom_call":          {control: planCustomCall},
		"hlocb.hook":                     {control: planHook},

		"stablehlo.composite": {control: planComposite},

		// Hosts and devices.
		"stablehlo.outfeed":              {control: planOutfeed},
		"stablehlo.infeed":               {control: planInfeed},
		"stablehlo.send":                 {control: planSend},
		"stablehlo.recv":                 {control: planRecv},
		"stablehlo.all_gather":           {control: planAllGather, shape: allGatherShape, staticShapes: true},
		"stablehlo.all_reduce":           {control: planAllReduce, shape: eachOperandShape, staticShapes: true},
		"stablehlo.reduce_scatter":       {control: planReduceScatter, shape: reduceScatterShape, staticShapes: true},
		"stablehlo.all_to_all":           {control: planAllToAll, shape: allToAllShape, staticShapes: true},
		"stablehlo.collective_broadcast": {control: planCollectiveBroadcast, shape: eachOperandShape, staticShapes: true},
		"stablehlo.collective_permute":   {control: planCollectivePermute, shape: eachOperandShape, staticShapes: true},
		"stablehlo.collective_reduce":    {control: planCollectiveReduce, shape: eachOperandShape, staticShapes: true},
		"stablehlo.cross-replica-sum":    {control: planCrossReplicaSum, shape: eachOperandShape, staticShapes: true},
		"stablehlo.async_start":          {control: planAsyncStart},
		"stablehlo.async_done":           {control: planAsyncDone},
		"interpreter.run_parallel":       {control: planRunParallel},
		"sdy.sharding_constraint":        {control: planForward},
		"sdy.reshard":                    {control: planForward},
		"sdy.propagation_barrier":        {control: planForward},
		"sdy.manual_computation":         {control: planManual},
		"sdy.named_computation":          {control: planRegionCall},
		"sdy.sharding_group":             {control: planNothing},
		"sdy.constant":                   {control: planConstant, elementwise: true},
		// Reshardings: the value, which is the global one, stays.
		"sdy.all_gather":              {control: planForward},
		"sdy.all_reduce":              {control: planForward},
		"sdy.all_slice":               {control: planForward},
		"sdy.all_to_all":              {control: planForward},
		"sdy.collective_permute":      {control: planForward},
		"sdy.reduce_scatter":          {control: planForward},
		"sdy.replicated_to_unreduced": {control: planForward},
		"sdy.sharded_to_unreduced":    {control: planForward},
		"sdy.data_flow_edge":          {control: planForward},
		"sdy.func_data_flow_edge":     {control: planForward},

		// Expectations.
		"check.expect_eq":              {control: planCheckOp("equal", false)},
		"check.expect_eq_const":        {control: planCheckOp("equal", true)},
		"check.expect_almost_eq":       {control: planCheckOp("almost", false)},
		"check.expect_almost_eq_const": {control: planCheckOp("almost", true)},
		"check.expect_serialized_eq":   {control: planExpectSerialized},
		"interpreter.probe":            {control: planProbe},
		"interpreter.print":            {control: planPrint},
		"check.expect_close":           {control: planCheckOp("close", false)},

		// Data movement.
		"stablehlo.reshape":                  {control: planReshape, staticShapes: true},
		"stablehlo.broadcast_in_dim":         {make: makeBroadcastInDim},
		"stablehlo.broadcast":                {make: makeBroadcast},
		"stablehlo.transpose":                {make: makeTranspose, shape: transposeShape},
		"stablehlo.reverse":                  {make: makeReverse},
		"stablehlo.slice":                    {make: makeSlice},
		"stablehlo.dynamic_slice":            {make: makeDynamicSlice},
		"stablehlo.dynamic_update_slice":     {make: makeDynamicUpdateSlice},
		"stablehlo.concatenate":              {make: makeConcatenate, shape: concatenateShape},
		"stablehlo.pad":                      {make: makePad},
		"stablehlo.iota":                     {make: makeIota},
		"stablehlo.dynamic_iota":             {make: makeIota, shape: operandShape(0)},
		"stablehlo.dynamic_reshape":          {make: makeDynamicReshape, shape: operandShape(1)},
		"stablehlo.dynamic_broadcast_in_dim": {make: makeBroadcastInDim, shape: operandShape(1)},
		"stablehlo.dynamic_pad":              {make: makeDynamicPad, shape: dynamicPadShape},
		"stablehlo.real_dynamic_slice":       {make: makeRealDynamicSlice, shape: realDynamicSliceShape},
		"stablehlo.get_dimension_size":       {make: makeGetDimensionSize},
		"stablehlo.set_dimension_size":       {make: makeSetDimensionSize, shape: setDimensionSizeShape},

		// Element by element.
		"stablehlo.compare":          {make: makeCompare, elementwise: true},
		"stablehlo.select":           {make: makeSelect, elementwise: true},
		"stablehlo.clamp":            {make: makeClamp, elementwise: true},
		"stablehlo.convert":          {make: makeConvert, elementwise: true},
		"stablehlo.bitcast_convert":  {make: makeBitcast, control: planBitcast, shape: bitcastShape, staticShapes: true},
		"stablehlo.complex":          {make: makeComplex, elementwise: true},
		"stablehlo.real":             {make: makeReal, elementwise: true},
		"stablehlo.imag":             {make: makeImag, elementwise: true},
		"stablehlo.is_finite":        {make: makePredicate(isFinite), elementwise: true},
		"stablehlo.reduce_precision": {make: makeReducePrecision, elementwise: true},

		"stablehlo.gather":             {make: makeGather, shape: staticGatherShape},
		"stablehlo.dynamic_gather":     {make: makeDynamicGather, shape: dynamicGatherShape},
		"stablehlo.torch_index_select": {make: makeTorchIndexSelect},
		"stablehlo.scatter":            {control: planScatter, make: makeScatter, staticShapes: true},
		"stablehlo.sort":               {control: planSort, staticShapes: true},

		// Linear algebra, transforms, normalization.
		"stablehlo.cholesky":             {make: makeCholesky},
		"stablehlo.triangular_solve":     {make: makeTriangularSolve},
		"stablehlo.fft":                  {make: makeFFT},
		"stablehlo.batch_norm_inference": {make: makeBatchNormInference},
		"stablehlo.batch_norm_training":  {make: makeBatchNormTraining},
		"stablehlo.batch_norm_grad":      {make: makeBatchNormGrad},

		// Quantized values.
		"stablehlo.uniform_quantize":   {make: makeQuantize},
		"stablehlo.uniform_dequantize": {make: makeDequantize},

		// Random numbers.
		"stablehlo.rng_bit_generator": {make: makeRngBitGenerator},
		"stablehlo.rng":               {make: makeRng, shape: rngShape},

		// Products and reductions.
		"stablehlo.dot_general":        {make: makeDotGeneral, shape: dotGeneralShape},
		"stablehlo.einsum":             {make: makeEinsum},
		"stablehlo.unary_einsum":       {make: makeUnaryEinsum},
		"stablehlo.dot":                {make: makeDot},
		"stablehlo.reduce":             {control: planReduce, make: makeReduce, shape: reduceShape, staticShapes: true},
		"stablehlo.reduce_window":      {control: planReduceWindow, shape: reduceWindowShape, staticShapes: true},
		"stablehlo.select_and_scatter": {control: planSelectAndScatter, staticShapes: true},
		"stablehlo.map":                {control: planMap, staticShapes: true},
		"stablehlo.convolution":        {make: makeConvolution},
		"stablehlo.dynamic_conv":       {make: makeDynamicConv},
	}
	binary := binaryOps()
	for name, l := range binary {
		t["stablehlo."+name] = row{make: makeBinary(name, l), elementwise: true}
	}
	for _, name := range []string{"shift_left", "shift_right_arithmetic", "shift_right_logical"} {
		t["stablehlo."+name] = row{make: makeBinary(name, nil), elementwise: true}
	}
	unary := unaryOps()
	for name, u := range unary {
		t["stablehlo."+name] = row{make: makeUnary(u), elementwise: true}
	}
	for name, u := range chloUnary() {
		t["chlo."+name] = row{make: makeUnary(u), elementwise: true}
	}
	t["stablehlo.tan"] = t["chlo.tan"]
	for name, l := range chloBinary() {
		t["chlo."+name] = row{make: makeBinary(name, l), elementwise: true}
	}
	for name, f := range map[string]func(float64) bool{
		"is_inf":     func(v float64) bool { return math.IsInf(v, 0) },
		"is_pos_inf": func(v float64) bool { return math.IsInf(v, 1) },
		"is_neg_inf": func(v float64) bool { return math.IsInf(v, -1) },
	} {
		t["chlo."+name] = row{make: makePredicate(f), elementwise: true}
	}
	t["chlo.next_after"] = row{make: makeNextAfter, elementwise: true}
	t["chlo.constant"] = row{control: planConstant, elementwise: true}
	t["chlo.constant_like"] = row{make: makeConstantLike}
	t["chlo.top_k"] = row{make: makeTopK}
	t["chlo._asin_acos_kernel"] = row{make: makeUnary(&unaryOp{c: asinAcosKernel, cost: 30}), elementwise: true}
	t["chlo.ragged_dot"] = row{make: makeRaggedDot}
	t["chlo.scan"] = row{control: planScan, shape: scanShape, staticShapes: true}
	for _, name := range []string{"add", "and", "atan2", "compare", "complex", "divide", "maximum", "minimum", "multiply", "or", "power",
		"remainder", "select", "shift_left", "shift_right_arithmetic", "shift_right_logical", "subtract", "xor"} {
		t["chlo.broadcast_"+name] = row{make: makeBroadcasting(t["stablehlo."+name]), shape: broadcastShape}
	}
	for _, name := range []string{"next_after", "polygamma", "zeta"} {
		t["chlo.broadcast_"+name] = row{make: makeBroadcasting(t["chlo."+name]), shape: broadcastShape}
	}
	t["stablehlo.abs"] = row{make: makeAbs(unary["abs"]), elementwise: true}
	addMHLO(t)
	return t
}
