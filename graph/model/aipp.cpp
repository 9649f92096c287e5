// SPDX-License-Identifier: Apache-2.0
#include "graph/model/aipp.h"

#include <cmath>
#include <cstring>

#include "base/half.h"
#include "base/json.h"
#include "ops/image/aipp_block.h"

namespace npu::graph::model {
namespace {

using ops::AippHead;
using ops::AippPicture;
using ops::PictureFormat;

constexpr double kMostPixels = 4096, kMostPadding = 32, kHalf = 65504, kInt = 2147483647;

#define NPU_AIPP(name) #name, [](Aipp& a) -> AippField { return &a.name; }
#define NPU_AIPP_AT(list, i) [](Aipp& a) -> AippField { return &a.list[i]; }

constexpr AippKey kKeys[] = {
    {NPU_AIPP(aipp_mode)},
    {NPU_AIPP(related_input_rank), 0, kInt},
    {NPU_AIPP(related_input_name)},
    {NPU_AIPP(input_edge_idx), 0, kInt},
    {NPU_AIPP(max_src_image_size), 0, kInt},
    {NPU_AIPP(support_rotation)},
    {NPU_AIPP(input_format)},
    {NPU_AIPP(src_image_size_w), 0, kMostPixels},
    {NPU_AIPP(src_image_size_h), 0, kMostPixels},
    {NPU_AIPP(rbuv_swap_switch)},
    {NPU_AIPP(ax_swap_switch)},
    {NPU_AIPP(single_line_mode)},
    {NPU_AIPP(crop)},
    {NPU_AIPP(load_start_pos_w), 0, kMostPixels - 1},
    {NPU_AIPP(load_start_pos_h), 0, kMostPixels - 1},
    {NPU_AIPP(crop_size_w), 0, kMostPixels},
    {NPU_AIPP(crop_size_h), 0, kMostPixels},
    {NPU_AIPP(resize)},
    {NPU_AIPP(resize_output_w), 0, kMostPixels},
    {NPU_AIPP(resize_output_h), 0, kMostPixels},
    {NPU_AIPP(csc_switch)},
    {"matrix_r0c0", NPU_AIPP_AT(matrix, 0), -32768, 32767},
    {"matrix_r0c1", NPU_AIPP_AT(matrix, 1), -32768, 32767},
    {"matrix_r0c2", NPU_AIPP_AT(matrix, 2), -32768, 32767},
    {"matrix_r1c0", NPU_AIPP_AT(matrix, 3), -32768, 32767},
    {"matrix_r1c1", NPU_AIPP_AT(matrix, 4), -32768, 32767},
    {"matrix_r1c2", NPU_AIPP_AT(matrix, 5), -32768, 32767},
    {"matrix_r2c0", NPU_AIPP_AT(matrix, 6), -32768, 32767},
    {"matrix_r2c1", NPU_AIPP_AT(matrix, 7), -32768, 32767},
    {"matrix_r2c2", NPU_AIPP_AT(matrix, 8), -32768, 32767},
    {"output_bias_0", NPU_AIPP_AT(output_bias, 0), 0, 255},
    {"output_bias_1", NPU_AIPP_AT(output_bias, 1), 0, 255},
    {"output_bias_2", NPU_AIPP_AT(output_bias, 2), 0, 255},
    {"input_bias_0", NPU_AIPP_AT(input_bias, 0), 0, 255},
    {"input_bias_1", NPU_AIPP_AT(input_bias, 1), 0, 255},
    {"input_bias_2", NPU_AIPP_AT(input_bias, 2), 0, 255},
    {"mean_chn_0", NPU_AIPP_AT(mean, 0), 0, 255},
    {"mean_chn_1", NPU_AIPP_AT(mean, 1), 0, 255},
    {"mean_chn_2", NPU_AIPP_AT(mean, 2), 0, 255},
    {"mean_chn_3", NPU_AIPP_AT(mean, 3), 0, 255},
    {"min_chn_0", NPU_AIPP_AT(min, 0), 0, 255},
    {"min_chn_1", NPU_AIPP_AT(min, 1), 0, 255},
    {"min_chn_2", NPU_AIPP_AT(min, 2), 0, 255},
    {"min_chn_3", NPU_AIPP_AT(min, 3), 0, 255},
    {"var_reci_chn_0", NPU_AIPP_AT(var_reci, 0), -kHalf, kHalf},
    {"var_reci_chn_1", NPU_AIPP_AT(var_reci, 1), -kHalf, kHalf},
    {"var_reci_chn_2", NPU_AIPP_AT(var_reci, 2), -kHalf, kHalf},
    {"var_reci_chn_3", NPU_AIPP_AT(var_reci, 3), -kHalf, kHalf},
    {NPU_AIPP(padding)},
    {NPU_AIPP(left_padding_size), 0, kMostPadding},
    {NPU_AIPP(right_padding_size), 0, kMostPadding},
    {NPU_AIPP(top_padding_size), 0, kMostPadding},
    {NPU_AIPP(bottom_padding_size), 0, kMostPadding},
    {NPU_AIPP(cpadding_value), -kHalf, kHalf},
};

#undef NPU_AIPP_AT
#undef NPU_AIPP

/// The formats that are built, in the order of their numbers.
constexpr std::string_view kFormats[] = {"YUV420SP_U8", "XRGB8888_U8", "RGB888_U8", "YUV400_U8"};

PictureFormat format_of(const Aipp& aipp) {
  for (size_t i = 0; i < std::size(kFormats); ++i)
    if (aipp.input_format == kFormats[i]) return static_cast<PictureFormat>(i + 1);
  require(!aipp.input_format.empty(), "input_format is missing; give one of {}", fmt::join(kFormats, ", "));
  fail(Code::kNnInvalidParam, "input_format is {}; built are {}", aipp.input_format, fmt::join(kFormats, ", "));
}

AippHead head_of(const Aipp& aipp) {
  AippHead head;
  head.format = format_of(aipp);
  head.converts = aipp.csc_switch, head.swaps = aipp.rbuv_swap_switch, head.rotates = aipp.ax_swap_switch;
  head.width = static_cast<int32_t>(aipp.src_image_size_w), head.height = static_cast<int32_t>(aipp.src_image_size_h);
  std::transform(aipp.matrix.begin(), aipp.matrix.end(), head.matrix,
                 [](int64_t v) { return static_cast<int16_t>(v); });
  for (size_t i = 0; i < 3; ++i) {
    head.input_bias[i] = static_cast<uint8_t>(aipp.input_bias[i]);
    head.output_bias[i] = static_cast<uint8_t>(aipp.output_bias[i]);
  }
  return head;
}

AippPicture picture_of(const Aipp& aipp) {
  const auto number = [](int64_t value) { return static_cast<int32_t>(value); };
  AippPicture picture;
  picture.crops = aipp.crop, picture.pads = aipp.padding;
  picture.left = number(aipp.load_start_pos_w), picture.top = number(aipp.load_start_pos_h);
  picture.width = number(aipp.crop_size_w), picture.height = number(aipp.crop_size_h);
  picture.pad_left = number(aipp.left_padding_size), picture.pad_right = number(aipp.right_padding_size);
  picture.pad_top = number(aipp.top_padding_size), picture.pad_bottom = number(aipp.bottom_padding_size);
  for (size_t c = 0; c < 4; ++c) {
    picture.mean[c] = static_cast<int16_t>(aipp.mean[c]);
    picture.min[c] = Half::from_float(static_cast<float>(aipp.min[c]));
    picture.scale[c] = Half::from_float(static_cast<float>(aipp.var_reci[c]));
  }
  return picture;
}

}  // namespace

std::span<const AippKey> aipp_keys() { return kKeys; }

void Aipp::check() const {
  require(!aipp_mode.empty(), "aipp_mode is missing; give static or dynamic");
  require(aipp_mode == "static" || aipp_mode == "dynamic", "aipp_mode is {}; it is static or dynamic", aipp_mode);
  require(!resize, "resize is not built, nor is it on the device; resize pictures before, or crop them");
  require(!support_rotation, "support_rotation is not built, nor is it on the device; take it out");
  if (dynamic())
    return require(max_src_image_size > 0,
                   "max_src_image_size is missing; a dynamic aipp_op needs the bytes of all "
                   "pictures at their largest");
  const PictureFormat format = format_of(*this);
  require(!csc_switch || format != PictureFormat::kGray,
          "csc_switch is true, but YUV400_U8 has no colours; set it to false");
  require(!ax_swap_switch || format == PictureFormat::kXrgb,
          "ax_swap_switch is true, but input_format is {}; only "
          "XRGB8888_U8 has a fourth channel",
          input_format);
  const bool even =
      src_image_size_w % 2 == 0 && src_image_size_h % 2 == 0 && load_start_pos_w % 2 == 0 && load_start_pos_h % 2 == 0;
  require(format != PictureFormat::kYuv420 || even,
          "src_image_size_w and _h are {} and {}, load_start_pos_w and _h {} and {}; of YUV420SP_U8 all must be even, "
          "as U and V are shared by 2 x 2 pixels",
          src_image_size_w, src_image_size_h, load_start_pos_w, load_start_pos_h);
  require(src_image_size_w != 1, "src_image_size_w is 1; it is 2 at least, or 0: as the model takes it");
}

Json to_json(const Aipp& aipp) {
  auto out = Json::object();
  for (const AippKey& key : kKeys)
    std::visit([&](const auto* value) { out[std::string(key.name)] = *value; }, key.field(const_cast<Aipp&>(aipp)));
  out["model_format"] = aipp.model_format, out["model_dtype"] = aipp.model_dtype;
  out["model_shape"] = aipp.model_shape;
  return out;
}

Aipp aipp_from_json(const Json& json) {
  Aipp aipp;
  try {
    for (const AippKey& key : kKeys)
      std::visit([&]<class T>(T* value) { *value = json.at(key.name).get<T>(); }, key.field(aipp));
    aipp.model_format = json.value("model_format", ""), aipp.model_dtype = json.value("model_dtype", "");
    aipp.model_shape = json.value("model_shape", std::vector<int64_t>{});
  } catch (const JsonError& e) {
    fail(Code::kNnInvalidParam, "this is no AIPP configuration ({}); convert the model again", e.what());
  }
  aipp.check();
  return aipp;
}

void set_attributes(const Aipp& aipp, Attributes& attributes) {
  for (const AippKey& key : kKeys)
    std::visit([&](const auto* value) { attributes.set(std::string(key.name), *value); },
               key.field(const_cast<Aipp&>(aipp)));
}

Aipp aipp_of(const Attributes& attributes) {
  Aipp aipp;
  for (const AippKey& key : kKeys)
    std::visit([&]<class T>(T* value) { *value = attributes.get_or<T>(key.name, std::move(*value)); }, key.field(aipp));
  return aipp;
}

std::string aipp_block(const Aipp& aipp) {
  const AippHead head = head_of(aipp);
  const AippPicture picture = picture_of(aipp);
  std::string block(sizeof(head) + sizeof(picture), '\0');
  std::memcpy(block.data(), &head, sizeof(head));
  std::memcpy(block.data() + sizeof(head), &picture, sizeof(picture));
  return block;
}

PartialShape aipp_input_shape(const Aipp& aipp, int64_t batch) {
  const auto known = [](int64_t size) { return size == 0 ? kUnknownDim : size; };
  const int64_t width = known(aipp.src_image_size_w), height = known(aipp.src_image_size_h);
  const PictureFormat format = format_of(aipp);
  if (format == PictureFormat::kYuv420)
    return {Dims{batch, height == kUnknownDim ? kUnknownDim : height * 3 / 2, width, 1}};
  return {Dims{batch, height, width, ops::channels_of(format)}};
}

}  // namespace npu::graph::model
