module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  
  func.func public @main(%arg0: tensor<8x8xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"}, %arg1: tensor<f32>) -> tensor<8x8xf32> {
    %z = stablehlo.constant dense<0> : tensor<i32>
    %w:2 = stablehlo.while(%i = %z, %v = %arg0) : tensor<i32>, tensor<8x8xf32>
     cond {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
     } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %d = stablehlo.add %v, %v {mhlo.sharding = "{devices=[4,1]<=[4]}"} : tensor<8x8xf32>
      stablehlo.custom_call @probe(%d) {api_version = 4 : i32, backend_config = {name = "loop"}, has_side_effect = true} : (tensor<8x8xf32>) -> ()
      %e = stablehlo.compare EQ, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %f = "stablehlo.if"(%e) ({
        %g = stablehlo.custom_call @probe(%d) {api_version = 4 : i32, backend_config = {name = "branch"}, has_side_effect = true} : (tensor<8x8xf32>) -> tensor<8x8xf32>
        stablehlo.return %g : tensor<8x8xf32>
      }, {
        %g = func.call @inner(%d) : (tensor<8x8xf32>) -> tensor<8x8xf32>
        stablehlo.return %g : tensor<8x8xf32>
      }) : (tensor<i1>) -> tensor<8x8xf32>
      stablehlo.return %j, %f : tensor<i32>, tensor<8x8xf32>
     }
    return %w#1 : tensor<8x8xf32>
  }
  func.func private @inner(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
    stablehlo.custom_call @probe(%x) {api_version = 4 : i32, backend_config = {name = "inner"}, has_side_effect = true} : (tensor<8x8xf32>) -> ()
    %r = stablehlo.subtract %x, %x {mhlo.sharding = "{devices=[4,1]<=[4]}"} : tensor<8x8xf32>
    %s = stablehlo.add %r, %x {mhlo.sharding = "{devices=[4,1]<=[4]}"} : tensor<8x8xf32>
    return %s : tensor<8x8xf32>
  }
}
