func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
 %1 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
 %4:2 = "foo.bar"(%a) {x = 1, y=2:i32, z=-1.5, "a b" = unit, w, q = [1,2:i32,0.7:f32], d = dense<[[1,2],[3,4]]> : tensor<2x2xi8>, m = affine_map<(d0)->(d0)>, h= #foo.bar<a b "x">} : (tensor<2xf32>) -> (i32,i32)
 %c5:2 = "foo.bar"(%a, %4#1)<{x = 1}> ({ ^bb0(%q:i32): "foo.x"()[^bb1] : ()->() 
  ^bb1:   "foo.x"()[^bb1] : ()->()    }) : (tensor<2xf32>,i32) -> (i32,i32)
 return %a: tensor<2xf32>}
func.func private @maps(tensor<2xf32>) attributes {a = affine_map<(i, j)[n] -> (i+j, n*2, -i)>, b = affine_set<(x) : (x >= 0)>, c = affine_map<(i, j)[n] -> (i+j, n*2, -i)>}
