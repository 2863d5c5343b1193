module {
  func.func private @g(%a: tensor<f32>) -> tensor<f32> {
    return %a : tensor<f32>
  }
  func.func @func(%a: tensor<f32>) -> tensor<f32> {
    %f = constant @g : (tensor<f32>) -> tensor<f32>
    %0 = call_indirect %f(%a) : (tensor<f32>) -> tensor<f32>
    %1 = call @g(%0) : (tensor<f32>) -> tensor<f32>
    %2 = builtin.unrealized_conversion_cast %1 : tensor<f32> to tensor<f64>
    %3 = "hlocb.hook"(%1) <{format = "hlocb", has_side_effect, id = 7 : i64, kind = "call", name = "loss"}> : (tensor<f32>) -> tensor<f32>
    return %3 : tensor<f32>
  }
  func.func @check(%a: tensor<2xf32>, %b: tensor<2xf32>) {
    check.expect_almost_eq %a, %b, tolerance = 1.000000e-02 : tensor<2xf32>
    check.expect_almost_eq_const %a, dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
    check.expect_eq %a, %b : tensor<2xf32>
    check.expect_eq_const %a, dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
    check.expect_close %a, %b, max_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
    "check.expect_close"(%a, %b) {max_ulp_difference = 3 : ui64} : (tensor<2xf32>, tensor<2xf32>) -> ()
    "check.expect_close"(%a, %b) {max_ulp_difference = 3 : ui64, min_ulp_difference = 1 : ui64} : (tensor<2xf32>, tensor<2xf32>) -> ()
    check.expect_serialized_eq %a, probe_id = "values", iter = 1 : tensor<2xf32>
    return
  }
  func.func @interpreter(%a: tensor<f32>) {
    interpreter.print %a : tensor<f32>
    %0 = interpreter.probe %a, probe_id = "values" : tensor<f32>
    %1:2 = "interpreter.run_parallel"(%a, %a) <{programs = [[@g, @g]]}> : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
    return
  }
  func.func @shapes(%a: tensor<?x3xf32>, %i: index, %f: f32) -> !shape.witness {
    %c0 = arith.constant 0 : index
    %0 = arith.addi %i, %c0 overflow<nsw, nuw> : index
    %1 = arith.subi %0, %i : index
    %2 = arith.muli %1, %i : index
    %3 = arith.divsi %2, %i : index
    %4 = arith.cmpi slt, %3, %i : index
    %5 = arith.select %4, %i, %c0 : index
    %6 = arith.index_cast %5 : index to i32
    %7 = arith.addf %f, %f fastmath<nnan,ninf> : f32
    %dim = tensor.dim %a, %c0 : tensor<?x3xf32>
    %from_elements = tensor.from_elements %dim, %i : tensor<2xindex>
    %extracted = tensor.extract %from_elements[%c0] : tensor<2xindex>
    %inserted = tensor.insert %extracted into %from_elements[%c0] : tensor<2xindex>
    %cast = tensor.cast %inserted : tensor<2xindex> to tensor<?xindex>
    %8 = shape.shape_of %a : tensor<?x3xf32> -> tensor<2xindex>
    %9 = shape.const_shape [2, 3] : tensor<2xindex>
    %10 = shape.broadcast %8, %9 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
    %11 = shape.num_elements %10 : tensor<2xindex> -> index
    %12 = shape.cstr_broadcastable %8, %9 : tensor<2xindex>, tensor<2xindex>
    return %12 : !shape.witness
  }
}

func.func @assuming(%x: tensor<?xf32>, %y: tensor<4xf32>) -> tensor<?xf32> {
  %0 = shape.const_witness true
  shape.assuming %0 {
  }
  %1 = shape.shape_of %x : tensor<?xf32> -> tensor<1xindex>
  %2 = shape.shape_of %y : tensor<4xf32> -> tensor<1xindex>
  %3 = shape.cstr_broadcastable %1, %2 : tensor<1xindex>, tensor<1xindex>
  %4 = shape.assuming %3 -> (tensor<?xf32>) {
    %5 = stablehlo.negate %x : tensor<?xf32>
    shape.assuming_yield %5 : tensor<?xf32>
  }
  return %4 : tensor<?xf32>
}
