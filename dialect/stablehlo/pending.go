package stablehlo

import "github.com/hlocb/hlocb/ir"

// Rules that are still to come: until then what is written is taken as it is, and nothing is inferred.

func inferAbs(s *site) ([]ir.Type, error)                { return pending(s) }
func inferAllReduce(s *site) ([]ir.Type, error)          { return pending(s) }
func inferAllToAll(s *site) ([]ir.Type, error)           { return pending(s) }
func inferAsyncDone(s *site) ([]ir.Type, error)          { return pending(s) }
func inferBatchNormGrad(s *site) ([]ir.Type, error)      { return pending(s) }
func inferBatchNormInference(s *site) ([]ir.Type, error) { return pending(s) }
func inferBatchNormTraining(s *site) ([]ir.Type, error)  { return pending(s) }
func inferBroadcast(s *site) ([]ir.Type, error)          { return pending(s) }
func inferCase(s *site) ([]ir.Type, error)               { return pending(s) }
func inferCholesky(s *site) ([]ir.Type, error)           { return pending(s) }
func inferClamp(s *site) ([]ir.Type, error)              { return pending(s) }
func inferCompare(s *site) ([]ir.Type, error)            { return pending(s) }
func inferComplex(s *site) ([]ir.Type, error)            { return pending(s) }
func inferConcatenate(s *site) ([]ir.Type, error)        { return pending(s) }
func inferConstant(s *site) ([]ir.Type, error)           { return pending(s) }
func inferConvolution(s *site) ([]ir.Type, error)        { return pending(s) }
func inferDequantize(s *site) ([]ir.Type, error)         { return pending(s) }
func inferDot(s *site) ([]ir.Type, error)                { return pending(s) }
func inferDotGeneral(s *site) ([]ir.Type, error)         { return pending(s) }
func inferDynamicGather(s *site) ([]ir.Type, error)      { return pending(s) }
func inferDynamicSlice(s *site) ([]ir.Type, error)       { return pending(s) }
func inferDynamicUpdateSlice(s *site) ([]ir.Type, error) { return pending(s) }
func inferFft(s *site) ([]ir.Type, error)                { return pending(s) }
func inferGather(s *site) ([]ir.Type, error)             { return pending(s) }
func inferGetDimensionSize(s *site) ([]ir.Type, error)   { return pending(s) }
func inferGetTupleElement(s *site) ([]ir.Type, error)    { return pending(s) }
func inferIf(s *site) ([]ir.Type, error)                 { return pending(s) }
func inferMap(s *site) ([]ir.Type, error)                { return pending(s) }
func inferPad(s *site) ([]ir.Type, error)                { return pending(s) }
func inferPairwise(s *site) ([]ir.Type, error)           { return pending(s) }
func inferPart(s *site) ([]ir.Type, error)               { return pending(s) }
func inferPred(s *site) ([]ir.Type, error)               { return pending(s) }
func inferReduce(s *site) ([]ir.Type, error)             { return pending(s) }
func inferReduceWindow(s *site) ([]ir.Type, error)       { return pending(s) }
func inferRng(s *site) ([]ir.Type, error)                { return pending(s) }
func inferRooted(s *site) ([]ir.Type, error)             { return pending(s) }
func inferSame(s *site) ([]ir.Type, error)               { return pending(s) }
func inferScatter(s *site) ([]ir.Type, error)            { return pending(s) }
func inferSelect(s *site) ([]ir.Type, error)             { return pending(s) }
func inferSelectAndScatter(s *site) ([]ir.Type, error)   { return pending(s) }
func inferSend(s *site) ([]ir.Type, error)               { return pending(s) }
func inferSetDimensionSize(s *site) ([]ir.Type, error)   { return pending(s) }
func inferSlice(s *site) ([]ir.Type, error)              { return pending(s) }
func inferSort(s *site) ([]ir.Type, error)               { return pending(s) }
func inferToken(s *site) ([]ir.Type, error)              { return pending(s) }
func inferTranspose(s *site) ([]ir.Type, error)          { return pending(s) }
func inferTriangularSolve(s *site) ([]ir.Type, error)    { return pending(s) }
func inferTuple(s *site) ([]ir.Type, error)              { return pending(s) }
func inferUI32(s *site) ([]ir.Type, error)               { return pending(s) }
func inferWhile(s *site) ([]ir.Type, error)              { return pending(s) }
func accuracyRule(*site) error                           { return nil }
func allGatherRule(*site) error                          { return nil }
func allReduceRule(*site) error                          { return nil }
func asyncDoneRule(*site) error                          { return nil }
func asyncStartRule(*site) error                         { return nil }
func bitcastRule(*site) error                            { return nil }
func broadcastInDimRule(*site) error                     { return nil }
func collectiveBroadcastRule(*site) error                { return nil }
func collectivePermuteRule(*site) error                  { return nil }
func collectiveReduceRule(*site) error                   { return nil }
func compatibleTypes(*site) error                        { return nil }
func compositeRule(*site) error                          { return nil }
func constantRule(*site) error                           { return nil }
func convolutionRule(*site) error                        { return nil }
func customCallRule(*site) error                         { return nil }
func dotGeneralRule(*site) error                         { return nil }
func dotRule(*site) error                                { return nil }
func dynamicBroadcastInDimRule(*site) error              { return nil }
func dynamicConvRule(*site) error                        { return nil }
func dynamicIotaRule(*site) error                        { return nil }
func dynamicPadRule(*site) error                         { return nil }
func dynamicReshapeRule(*site) error                     { return nil }
func infeedRule(*site) error                             { return nil }
func iotaRule(*site) error                               { return nil }
func pairwiseRule(*site) error                           { return nil }
func realDynamicSliceRule(*site) error                   { return nil }
func recvRule(*site) error                               { return nil }
func reduceRule(*site) error                             { return nil }
func reduceScatterRule(*site) error                      { return nil }
func reduceWindowRule(*site) error                       { return nil }
func reshapeRule(*site) error                            { return nil }
func reverseRule(*site) error                            { return nil }
func rngBitGeneratorRule(*site) error                    { return nil }
func sameElems(*site) error                              { return nil }
func sameOperandElems(*site) error                       { return nil }
func sameShape(*site) error                              { return nil }
func scatterRule(*site) error                            { return nil }
func selectAndScatterRule(*site) error                   { return nil }
func sortRule(*site) error                               { return nil }
func torchIndexSelectRule(*site) error                   { return nil }
func uniformQuantizeRule(*site) error                    { return nil }
func whileRule(*site) error                              { return nil }

func pending(s *site) ([]ir.Type, error) {
	if s.op == nil {
		return nil, fail("the result types of %s cannot be inferred", s.def.Name)
	}
	return s.results, nil
}
