// Computations of shapes with constants and folds, for the comparison of passes with jaxlib.
func.func @products(%n: index, %m: tensor<2xindex>) -> (index, index, index, index, tensor<2xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = arith.muli %n, %c0 : index
  %1 = arith.muli %c1, %n : index
  %2 = arith.muli %c3, %n : index
  %3 = arith.muli %0, %2 : index
  %4 = arith.muli %m, %m : tensor<2xindex>
  return %0, %1, %2, %3, %4 : index, index, index, index, tensor<2xindex>
}

// -----

func.func @constant_products(%n: index) -> (index, index) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c0 = arith.constant 0 : index
  %0 = arith.muli %c3, %c1 : index
  %1 = arith.muli %c0, %n : index
  return %0, %1 : index, index
}

// -----

func.func @broadcasts(%a: tensor<3xindex>) -> (tensor<3xindex>, tensor<3xindex>, tensor<2xindex>) {
  %0 = shape.broadcast %a : tensor<3xindex> -> tensor<3xindex>
  %1 = shape.const_shape [1, 4] : tensor<2xindex>
  %2 = shape.broadcast %0, %1 : tensor<3xindex>, tensor<2xindex> -> tensor<3xindex>
  %3 = shape.const_shape [5, 1] : tensor<2xindex>
  %4 = shape.broadcast %1, %3 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
  return %0, %2, %4 : tensor<3xindex>, tensor<3xindex>, tensor<2xindex>
}

// -----

func.func @three_constants() -> tensor<3xindex> {
  %0 = shape.const_shape [1, 4] : tensor<2xindex>
  %1 = shape.const_shape [7, 1, 1] : tensor<3xindex>
  %2 = shape.const_shape [5, 1] : tensor<2xindex>
  %3 = shape.broadcast %0, %1, %2 : tensor<2xindex>, tensor<3xindex>, tensor<2xindex> -> tensor<3xindex>
  return %3 : tensor<3xindex>
}

// -----

func.func @counts(%a: tensor<2x3xf32>) -> (index, index) {
  %0 = shape.shape_of %a : tensor<2x3xf32> -> tensor<2xindex>
  %1 = shape.num_elements %0 : tensor<2xindex> -> index
  %2 = shape.const_shape [5, 2] : tensor<2xindex>
  %3 = shape.num_elements %2 : tensor<2xindex> -> index
  return %1, %3 : index, index
}

// -----

func.func @static_shape(%a: tensor<2x3xf32>) -> !shape.shape {
  %0 = shape.shape_of %a : tensor<2x3xf32> -> !shape.shape
  return %0 : !shape.shape
}

// -----

func.func @scalar_shape(%a: tensor<f32>, %b: tensor<0xindex>) -> (tensor<0xindex>, index) {
  %0 = shape.shape_of %a : tensor<f32> -> tensor<0xindex>
  %1 = shape.num_elements %b : tensor<0xindex> -> index
  return %0, %1 : tensor<0xindex>, index
}

// -----

func.func @elements(%n: index, %m: index, %i: index) -> (index, index, tensor<3xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.from_elements %n, %m, %c1 : tensor<3xindex>
  %1 = tensor.extract %0[%c1] : tensor<3xindex>
  %2 = arith.muli %1, %n : index
  %3 = tensor.extract %0[%c0] : tensor<3xindex>
  return %2, %3, %0 : index, index, tensor<3xindex>
}

// -----

func.func @extract_out_of_range(%a: tensor<3xindex>) -> index {
  %c3 = arith.constant 3 : index
  %0 = tensor.extract %a[%c3] : tensor<3xindex>
  return %0 : index
}

// -----

func.func @reshape(%a: tensor<?x4xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %0 = tensor.dim %a, %c0 : tensor<?x4xf32>
  %1 = arith.muli %0, %c4 : index
  %2 = tensor.from_elements %1 : tensor<1xindex>
  %3 = stablehlo.dynamic_reshape %a, %2 : (tensor<?x4xf32>, tensor<1xindex>) -> tensor<?xf32>
  return %3 : tensor<?xf32>
}

// -----

func.func @casts(%a: index, %b: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<1xi64>) {
  %c1 = arith.constant 1 : index
  %0 = shape.shape_of %b : tensor<?x4xf32> -> tensor<2xindex>
  %1 = arith.index_cast %0 : tensor<2xindex> to tensor<2xi32>
  %2 = arith.index_cast %1 : tensor<2xi32> to tensor<2xindex>
  %3 = stablehlo.dynamic_broadcast_in_dim %b, %2, dims = [0, 1] : (tensor<?x4xf32>, tensor<2xindex>) -> tensor<?x4xf32>
  %4 = arith.index_cast %a : index to i64
  %5 = tensor.from_elements %4 : tensor<i64>
  %6 = stablehlo.reshape %5 : (tensor<i64>) -> tensor<1xi64>
  return %3, %6 : tensor<?x4xf32>, tensor<1xi64>
}

// -----

func.func @iota(%a: tensor<1xindex>) -> tensor<?xi32> {
  %0 = stablehlo.dynamic_iota %a, dim = 0 : (tensor<1xindex>) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

// -----

func.func @inside(%p: tensor<i1>, %a: tensor<?xf32>) -> tensor<1xi32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = shape.shape_of %a : tensor<?xf32> -> tensor<1xindex>
    %2 = arith.index_cast %1 : tensor<1xindex> to tensor<1xi32>
    stablehlo.return %2 : tensor<1xi32>
  }, {
    %1 = shape.const_shape [8] : tensor<1xindex>
    %2 = arith.index_cast %1 : tensor<1xindex> to tensor<1xi32>
    stablehlo.return %2 : tensor<1xi32>
  }) : (tensor<i1>) -> tensor<1xi32>
  return %0 : tensor<1xi32>
}
