// SPDX-License-Identifier: Apache-2.0
#include "acl/media/description.h"

#include <utility>

#include "acl/call.h"
#include "device/memory/memory.h"

namespace npu::acl {
namespace {

constexpr uint32_t kMostPictures = 1 << 16, kLeastWidth = 10, kLeastHeight = 6, kMostSize = 8192, kRowAlignment = 16;

template <class T, class... Args>
T* create(const char* function, Args&&... args) {
  return call_or<T*>(function, nullptr, [&] { return DescriptionPool<T>::create(std::forward<Args>(args)...); });
}

template <class T>
aclError destroy(const char* function, const T* object, const char* argument) {
  return call(function, [&] {
    described(object, argument);
    DescriptionPool<T>::destroy(object);
  });
}

/// For getters, which have no code: `nothing` for what is no object.
template <class T, class V>
V read(const T* object, V T::*member, V nothing) {
  return object != nullptr && DescriptionPool<T>::owns(object) ? object->*member : nothing;
}

template <class T, class V>
aclError write(const char* function, T* object, const char* argument, V T::*member, V value) {
  return call(function, [&] { described(object, argument).*member = value; });
}

acldvppRoiConfig roi(uint32_t left, uint32_t right, uint32_t top, uint32_t bottom) {
  if (left > right || top > bottom)
    fail(Code::kInvalidParam, "the part goes from {} to {} and from {} to {}; it must have a pixel at least", left,
         right, top, bottom);
  return {left, right, top, bottom};
}

size_t channel_index(uint32_t index) {
  if (index >= 4) fail(Code::kInvalidParam, "index is {}; there are 4 channels, counted from 0", index);
  return index;
}

}  // namespace

void check_sizes(ops::PixelFormat format, uint32_t width, uint32_t height, const char* argument) {
  if (!ops::is_built(format))
    fail(Code::kInvalidParam,
         "{} has pixel format {}, which is not built; take YUV420SP (1, 2), RGB888 (12) or another "
         "up to 17",
         argument, static_cast<int>(format));
  if (width < kLeastWidth || height < kLeastHeight || width > kMostSize || height > kMostSize)
    fail(Code::kInvalidParam, "{} is {} x {}; pictures have {} x {} to {} x {} pixels", argument, width, height,
         kLeastWidth, kLeastHeight, kMostSize, kMostSize);
  if ((ops::shares_across(format) && width % 2 != 0) || (ops::shares_down(format) && height % 2 != 0))
    fail(Code::kInvalidParam, "{} is {} x {}; in {}, whose pixels share colours, that must be even", argument, width,
         height, ops::to_string(format));
}

ops::Picture checked_picture(const acldvppPicDesc& desc, const char* argument) {
  const auto format = static_cast<ops::PixelFormat>(desc.format);
  check_sizes(format, desc.width, desc.height, argument);
  const int64_t least = desc.width * ops::pixel_bytes(format);
  if (desc.width_stride % kRowAlignment != 0 || desc.width_stride < least)
    fail(Code::kInvalidParam,
         "the width stride of {} is {}; it is a multiple of {}, and at least the {} bytes of a row", argument,
         desc.width_stride, kRowAlignment, least);
  if (desc.height_stride % 2 != 0 || desc.height_stride < desc.height)
    fail(Code::kInvalidParam, "the height stride of {} is {}; it is even, and at least the height, {}", argument,
         desc.height_stride, desc.height);
  const int64_t bytes = ops::bytes_of(format, desc.width_stride, desc.height_stride);
  if (desc.size < bytes)
    fail(Code::kInvalidParam, "{} has {} bytes; with strides {} and {} in {} it needs {}", argument, desc.size,
         desc.width_stride, desc.height_stride, ops::to_string(format), bytes);
  const auto count = static_cast<size_t>(bytes);
  device::check_live(given(desc.data, argument), count, device::kAnyDevice, argument);
  return {format,
          desc.width,
          desc.height,
          desc.width_stride,
          desc.height_stride,
          static_cast<uint8_t*>(device::resolve(desc.data, count))};
}

void check_apart(const ops::Picture& input, const ops::Picture& output) {
  const uint8_t* input_end = input.data + ops::bytes_of(input.format, input.row, input.rows);
  const uint8_t* output_end = output.data + ops::bytes_of(output.format, output.row, output.rows);
  if (input.data < output_end && output.data < input_end)
    fail(Code::kInvalidParam, "the memory of input and output overlaps; give the output memory of its own");
}

}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

acldvppBatchPicDesc::acldvppBatchPicDesc(uint32_t count) {
  // All or none: who makes the batch then owns them.
  for (uint32_t i = 0; i < count; ++i) pictures.push_back(DescriptionPool<acldvppPicDesc>::create());
}
acldvppBatchPicDesc::acldvppBatchPicDesc(acldvppBatchPicDesc&& other) noexcept
    : pictures(std::exchange(other.pictures, {})) {}
acldvppBatchPicDesc::~acldvppBatchPicDesc() {
  for (const acldvppPicDesc* picture : pictures) DescriptionPool<acldvppPicDesc>::destroy(picture);
}

acldvppPicDesc* acldvppCreatePicDesc() { return create<acldvppPicDesc>("acldvppCreatePicDesc"); }
aclError acldvppDestroyPicDesc(acldvppPicDesc* picDesc) { return destroy("acldvppDestroyPicDesc", picDesc, "picDesc"); }
aclError acldvppSetPicDescData(acldvppPicDesc* picDesc, void* dataDev) {
  return write("acldvppSetPicDescData", picDesc, "picDesc", &acldvppPicDesc::data, dataDev);
}
aclError acldvppSetPicDescSize(acldvppPicDesc* picDesc, uint32_t size) {
  return write("acldvppSetPicDescSize", picDesc, "picDesc", &acldvppPicDesc::size, size);
}
aclError acldvppSetPicDescFormat(acldvppPicDesc* picDesc, acldvppPixelFormat format) {
  return write("acldvppSetPicDescFormat", picDesc, "picDesc", &acldvppPicDesc::format, format);
}
aclError acldvppSetPicDescWidth(acldvppPicDesc* picDesc, uint32_t width) {
  return write("acldvppSetPicDescWidth", picDesc, "picDesc", &acldvppPicDesc::width, width);
}
aclError acldvppSetPicDescHeight(acldvppPicDesc* picDesc, uint32_t height) {
  return write("acldvppSetPicDescHeight", picDesc, "picDesc", &acldvppPicDesc::height, height);
}
aclError acldvppSetPicDescWidthStride(acldvppPicDesc* picDesc, uint32_t widthStride) {
  return write("acldvppSetPicDescWidthStride", picDesc, "picDesc", &acldvppPicDesc::width_stride, widthStride);
}
aclError acldvppSetPicDescHeightStride(acldvppPicDesc* picDesc, uint32_t heightStride) {
  return write("acldvppSetPicDescHeightStride", picDesc, "picDesc", &acldvppPicDesc::height_stride, heightStride);
}
aclError acldvppSetPicDescRetCode(acldvppPicDesc* picDesc, uint32_t retCode) {
  return write("acldvppSetPicDescRetCode", picDesc, "picDesc", &acldvppPicDesc::code, retCode);
}
void* acldvppGetPicDescData(const acldvppPicDesc* picDesc) {
  return read<acldvppPicDesc, void*>(picDesc, &acldvppPicDesc::data, nullptr);
}
uint32_t acldvppGetPicDescSize(const acldvppPicDesc* picDesc) { return read(picDesc, &acldvppPicDesc::size, 0u); }
acldvppPixelFormat acldvppGetPicDescFormat(const acldvppPicDesc* picDesc) {
  return read(picDesc, &acldvppPicDesc::format, PIXEL_FORMAT_UNKNOWN);
}
uint32_t acldvppGetPicDescWidth(const acldvppPicDesc* picDesc) { return read(picDesc, &acldvppPicDesc::width, 0u); }
uint32_t acldvppGetPicDescHeight(const acldvppPicDesc* picDesc) { return read(picDesc, &acldvppPicDesc::height, 0u); }
uint32_t acldvppGetPicDescWidthStride(const acldvppPicDesc* picDesc) {
  return read(picDesc, &acldvppPicDesc::width_stride, 0u);
}
uint32_t acldvppGetPicDescHeightStride(const acldvppPicDesc* picDesc) {
  return read(picDesc, &acldvppPicDesc::height_stride, 0u);
}
uint32_t acldvppGetPicDescRetCode(const acldvppPicDesc* picDesc) { return read(picDesc, &acldvppPicDesc::code, 0u); }

acldvppBatchPicDesc* acldvppCreateBatchPicDesc(uint32_t batchSize) {
  return call_or<acldvppBatchPicDesc*>("acldvppCreateBatchPicDesc", nullptr, [&] {
    if (batchSize == 0 || batchSize > kMostPictures)
      fail(Code::kInvalidParam, "batchSize is {}; it lies between 1 and {}", batchSize, kMostPictures);
    return DescriptionPool<acldvppBatchPicDesc>::create(acldvppBatchPicDesc(batchSize));
  });
}
acldvppPicDesc* acldvppGetPicDesc(acldvppBatchPicDesc* batchPicDesc, uint32_t index) {
  return call_or<acldvppPicDesc*>("acldvppGetPicDesc", nullptr, [&] {
    const acldvppBatchPicDesc& batch = described(batchPicDesc, "batchPicDesc");
    if (index >= batch.pictures.size())
      fail(Code::kInvalidParam, "index is {}; the batch has {} pictures", index, batch.pictures.size());
    return batch.pictures[index];
  });
}
aclError acldvppDestroyBatchPicDesc(acldvppBatchPicDesc* batchPicDesc) {
  return destroy("acldvppDestroyBatchPicDesc", batchPicDesc, "batchPicDesc");
}

acldvppRoiConfig* acldvppCreateRoiConfig(uint32_t left, uint32_t right, uint32_t top, uint32_t bottom) {
  return call_or<acldvppRoiConfig*>("acldvppCreateRoiConfig", nullptr, [&] {
    return DescriptionPool<acldvppRoiConfig>::create(roi(left, right, top, bottom));
  });
}
aclError acldvppDestroyRoiConfig(acldvppRoiConfig* roiConfig) {
  return destroy("acldvppDestroyRoiConfig", roiConfig, "roiConfig");
}
aclError acldvppSetRoiConfig(acldvppRoiConfig* config, uint32_t left, uint32_t right, uint32_t top, uint32_t bottom) {
  return call("acldvppSetRoiConfig", [&] { described(config, "config") = roi(left, right, top, bottom); });
}
// One by one, a part may be none in between; whether it is one is told where it is used.
aclError acldvppSetRoiConfigLeft(acldvppRoiConfig* config, uint32_t left) {
  return write("acldvppSetRoiConfigLeft", config, "config", &acldvppRoiConfig::left, left);
}
aclError acldvppSetRoiConfigRight(acldvppRoiConfig* config, uint32_t right) {
  return write("acldvppSetRoiConfigRight", config, "config", &acldvppRoiConfig::right, right);
}
aclError acldvppSetRoiConfigTop(acldvppRoiConfig* config, uint32_t top) {
  return write("acldvppSetRoiConfigTop", config, "config", &acldvppRoiConfig::top, top);
}
aclError acldvppSetRoiConfigBottom(acldvppRoiConfig* config, uint32_t bottom) {
  return write("acldvppSetRoiConfigBottom", config, "config", &acldvppRoiConfig::bottom, bottom);
}

acldvppResizeConfig* acldvppCreateResizeConfig() { return create<acldvppResizeConfig>("acldvppCreateResizeConfig"); }
aclError acldvppDestroyResizeConfig(acldvppResizeConfig* resizeConfig) {
  return destroy("acldvppDestroyResizeConfig", resizeConfig, "resizeConfig");
}
aclError acldvppSetResizeConfigInterpolation(acldvppResizeConfig* resizeConfig, uint32_t interpolation) {
  return call("acldvppSetResizeConfigInterpolation", [&] {
    if (interpolation > 2)
      fail(Code::kInvalidParam, "interpolation is {}; built are 0 and 1 (bilinear) and 2 (nearest)", interpolation);
    described(resizeConfig, "resizeConfig").interpolation = interpolation;
  });
}
uint32_t acldvppGetResizeConfigInterpolation(const acldvppResizeConfig* resizeConfig) {
  return read(resizeConfig, &acldvppResizeConfig::interpolation, 0u);
}

acldvppBorderConfig* acldvppCreateBorderConfig() { return create<acldvppBorderConfig>("acldvppCreateBorderConfig"); }
aclError acldvppDestroyBorderConfig(acldvppBorderConfig* borderConfig) {
  return destroy("acldvppDestroyBorderConfig", borderConfig, "borderConfig");
}
aclError acldvppSetBorderConfigBorderType(acldvppBorderConfig* borderConfig, acldvppBorderType borderType) {
  return call("acldvppSetBorderConfigBorderType", [&] {
    if (borderType < BORDER_CONSTANT || borderType > BORDER_REFLECT_101)
      fail(Code::kInvalidParam, "borderType is {}; it lies between 0 and 3", static_cast<int>(borderType));
    described(borderConfig, "borderConfig").type = borderType;
  });
}
aclError acldvppSetBorderConfigValue(acldvppBorderConfig* borderConfig, uint32_t index, double value) {
  return call("acldvppSetBorderConfigValue", [&] {
    // Written so that NaN is refused, too.
    if (!(value >= 0 && value <= 255)) fail(Code::kInvalidParam, "value is {}; it lies between 0 and 255", value);
    described(borderConfig, "borderConfig").values[channel_index(index)] = value;
  });
}
aclError acldvppSetBorderConfigTop(acldvppBorderConfig* borderConfig, uint32_t top) {
  return write("acldvppSetBorderConfigTop", borderConfig, "borderConfig", &acldvppBorderConfig::top, top);
}
aclError acldvppSetBorderConfigBottom(acldvppBorderConfig* borderConfig, uint32_t bottom) {
  return write("acldvppSetBorderConfigBottom", borderConfig, "borderConfig", &acldvppBorderConfig::bottom, bottom);
}
aclError acldvppSetBorderConfigLeft(acldvppBorderConfig* borderConfig, uint32_t left) {
  return write("acldvppSetBorderConfigLeft", borderConfig, "borderConfig", &acldvppBorderConfig::left, left);
}
aclError acldvppSetBorderConfigRight(acldvppBorderConfig* borderConfig, uint32_t right) {
  return write("acldvppSetBorderConfigRight", borderConfig, "borderConfig", &acldvppBorderConfig::right, right);
}
acldvppBorderType acldvppGetBorderConfigBorderType(const acldvppBorderConfig* borderConfig) {
  return read(borderConfig, &acldvppBorderConfig::type, BORDER_CONSTANT);
}
double acldvppGetBorderConfigValue(const acldvppBorderConfig* borderConfig, uint32_t index) {
  return call_or<double>("acldvppGetBorderConfigValue", 0,
                         [&] { return described(borderConfig, "borderConfig").values[channel_index(index)]; });
}
uint32_t acldvppGetBorderConfigTop(const acldvppBorderConfig* borderConfig) {
  return read(borderConfig, &acldvppBorderConfig::top, 0u);
}
uint32_t acldvppGetBorderConfigBottom(const acldvppBorderConfig* borderConfig) {
  return read(borderConfig, &acldvppBorderConfig::bottom, 0u);
}
uint32_t acldvppGetBorderConfigLeft(const acldvppBorderConfig* borderConfig) {
  return read(borderConfig, &acldvppBorderConfig::left, 0u);
}
uint32_t acldvppGetBorderConfigRight(const acldvppBorderConfig* borderConfig) {
  return read(borderConfig, &acldvppBorderConfig::right, 0u);
}

acldvppJpegeConfig* acldvppCreateJpegeConfig() { return create<acldvppJpegeConfig>("acldvppCreateJpegeConfig"); }
aclError acldvppDestroyJpegeConfig(acldvppJpegeConfig* jpegeConfig) {
  return destroy("acldvppDestroyJpegeConfig", jpegeConfig, "jpegeConfig");
}
aclError acldvppSetJpegeConfigLevel(acldvppJpegeConfig* jpegeConfig, uint32_t level) {
  return call("acldvppSetJpegeConfigLevel", [&] {
    if (level > 100) fail(Code::kInvalidParam, "level is {}; it lies between 0 and 100", level);
    described(jpegeConfig, "jpegeConfig").level = level;
  });
}
uint32_t acldvppGetJpegeConfigLevel(const acldvppJpegeConfig* jpegeConfig) {
  return read(jpegeConfig, &acldvppJpegeConfig::level, 0u);
}
