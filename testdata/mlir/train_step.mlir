// Four steps of gradient descent on a small linear regression, as a framework of the outfeed generation writes
// them: the loss and the norm of its gradient leave the device through outfeed, inside the training loop, and a
// token keeps them in order. The numbers are chosen so that nothing is rounded but the square root: every machine and
// every backend gives the same digits.
module @train_step {
  func.func public @main(%weights: tensor<3xf32>) -> (tensor<3xf32>, tensor<f32>) {
    %x = stablehlo.constant dense<[[1.0, -1.0, 2.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 1.0], [2.0, 1.0, 0.0]]> : tensor<4x3xf32>
    %y = stablehlo.constant dense<[3.0, 0.5, 1.0, 4.0]> : tensor<4xf32>
    %steps = stablehlo.constant dense<4> : tensor<i32>
    %first = stablehlo.constant dense<0> : tensor<i32>
    %loss0 = stablehlo.constant dense<0.0> : tensor<f32>
    %token = stablehlo.create_token : !stablehlo.token
    %out:4 = stablehlo.while(%i = %first, %w = %weights, %previous = %loss0, %t = %token) : tensor<i32>, tensor<3xf32>, tensor<f32>, !stablehlo.token
     cond {
      %more = stablehlo.compare LT, %i, %steps, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %loss, %grad = func.call @loss_and_grad(%w, %x, %y) : (tensor<3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<3xf32>)
      %t1 = "stablehlo.outfeed"(%loss, %t) {outfeed_config = "loss"} : (tensor<f32>, !stablehlo.token) -> !stablehlo.token loc("train.py":31:5)
      %squares = stablehlo.multiply %grad, %grad : tensor<3xf32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %sum = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
      %norm = stablehlo.sqrt %sum : tensor<f32>
      %t2 = "stablehlo.outfeed"(%norm, %i, %t1) {outfeed_config = "grad_norm"} : (tensor<f32>, tensor<i32>, !stablehlo.token) -> !stablehlo.token loc("train.py":32:5)
      %rate = stablehlo.constant dense<0.25> : tensor<3xf32>
      %step = stablehlo.multiply %rate, %grad : tensor<3xf32>
      %next = stablehlo.subtract %w, %step : tensor<3xf32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %next, %loss, %t2 : tensor<i32>, tensor<3xf32>, tensor<f32>, !stablehlo.token
    }
    return %out#1, %out#2 : tensor<3xf32>, tensor<f32>
  }

  // The mean of the squared errors of x w against y, and its gradient by w.
  func.func private @loss_and_grad(%w: tensor<3xf32>, %x: tensor<4x3xf32>, %y: tensor<4xf32>) -> (tensor<f32>, tensor<3xf32>) {
    %guess = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4xf32>
    %error = stablehlo.subtract %guess, %y : tensor<4xf32>
    %squares = stablehlo.multiply %error, %error : tensor<4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %count = stablehlo.constant dense<4.0> : tensor<f32>
    %loss = stablehlo.divide %sum, %count : tensor<f32>
    %back = stablehlo.dot_general %error, %x, contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4x3xf32>) -> tensor<3xf32>
    %scale = stablehlo.constant dense<0.5> : tensor<3xf32>
    %grad = stablehlo.multiply %back, %scale : tensor<3xf32>
    return %loss, %grad : tensor<f32>, tensor<3xf32>
  }
}
