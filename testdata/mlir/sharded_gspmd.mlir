// Four partitions by GSPMD: one hook sees the whole value on device 0, one each shard.
module @sharded_gspmd attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[4]<=[4]}"}) -> (tensor<8xf32> {mhlo.sharding = "{devices=[4]<=[4]}"}) {
    %0 = stablehlo.add %arg0, %arg0 : tensor<8xf32>
    stablehlo.custom_call @probe(%0) {api_version = 4 : i32, backend_config = {name = "whole"}, has_side_effect = true, mhlo.sharding = "{maximal device=0}"} : (tensor<8xf32>) -> ()
    %1 = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = "{devices=[4]<=[4]}"} : (tensor<8xf32>) -> tensor<8xf32>
    %2 = stablehlo.custom_call @SPMDFullToShardShape(%1) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<2xf32>
    stablehlo.custom_call @probe(%2) {api_version = 4 : i32, backend_config = {name = "shard"}, has_side_effect = true, mhlo.sharding = "{manual}"} : (tensor<2xf32>) -> ()
    %3 = stablehlo.multiply %2, %2 : tensor<2xf32>
    %4 = stablehlo.custom_call @Sharding(%3) {mhlo.sharding = "{manual}"} : (tensor<2xf32>) -> tensor<2xf32>
    %5 = stablehlo.custom_call @SPMDShardToFullShape(%4) {mhlo.sharding = "{devices=[4]<=[4]}"} : (tensor<2xf32>) -> tensor<8xf32>
    return %5 : tensor<8xf32>
  }
}
