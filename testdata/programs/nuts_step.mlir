module @jit_nuts_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32xf32>, %arg1: tensor<32xf32>, %arg2: tensor<1000x32xf32>, %arg3: tensor<1000xf32>) -> (tensor<32xf32> {jax.result_info = "result[0]"}, tensor<32xf32> {jax.result_info = "result[1]"}, tensor<f32> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:5 = stablehlo.while(%iterArg = %arg3, %iterArg_7 = %arg2, %iterArg_8 = %c, %iterArg_9 = %arg0, %iterArg_10 = %arg1) : tensor<1000xf32>, tensor<1000x32xf32>, tensor<i32>, tensor<32xf32>, tensor<32xf32>
    cond {
      %c_11 = stablehlo.constant dense<32> : tensor<i32>
      %54 = stablehlo.compare LT, %iterArg_8, %c_11, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %54 : tensor<i1>
    } do {
      %54:2 = func.call @closed_call(%iterArg, %iterArg_7, %iterArg_9, %iterArg_10) : (tensor<1000xf32>, tensor<1000x32xf32>, tensor<32xf32>, tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>)
      %c_11 = stablehlo.constant dense<1> : tensor<i32>
      %55 = stablehlo.add %iterArg_8, %c_11 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_7, %55, %54#0, %54#1 : tensor<1000xf32>, tensor<1000x32xf32>, tensor<i32>, tensor<32xf32>, tensor<32xf32>
    }
    %1 = stablehlo.negate %arg3 : tensor<1000xf32>
    %2 = stablehlo.dot_general %arg2, %0#3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1000x32xf32>, tensor<32xf32>) -> tensor<1000xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<1000xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %5 = stablehlo.maximum %4, %3 : tensor<1000xf32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %7 = stablehlo.subtract %6, %3 : tensor<1000xf32>
    %8 = stablehlo.compare NE, %7, %7, FLOAT : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xi1>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %10 = stablehlo.add %9, %3 : tensor<1000xf32>
    %11 = stablehlo.abs %7 : tensor<1000xf32>
    %12 = stablehlo.negate %11 : tensor<1000xf32>
    %13 = stablehlo.exponential %12 : tensor<1000xf32>
    %14 = stablehlo.log_plus_one %13 : tensor<1000xf32>
    %15 = stablehlo.add %5, %14 : tensor<1000xf32>
    %16 = stablehlo.select %8, %10, %15 : tensor<1000xi1>, tensor<1000xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<1000xf32>, tensor<f32>) -> tensor<f32>
    %18 = stablehlo.negate %17 : tensor<f32>
    %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %20 = stablehlo.multiply %19, %0#3 : tensor<32xf32>
    %21 = stablehlo.dot_general %20, %0#3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32xf32>, tensor<32xf32>) -> tensor<f32>
    %22 = stablehlo.subtract %18, %21 : tensor<f32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %24 = stablehlo.multiply %23, %0#4 : tensor<32xf32>
    %25 = stablehlo.dot_general %24, %0#4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32xf32>, tensor<32xf32>) -> tensor<f32>
    %26 = stablehlo.subtract %22, %25 : tensor<f32>
    %27 = stablehlo.negate %arg3 : tensor<1000xf32>
    %28 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1000x32xf32>, tensor<32xf32>) -> tensor<1000xf32>
    %29 = stablehlo.multiply %27, %28 : tensor<1000xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %31 = stablehlo.maximum %30, %29 : tensor<1000xf32>
    %32 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %33 = stablehlo.subtract %32, %29 : tensor<1000xf32>
    %34 = stablehlo.compare NE, %33, %33, FLOAT : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xi1>
    %35 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %36 = stablehlo.add %35, %29 : tensor<1000xf32>
    %37 = stablehlo.abs %33 : tensor<1000xf32>
    %38 = stablehlo.negate %37 : tensor<1000xf32>
    %39 = stablehlo.exponential %38 : tensor<1000xf32>
    %40 = stablehlo.log_plus_one %39 : tensor<1000xf32>
    %41 = stablehlo.add %31, %40 : tensor<1000xf32>
    %42 = stablehlo.select %34, %36, %41 : tensor<1000xi1>, tensor<1000xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.reduce(%42 init: %cst_4) applies stablehlo.add across dimensions = [0] : (tensor<1000xf32>, tensor<f32>) -> tensor<f32>
    %44 = stablehlo.negate %43 : tensor<f32>
    %cst_5 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %46 = stablehlo.multiply %45, %arg0 : tensor<32xf32>
    %47 = stablehlo.dot_general %46, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32xf32>, tensor<32xf32>) -> tensor<f32>
    %48 = stablehlo.subtract %44, %47 : tensor<f32>
    %49 = stablehlo.subtract %26, %48 : tensor<f32>
    %cst_6 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %51 = stablehlo.multiply %50, %arg1 : tensor<32xf32>
    %52 = stablehlo.dot_general %51, %arg1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32xf32>, tensor<32xf32>) -> tensor<f32>
    %53 = stablehlo.add %49, %52 : tensor<f32>
    return %0#3, %0#4, %53 : tensor<32xf32>, tensor<32xf32>, tensor<f32>
  }
  func.func private @closed_call(%arg0: tensor<1000xf32>, %arg1: tensor<1000x32xf32>, %arg2: tensor<32xf32>, %arg3: tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
    %0 = stablehlo.negate %arg0 : tensor<1000xf32>
    %1 = stablehlo.dot_general %arg1, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1000x32xf32>, tensor<32xf32>) -> tensor<1000xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<1000xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %4 = stablehlo.maximum %3, %2 : tensor<1000xf32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %6 = stablehlo.subtract %5, %2 : tensor<1000xf32>
    %7 = stablehlo.compare NE, %6, %6, FLOAT : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xi1>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %9 = stablehlo.add %8, %2 : tensor<1000xf32>
    %10 = stablehlo.abs %6 : tensor<1000xf32>
    %11 = stablehlo.negate %10 : tensor<1000xf32>
    %12 = stablehlo.exponential %11 : tensor<1000xf32>
    %13 = stablehlo.log_plus_one %12 : tensor<1000xf32>
    %14 = stablehlo.add %4, %13 : tensor<1000xf32>
    %15 = stablehlo.select %7, %9, %14 : tensor<1000xi1>, tensor<1000xf32>
    %cst_0 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %17 = stablehlo.compare EQ, %2, %16, FLOAT : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %19 = stablehlo.select %17, %18, %2 : tensor<1000xi1>, tensor<1000xf32>
    %cst_2 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %21 = stablehlo.compare EQ, %15, %20, FLOAT : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xi1>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %23 = stablehlo.select %21, %22, %15 : tensor<1000xi1>, tensor<1000xf32>
    %24 = stablehlo.subtract %19, %23 : tensor<1000xf32>
    %25 = stablehlo.exponential %24 : tensor<1000xf32>
    %cst_4 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %27 = stablehlo.multiply %26, %arg2 : tensor<32xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %28 = stablehlo.negate %cst_5 : tensor<f32>
    %29 = stablehlo.dot_general %28, %27, contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<f32>, tensor<32xf32>) -> tensor<32xf32>
    %30 = stablehlo.dot_general %28, %arg2, contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<f32>, tensor<32xf32>) -> tensor<32xf32>
    %cst_6 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %32 = stablehlo.multiply %31, %30 : tensor<32xf32>
    %33 = stablehlo.add %29, %32 : tensor<32xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %34 = stablehlo.negate %cst_7 : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %36 = stablehlo.multiply %35, %25 : tensor<1000xf32>
    %37 = stablehlo.multiply %0, %36 : tensor<1000xf32>
    %38 = stablehlo.dot_general %37, %arg1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1000xf32>, tensor<1000x32xf32>) -> tensor<32xf32>
    %39 = stablehlo.add %33, %38 : tensor<32xf32>
    %cst_8 = stablehlo.constant dense<5.000000e-03> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %41 = stablehlo.multiply %40, %39 : tensor<32xf32>
    %42 = stablehlo.add %arg3, %41 : tensor<32xf32>
    %cst_9 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %44 = stablehlo.multiply %43, %42 : tensor<32xf32>
    %45 = stablehlo.add %arg2, %44 : tensor<32xf32>
    %46 = stablehlo.negate %arg0 : tensor<1000xf32>
    %47 = stablehlo.dot_general %arg1, %45, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1000x32xf32>, tensor<32xf32>) -> tensor<1000xf32>
    %48 = stablehlo.multiply %46, %47 : tensor<1000xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %50 = stablehlo.maximum %49, %48 : tensor<1000xf32>
    %51 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %52 = stablehlo.subtract %51, %48 : tensor<1000xf32>
    %53 = stablehlo.compare NE, %52, %52, FLOAT : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xi1>
    %54 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %55 = stablehlo.add %54, %48 : tensor<1000xf32>
    %56 = stablehlo.abs %52 : tensor<1000xf32>
    %57 = stablehlo.negate %56 : tensor<1000xf32>
    %58 = stablehlo.exponential %57 : tensor<1000xf32>
    %59 = stablehlo.log_plus_one %58 : tensor<1000xf32>
    %60 = stablehlo.add %50, %59 : tensor<1000xf32>
    %61 = stablehlo.select %53, %55, %60 : tensor<1000xi1>, tensor<1000xf32>
    %cst_11 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %63 = stablehlo.compare EQ, %48, %62, FLOAT : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xi1>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %65 = stablehlo.select %63, %64, %48 : tensor<1000xi1>, tensor<1000xf32>
    %cst_13 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %66 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %67 = stablehlo.compare EQ, %61, %66, FLOAT : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xi1>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %69 = stablehlo.select %67, %68, %61 : tensor<1000xi1>, tensor<1000xf32>
    %70 = stablehlo.subtract %65, %69 : tensor<1000xf32>
    %71 = stablehlo.exponential %70 : tensor<1000xf32>
    %cst_15 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %73 = stablehlo.multiply %72, %45 : tensor<32xf32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %74 = stablehlo.negate %cst_16 : tensor<f32>
    %75 = stablehlo.dot_general %74, %73, contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<f32>, tensor<32xf32>) -> tensor<32xf32>
    %76 = stablehlo.dot_general %74, %45, contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<f32>, tensor<32xf32>) -> tensor<32xf32>
    %cst_17 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %78 = stablehlo.multiply %77, %76 : tensor<32xf32>
    %79 = stablehlo.add %75, %78 : tensor<32xf32>
    %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %80 = stablehlo.negate %cst_18 : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %80, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %82 = stablehlo.multiply %81, %71 : tensor<1000xf32>
    %83 = stablehlo.multiply %46, %82 : tensor<1000xf32>
    %84 = stablehlo.dot_general %83, %arg1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1000xf32>, tensor<1000x32xf32>) -> tensor<32xf32>
    %85 = stablehlo.add %79, %84 : tensor<32xf32>
    %cst_19 = stablehlo.constant dense<5.000000e-03> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %87 = stablehlo.multiply %86, %85 : tensor<32xf32>
    %88 = stablehlo.add %42, %87 : tensor<32xf32>
    return %45, %88 : tensor<32xf32>, tensor<32xf32>
  }
}
