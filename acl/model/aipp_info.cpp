// SPDX-License-Identifier: Apache-2.0
// The configuration of AIPP in front of an input, as clients ask for it.
#include <algorithm>

#include "acl/call.h"
#include "acl/include/acl/acl_mdl.h"
#include "acl/model/port.h"
#include "base/json.h"
#include "graph/model/aipp.h"
#include "graph/model/code.h"

namespace npu::acl {
namespace {

using graph::model::Aipp;

void set_sizes(aclAippInfo& out, const Aipp& a) {
  const auto number = [](int64_t value) { return static_cast<int32_t>(value); };
  out.srcImageSizeW = number(a.src_image_size_w), out.srcImageSizeH = number(a.src_image_size_h);
  out.cropSwitch = a.crop, out.paddingSwitch = a.padding;
  out.loadStartPosW = number(a.load_start_pos_w), out.loadStartPosH = number(a.load_start_pos_h);
  out.cropSizeW = number(a.crop_size_w), out.cropSizeH = number(a.crop_size_h);
  out.leftPaddingSize = number(a.left_padding_size), out.rightPaddingSize = number(a.right_padding_size);
  out.topPaddingSize = number(a.top_padding_size), out.bottomPaddingSize = number(a.bottom_padding_size);
}

void set_numbers(aclAippInfo& out, const Aipp& a) {
  int32_t* const matrix[] = {&out.matrixR0C0, &out.matrixR0C1, &out.matrixR0C2, &out.matrixR1C0, &out.matrixR1C1,
                             &out.matrixR1C2, &out.matrixR2C0, &out.matrixR2C1, &out.matrixR2C2};
  int32_t* const after[] = {&out.outputBias0, &out.outputBias1, &out.outputBias2};
  int32_t* const before[] = {&out.inputBias0, &out.inputBias1, &out.inputBias2};
  int32_t* const mean[] = {&out.meanChn0, &out.meanChn1, &out.meanChn2, &out.meanChn3};
  float* const min[] = {&out.minChn0, &out.minChn1, &out.minChn2, &out.minChn3};
  float* const factor[] = {&out.varReciChn0, &out.varReciChn1, &out.varReciChn2, &out.varReciChn3};
  for (size_t i = 0; i < 9; ++i) *matrix[i] = static_cast<int32_t>(a.matrix[i]);
  for (size_t i = 0; i < 3; ++i) *after[i] = static_cast<int32_t>(a.output_bias[i]);
  for (size_t i = 0; i < 3; ++i) *before[i] = static_cast<int32_t>(a.input_bias[i]);
  for (size_t i = 0; i < 4; ++i) *mean[i] = static_cast<int32_t>(a.mean[i]);
  for (size_t i = 0; i < 4; ++i) *min[i] = static_cast<float>(a.min[i]);
  for (size_t i = 0; i < 4; ++i) *factor[i] = static_cast<float>(a.var_reci[i]);
}

void set_static(aclAippInfo& out, const Aipp& a) {
  static constexpr std::string_view kFormats[] = {"YUV420SP_U8", "XRGB8888_U8", "RGB888_U8", "YUV400_U8"};
  const auto* format = std::find(std::begin(kFormats), std::end(kFormats), a.input_format);
  out.inputFormat = static_cast<aclAippInputFormat>(ACL_YUV420SP_U8 + (format - std::begin(kFormats)));
  out.cscSwitch = a.csc_switch, out.rbuvSwapSwitch = a.rbuv_swap_switch, out.axSwapSwitch = a.ax_swap_switch;
  out.singleLineMode = a.single_line_mode;
  set_sizes(out, a);
  set_numbers(out, a);
}

void set_dims(aclmdlIODims& out, const Dims& dims) {
  out.dimCount = dims.size();
  std::copy(dims.begin(), dims.end(), out.dims);
}

size_t bytes_of(const Dims& dims, DType dtype) {
  const bool known = std::none_of(dims.begin(), dims.end(), [](int64_t size) { return size < 0; });
  return known ? static_cast<size_t>(count_of(dims)) * size_of(dtype) : 0;
}

/// What the model takes where pictures come with these sizes.
Dims model_shape(const Aipp& a, const Dims& pictures) {
  Dims out{std::span<const int64_t>(a.model_shape)};
  if (pictures.size() != 4 || out.size() != 4) return out;
  const size_t height = a.model_format == "NHWC" ? 1 : 2;
  if (out[0] < 0) out[0] = pictures[0];
  if (out[height] < 0 && pictures[1] > 0)
    out[height] = a.input_format == "YUV420SP_U8" ? pictures[1] * 2 / 3 : pictures[1];
  if (out[height + 1] < 0) out[height + 1] = pictures[2];
  return out;
}

void set_model(aclAippInfo& out, const Aipp& a, const ModelFacts& facts, size_t index) {
  const DType dtype = a.model_dtype == name_of(DType::kHalf) ? DType::kHalf : DType::kFloat;
  out.srcFormat = a.model_format == "NHWC" ? ACL_FORMAT_NHWC : ACL_FORMAT_NCHW;
  out.srcDatatype = static_cast<aclDataType>(dtype);
  out.srcDimNum = a.model_shape.size();
  out.shapeCount = std::clamp<size_t>(facts.model.gears.size(), 1, ACL_MAX_SHAPE_COUNT);
  for (size_t gear = 0; gear < out.shapeCount; ++gear) {
    const Dims& pictures = shape_in(facts, Side::kInput, index, gear);
    const Dims taken = model_shape(a, pictures);
    aclAippDims& dims = out.outDims[gear];
    set_dims(dims.srcDims, pictures), dims.srcSize = bytes_of(pictures, DType::kUInt8);
    set_dims(dims.aippOutdims, taken), dims.aippOutSize = bytes_of(taken, dtype);
  }
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclmdlGetFirstAippInfo(uint32_t modelId, size_t index, aclAippInfo* aippinfo) {
  return call("aclmdlGetFirstAippInfo", [&] {
    const std::shared_ptr<LoadedModel> model = find_model(modelId);
    aclAippInfo& out = result(aippinfo, "aippinfo");
    const ModelFacts& facts = *model->facts();
    const graph::model::Port port = port_at(facts, Side::kInput, index);
    if (chooses_gear(facts, index) || port.aipp.empty())
      fail(graph::model::kNoAipp, "input {} ({}) has no AIPP; convert the model with --insert_op_conf", index,
           port.name);
    const Aipp aipp = graph::model::aipp_from_json(Json::parse(port.aipp));
    out = {};
    if (!aipp.dynamic()) set_static(out, aipp);
    set_model(out, aipp, facts, index);
  });
}
