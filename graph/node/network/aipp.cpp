// SPDX-License-Identifier: Apache-2.0
// Pictures of bytes in front of a model (graph/model/aipp.h): the attributes are the keys of the configuration, beside
// the shape, type and order of what the model takes.
#include "graph/model/aipp.h"

#include "graph/node/array.h"
#include "graph/plan/lowering.h"

namespace npu::graph {
namespace {

/// Sizes that only this call tells, read off the bytes.
void complete(model::Aipp& aipp, const Dims& bytes, Dims& out, bool channels_last) {
  require(bytes.size() == 4, "the pictures are {}; they must have 4 dimensions", bytes);
  if (aipp.src_image_size_h == 0)
    aipp.src_image_size_h = aipp.input_format == "YUV420SP_U8" ? bytes[1] * 2 / 3 : bytes[1];
  if (aipp.src_image_size_w == 0) aipp.src_image_size_w = bytes[2];
  const size_t height = channels_last ? 1 : 2;
  if (out[0] == kUnknownDim) out[0] = bytes[0];
  if (out[height] == kUnknownDim) out[height] = aipp.src_image_size_h;
  if (out[height + 1] == kUnknownDim) out[height + 1] = aipp.src_image_size_w;
}

void lower_aipp(Lowering& l) {
  model::Aipp aipp = model::aipp_of(l.attributes());
  const PartialShape& shape = l.attributes().get<PartialShape>("shape");
  require(shape.rank_known() && shape.dims->size() == 4, "shape is {}; it must have 4 dimensions", to_string(shape));
  Dims sizes = *shape.dims;
  const bool channels_last = l.attributes().get<std::string>("data_format") == "NHWC";
  if (!aipp.dynamic()) complete(aipp, l.shape(0), sizes, channels_last);
  const Planned out = l.make(0, l.attributes().get<ValueType>("dtype").dtype, sizes);
  OperatorCall call = l.call("aipp");
  call.set("images", l.input(0)).set("padding_value", aipp.cpadding_value);
  if (aipp.dynamic())
    call.set("parameters", l.input(1));
  else
    call.set("block", model::aipp_block(aipp));
  call.set("out", channels_last ? permuted(out, {0, 3, 1, 2}) : out);
}

NPU_NODE("Aipp", lower_aipp);

}  // namespace
}  // namespace npu::graph
