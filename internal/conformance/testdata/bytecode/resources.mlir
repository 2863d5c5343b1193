// A resource of every element type and one without data.
"foo.a"() {x = dense_resource<blob_0> : tensor<2xi1>} : () -> ()
"foo.a"() {x = dense_resource<blob_1> : tensor<2xi4>} : () -> ()
"foo.a"() {x = dense_resource<blob_2> : tensor<2xui4>} : () -> ()
"foo.a"() {x = dense_resource<blob_3> : tensor<2xi8>} : () -> ()
"foo.a"() {x = dense_resource<blob_4> : tensor<2xui8>} : () -> ()
"foo.a"() {x = dense_resource<blob_5> : tensor<2xsi16>} : () -> ()
"foo.a"() {x = dense_resource<blob_6> : tensor<2xi32>} : () -> ()
"foo.a"() {x = dense_resource<blob_7> : tensor<2xi64>} : () -> ()
"foo.a"() {x = dense_resource<blob_8> : tensor<2xindex>} : () -> ()
"foo.a"() {x = dense_resource<blob_9> : tensor<2xf16>} : () -> ()
"foo.a"() {x = dense_resource<blob_10> : tensor<2xbf16>} : () -> ()
"foo.a"() {x = dense_resource<blob_11> : tensor<2xf32>} : () -> ()
"foo.a"() {x = dense_resource<blob_12> : tensor<2xf64>} : () -> ()
"foo.a"() {x = dense_resource<blob_13> : tensor<2xf8E5M2>} : () -> ()
"foo.a"() {x = dense_resource<blob_14> : tensor<2xf8E4M3FN>} : () -> ()
"foo.a"() {x = dense_resource<blob_15> : tensor<2xf8E4M3B11FNUZ>} : () -> ()
"foo.a"() {x = dense_resource<blob_16> : tensor<2xf8E8M0FNU>} : () -> ()
"foo.a"() {x = dense_resource<blob_17> : tensor<2xf4E2M1FN>} : () -> ()
"foo.a"() {x = dense_resource<blob_18> : tensor<2xf6E2M3FN>} : () -> ()
"foo.a"() {x = dense_resource<blob_19> : tensor<2xtf32>} : () -> ()
"foo.a"() {x = dense_resource<blob_20> : tensor<2xcomplex<f32>>} : () -> ()
"foo.a"() {x = dense_resource<blob_21> : tensor<2xcomplex<f64>>} : () -> ()
"foo.a"() {x = dense_resource<none> : tensor<4xf32>, y = dense_resource<blob_2> : tensor<2xi8>, z = [dense_resource<blob_1> : tensor<2xi4>]} : () -> ()
{-#
  dialect_resources: {
    builtin: {
      blob_0: "0x400000000100",
      blob_1: "0x010000000708",
      blob_2: "0x010000000E0F",
      blob_3: "0x400000001516",
      blob_4: "0x010000001C1D",
      blob_5: "0x0200000023242526",
      blob_6: "0x400000002A2B2C2D2E2F3031",
      blob_7: "0x080000003132333435363738393A3B3C3D3E3F40",
      blob_8: "0x0800000038393A3B3C3D3E3F4041424344454647",
      blob_9: "0x400000003F404142",
      blob_10: "0x0200000046474849",
      blob_11: "0x040000004D4E4F5051525354",
      blob_12: "0x400000005455565758595A5B5C5D5E5F60616263",
      blob_13: "0x010000005B5C",
      blob_14: "0x010000006263",
      blob_15: "0x40000000696A",
      blob_16: "0x010000007071",
      blob_17: "0x010000007778",
      blob_18: "0x400000007E7F",
      blob_19: "0x0400000085868788898A8B8C",
      blob_20: "0x080000008C8D8E8F909192939495969798999A9B",
      blob_21: "0x40000000939495969798999A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2"
    }
  }
#-}
