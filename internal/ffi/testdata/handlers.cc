// Handlers made with XLA's own headers, for the test that compares how XLA and hlocb call them.

#include <atomic>
#include <string>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

// scale multiplies by an attribute and adds a part of another one.
static ffi::Error Scale(ffi::Buffer<ffi::F32> x, ffi::Result<ffi::Buffer<ffi::F32>> y, float factor, std::string_view label,
                        ffi::Span<const int64_t> shifts, int32_t device) {
  if (label == "refuse") return ffi::Error(ffi::ErrorCode::kOutOfRange, "refused as asked");
  for (size_t i = 0; i < x.element_count(); i++) y->typed_data()[i] = x.typed_data()[i] * factor + shifts[i % shifts.size()] + device;
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(scale, Scale,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>()
                                  .Attr<float>("factor")
                                  .Attr<std::string_view>("label")
                                  .Attr<ffi::Span<const int64_t>>("shifts")
                                  .Ctx<ffi::DeviceOrdinal>());

// threads lets the thread pool compute, and scratch memory hold what it computed.
static ffi::Future Threads(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> y, ffi::ThreadPool pool, ffi::ScratchAllocator scratch) {
  ffi::Promise promise;
  ffi::Future future(promise);
  size_t n = x.element_count();
  auto *left = new std::atomic<int64_t>(n);
  const float *from = x.typed_data<float>();
  float *to = y->typed_data<float>();
  if (!scratch.Allocate(1000, 64)) promise.SetError(ffi::Error::Internal("no scratch memory"));
  for (size_t i = 0; i < n; i++) {
    pool.Schedule([=, p = promise]() mutable {
      to[i] = from[i] * 3;
      if (left->fetch_sub(1) == 1) {
        delete left;
        p.SetAvailable();
      }
    });
  }
  return future;
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(threads, Threads,
                              ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>().Ctx<ffi::ThreadPool>().Ctx<ffi::ScratchAllocator>());

// scale_for_plugin is scale, but says that it was made for FFI 0.2: the CPU plugin takes no later one.
extern "C" XLA_FFI_Error *scale_for_plugin(XLA_FFI_CallFrame *frame) {
  XLA_FFI_Error *error = scale(frame);
  if (frame->extension_start && frame->extension_start->type == XLA_FFI_Extension_Metadata)
    reinterpret_cast<XLA_FFI_Metadata_Extension *>(frame->extension_start)->metadata->api_version.minor_version = 2;
  return error;
}
