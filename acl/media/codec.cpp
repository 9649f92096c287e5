// SPDX-License-Identifier: Apache-2.0
// Files of pictures. The file may still be on its way to the device when a call comes, so all that it says is read when
// the work runs, and told in the description then, if that is still there.
#include <cstring>
#include <functional>
#include <span>

#include "acl/aclnn/launch.h"
#include "acl/call.h"
#include "acl/media/description.h"
#include "acl/runtime/memory/copy.h"
#include "device/context/context.h"
#include "device/memory/memory.h"
#include "device/queue/stream.h"
#include "ops/picture/jpeg.h"
#include "ops/picture/png.h"

namespace npu::acl {
namespace {

using File = std::span<const std::byte>;

constexpr uint32_t kRowAlignment = 128, kHeightAlignment = 16;  // of decoded pictures, in pixels

uint32_t aligned(int64_t value, uint32_t to) { return (static_cast<uint32_t>(value) + to - 1) / to * to; }

/// A file that is read now, in host or device memory.
File file_of(const void* data, uint32_t size) {
  given(data, "data");
  if (size == 0) fail(Code::kInvalidParam, "size is 0; give the bytes of the file");
  if (!device::is_device_address(data)) {
    check_host(data, size, "data");
    return {static_cast<const std::byte*>(data), size};
  }
  device::check_live(data, size, device::kAnyDevice, "data");
  return {static_cast<const std::byte*>(device::resolve(const_cast<void*>(data), size)), size};
}

/// What is read of a file that is no picture is the client's argument: 100000.
template <class F>
auto head_of(F&& read) {
  try {
    return read();
  } catch (const Error& e) {
    throw Error(Code::kInvalidParam, e.message(), e.place());
  }
}

/// V before U, in the file's own sampling.
ops::PixelFormat format_of(const ops::JpegInfo& info) {
  switch (info.sampling) {
    case ops::JpegSampling::k444: return ops::PixelFormat::kYvu444sp;
    case ops::JpegSampling::k422: return ops::PixelFormat::kYvu422sp;
    case ops::JpegSampling::k440: return ops::PixelFormat::kYvu440sp;
    default: return ops::PixelFormat::kYvu420sp;
  }
}
ops::PixelFormat format_of(const ops::PngInfo& info) {
  return info.channels % 2 == 0 ? ops::PixelFormat::kRgba : ops::PixelFormat::kRgb;
}

template <class Info>
ops::PixelFormat wanted_format(acldvppPixelFormat asked, const Info& info) {
  return asked == PIXEL_FORMAT_UNKNOWN ? format_of(info) : static_cast<ops::PixelFormat>(asked);
}

/// The description of a decoded file: as the client asks for it, else with the file's sizes and usual strides.
template <class Info>
acldvppPicDesc decoded(acldvppPicDesc desc, const Info& info) {
  const ops::PixelFormat format = wanted_format(desc.format, info);
  if (!ops::is_built(format)) fail(Code::kInvalidParam, "pixel format {} is not built", static_cast<int>(desc.format));
  const bool across = ops::shares_across(format), down = ops::shares_down(format);
  desc.format = static_cast<acldvppPixelFormat>(format);
  desc.width = static_cast<uint32_t>(info.width + (across ? info.width % 2 : 0));
  desc.height = static_cast<uint32_t>(info.height + (down ? info.height % 2 : 0));
  if (desc.width_stride == 0)
    desc.width_stride = aligned(desc.width, kRowAlignment) * static_cast<uint32_t>(ops::pixel_bytes(format));
  if (desc.height_stride == 0) desc.height_stride = aligned(desc.height, kHeightAlignment);
  return desc;
}

template <class Info>
uint32_t predicted(acldvppPixelFormat format, const Info& info) {
  const acldvppPicDesc desc = decoded({.format = format}, info);
  return static_cast<uint32_t>(
      ops::bytes_of(static_cast<ops::PixelFormat>(desc.format), desc.width_stride, desc.height_stride));
}

/// Where the file goes, once its head is known.
template <class Info>
ops::PictureView target_of(acldvppPicDesc* output, const acldvppPicDesc& asked, const Info& info) {
  const acldvppPicDesc desc = decoded(asked, info);
  const ops::PictureView view = ops::planes_of(checked_picture(desc, "outputDesc"));
  if (DescriptionPool<acldvppPicDesc>::owns(output)) *output = desc;
  return view;
}

/// Queues `decode`, a call that raises where the file is damaged: told as the failure of a task, and in the
/// description.
void queue_decoding(const char* name, acldvppPicDesc* output, uint32_t size, std::function<void()> decode,
                    aclrtStream handle) {
  device::Task task;
  task.name = name;
  task.cost_ns = 20'000 + int64_t{size} * 20;
  task.body = [=, decode = std::move(decode)] {
    try {
      decode();
    } catch (const Error& e) {
      if (DescriptionPool<acldvppPicDesc>::owns(output)) output->code = static_cast<uint32_t>(Code::kAicoreException);
      throw Error(Code::kAicoreException, fmt::format("{}: {}", name, e.message()), e.place());
    }
  };
  launch_kernel(device::stream_from_handle(handle), std::move(task));
}

/// The file in device memory, and the output, as far as they can be checked now.
File queued_file(const void* data, uint32_t size) {
  if (!device::is_device_address(given(data, "data")))
    fail(Code::kInvalidParam, "data {} is host memory; copy the file to memory of acldvppMalloc", data);
  return file_of(data, size);
}
acldvppPicDesc checked_output(const acldvppPicDesc* output) {
  const acldvppPicDesc& desc = described(output, "outputDesc");
  if (desc.size == 0) fail(Code::kInvalidParam, "outputDesc has no size; give the bytes of its memory");
  if (desc.format != PIXEL_FORMAT_UNKNOWN && !ops::is_built(static_cast<ops::PixelFormat>(desc.format)))
    fail(Code::kInvalidParam, "outputDesc has pixel format {}, which is not built", static_cast<int>(desc.format));
  device::check_live(given(desc.data, "outputDesc"), desc.size, device::kAnyDevice, "outputDesc");
  return desc;
}

/// Null stands for what the client does not want, as the vendor's samples pass it.
template <class Info>
void report_size(const Info& info, uint32_t* width, uint32_t* height, int32_t* components) {
  if (width != nullptr) *width = static_cast<uint32_t>(info.width);
  if (height != nullptr) *height = static_cast<uint32_t>(info.height);
  if (components != nullptr) *components = info.channels;
}

int quality_of(const acldvppJpegeConfig* config) {
  const uint32_t level = described(config, "config").level;
  return level == 0 ? 100 : static_cast<int>(level);
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError acldvppJpegGetImageInfo(const void* data, uint32_t size, uint32_t* width, uint32_t* height,
                                 int32_t* components) {
  return call("acldvppJpegGetImageInfo", [&] {
    const ops::JpegInfo info = head_of([&] { return ops::jpeg_info(file_of(data, size)); });
    report_size(info, width, height, components);
  });
}
aclError acldvppJpegGetImageInfoV2(const void* data, uint32_t size, uint32_t* width, uint32_t* height,
                                   int32_t* components, acldvppJpegFormat* format) {
  return call("acldvppJpegGetImageInfoV2", [&] {
    const ops::JpegInfo info = head_of([&] { return ops::jpeg_info(file_of(data, size)); });
    report_size(info, width, height, components);
    if (format != nullptr) *format = static_cast<acldvppJpegFormat>(info.sampling);
  });
}
aclError acldvppJpegPredictDecSize(const void* data, uint32_t dataSize, acldvppPixelFormat outputPixelFormat,
                                   uint32_t* decSize) {
  return call("acldvppJpegPredictDecSize", [&] {
    const ops::JpegInfo info = head_of([&] { return ops::jpeg_info(file_of(data, dataSize)); });
    result(decSize, "decSize") = predicted(outputPixelFormat, info);
  });
}
aclError acldvppJpegDecodeAsync(acldvppChannelDesc* channelDesc, const void* data, uint32_t size,
                                acldvppPicDesc* outputDesc, aclrtStream stream) {
  return call("acldvppJpegDecodeAsync", [&] {
    const ops::TransformRule rule = rule_of(channelDesc);
    const File file = queued_file(data, size);
    const acldvppPicDesc asked = checked_output(outputDesc);
    queue_decoding(
        "acldvppJpegDecodeAsync", outputDesc, size,
        [=] {
          ops::decode_jpeg(file, [&](const ops::JpegInfo& info) { return target_of(outputDesc, asked, info); }, rule);
        },
        stream);
  });
}

aclError acldvppPngGetImageInfo(const void* data, uint32_t dataSize, uint32_t* width, uint32_t* height,
                                int32_t* components) {
  return call("acldvppPngGetImageInfo", [&] {
    const ops::PngInfo info = head_of([&] { return ops::png_info(file_of(data, dataSize)); });
    report_size(info, width, height, components);
  });
}
aclError acldvppPngPredictDecSize(const void* data, uint32_t dataSize, acldvppPixelFormat outputPixelFormat,
                                  uint32_t* decSize) {
  return call("acldvppPngPredictDecSize", [&] {
    const ops::PngInfo info = head_of([&] { return ops::png_info(file_of(data, dataSize)); });
    result(decSize, "decSize") = predicted(outputPixelFormat, info);
  });
}
aclError acldvppPngDecodeAsync(acldvppChannelDesc* channelDesc, const void* data, uint32_t size,
                               acldvppPicDesc* outputDesc, aclrtStream stream) {
  return call("acldvppPngDecodeAsync", [&] {
    static_cast<void>(rule_of(channelDesc));
    const File file = queued_file(data, size);
    const acldvppPicDesc asked = checked_output(outputDesc);
    if (asked.format != PIXEL_FORMAT_UNKNOWN && asked.format != PIXEL_FORMAT_RGB_888 &&
        asked.format != PIXEL_FORMAT_RGBA_8888)
      fail(Code::kInvalidParam, "outputDesc has pixel format {}; PNG files become RGB888 (12) or RGBA8888 (16)",
           static_cast<int>(asked.format));
    queue_decoding(
        "acldvppPngDecodeAsync", outputDesc, size,
        [=] { ops::decode_png(file, [&](const ops::PngInfo& info) { return target_of(outputDesc, asked, info); }); },
        stream);
  });
}

aclError acldvppJpegPredictEncSize(const acldvppPicDesc* inputDesc, const acldvppJpegeConfig* config, uint32_t* size) {
  return call("acldvppJpegPredictEncSize", [&] {
    const acldvppPicDesc& desc = described(inputDesc, "inputDesc");
    static_cast<void>(quality_of(config));
    check_sizes(static_cast<ops::PixelFormat>(desc.format), desc.width, desc.height, "inputDesc");
    result(size, "size") = static_cast<uint32_t>(ops::jpeg_bound(desc.width, desc.height));
  });
}
aclError acldvppJpegEncodeAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc, const void* data,
                                uint32_t* size, acldvppJpegeConfig* config, aclrtStream stream) {
  return call("acldvppJpegEncodeAsync", [&] {
    const ops::TransformRule rule = rule_of(channelDesc);
    const ops::PictureView picture = ops::planes_of(checked_picture(described(inputDesc, "inputDesc"), "inputDesc"));
    const int quality = quality_of(config);
    const uint32_t room = *given(size, "size");
    device::check_live(given(data, "data"), room, device::kAnyDevice, "data");
    void* to = device::resolve(const_cast<void*>(data), room);
    device::Task task;
    task.name = "acldvppJpegEncodeAsync";
    task.cost_ns = 20'000 + 20 * picture.planes[0].width * picture.planes[0].height;
    task.body = [=] {
      const std::vector<std::byte> file = ops::encode_jpeg(picture, quality, rule);
      if (file.size() > room)
        fail(Code::kAicoreException,
             "acldvppJpegEncodeAsync: the file has {} bytes, its memory {}; ask "
             "acldvppJpegPredictEncSize",
             file.size(), room);
      std::memcpy(to, file.data(), file.size());
      *size = static_cast<uint32_t>(file.size());
    };
    launch_kernel(device::stream_from_handle(stream), std::move(task));
  });
}
