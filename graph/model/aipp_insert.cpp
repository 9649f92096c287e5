// SPDX-License-Identifier: Apache-2.0
// AIPP nodes between the inputs of a model and what reads them.
#include <algorithm>
#include <set>

#include "graph/model/aipp.h"
#include "ops/image/aipp_block.h"

namespace npu::graph::model {
namespace {

/// Where a model's pictures have their sizes.
struct Order {
  size_t channels, height, width;
};
constexpr Order kChannelsFirst{1, 2, 3}, kChannelsLast{3, 1, 2};

size_t input_of(const Function& f, const Aipp& aipp) {
  if (aipp.related_input_name.empty()) {
    require(static_cast<size_t>(aipp.related_input_rank) < f.arguments.size(),
            "related_input_rank is {}, the model has {} inputs, counted from 0", aipp.related_input_rank,
            f.arguments.size());
    return static_cast<size_t>(aipp.related_input_rank);
  }
  const auto found = std::find_if(f.arguments.begin(), f.arguments.end(),
                                  [&](const Argument& a) { return a.name == aipp.related_input_name; });
  require(found != f.arguments.end(), "related_input_name is {}; the model has no input of this name",
          aipp.related_input_name);
  return static_cast<size_t>(found - f.arguments.begin());
}

/// The sizes that the file leaves to the model, and whether all of them fit.
void complete(Aipp& aipp, const Dims& model, const Order& order) {
  const int64_t width = model[order.width], height = model[order.height], channels = model[order.channels];
  const bool known = width != kUnknownDim && height != kUnknownDim;
  const bool sized = aipp.src_image_size_w != 0 || aipp.src_image_size_h != 0;
  require(
      known || (!aipp.crop && !aipp.padding && !sized),
      "the model's pictures have sizes that are known later; crop and padding must be off, and src_image_size_w and "
      "_h 0 or left out");
  require(channels != kUnknownDim, "the model's number of channels is unknown; give it with --input_shape");
  if (!known) return;
  const int64_t across = aipp.padding ? aipp.left_padding_size + aipp.right_padding_size : 0;
  const int64_t down = aipp.padding ? aipp.top_padding_size + aipp.bottom_padding_size : 0;
  require(width > across && height > down, "the padding is {} x {}, the model's pictures {} x {}", across, down, width,
          height);
  const auto fill = [](int64_t& size, int64_t other) { size = size == 0 ? other : size; };
  fill(aipp.src_image_size_w, width - across);
  fill(aipp.src_image_size_h, height - down);
  if (aipp.crop) fill(aipp.crop_size_w, width - across), fill(aipp.crop_size_h, height - down);
}

/// What clients ask of a model that takes bytes in the place of its pictures.
void note_model(Aipp& aipp, const Output& picture, bool channels_last) {
  aipp.model_format = channels_last ? "NHWC" : "NCHW";
  aipp.model_dtype = name_of(picture.type.dtype);
  aipp.model_shape.assign(picture.shape.dims->begin(), picture.shape.dims->end());
}

NodeId add_node(Function& f, const Aipp& aipp, std::vector<Edge> inputs, const Output& picture, bool channels_last) {
  Node node;
  node.name = f.arguments[input_of(f, aipp)].name + "_aipp", node.op = "Aipp";
  node.inputs = std::move(inputs), node.outputs = {picture};
  set_attributes(aipp, node.attributes);
  node.attributes.set("shape", picture.shape);
  node.attributes.set("dtype", picture.type);
  node.attributes.set("data_format", std::string(channels_last ? "NHWC" : "NCHW"));
  return f.add(std::move(node));
}

/// Whose k-th use of the input is meant, counted over the nodes in order.
void replace_uses(Function& f, Edge from, Edge to, const std::vector<int64_t>& which) {
  int64_t use = 0;
  for (NodeId id = 0; id < static_cast<NodeId>(f.nodes.size()); ++id) {
    if (id == to.node || f[id].removed) continue;
    for (Edge& input : f[id].inputs)
      if (input == from && (which.empty() || std::find(which.begin(), which.end(), use++) != which.end())) input = to;
  }
  if (which.empty())
    for (Result& result : f.results)
      if (result.value == from) result.value = to;
  for (const int64_t asked : which)
    require(asked < use, "input_edge_idx is {}, the input is used {} times, counted from 0", asked, use);
}

/// The picture as the model takes it. Raises 161002 where it is none.
Output picture_of(const Argument& argument) {
  const Output& value = argument.value;
  const bool floats = value.type == ValueType::tensor(DType::kFloat) || value.type == ValueType::tensor(DType::kHalf);
  require(floats && value.shape.rank_known() && value.shape.dims->size() == 4,
          "input {} is {} {}; AIPP makes pictures of four dimensions of float32 or float16", argument.name,
          to_string(value.type), to_string(value.shape));
  return value;
}

void become_bytes(Function& f, size_t input, PartialShape shape) {
  Output bytes{ValueType::tensor(DType::kUInt8), std::move(shape)};
  f[f.arguments[input].node].outputs[0] = bytes;
  f.arguments[input].value = bytes;
}

void check_geometry(const Aipp& aipp, const Dims& model, const Order& order) {
  const int64_t width = (aipp.crop ? aipp.crop_size_w : aipp.src_image_size_w) +
                        (aipp.padding ? aipp.left_padding_size + aipp.right_padding_size : 0);
  const int64_t height = (aipp.crop ? aipp.crop_size_h : aipp.src_image_size_h) +
                         (aipp.padding ? aipp.top_padding_size + aipp.bottom_padding_size : 0);
  require(aipp.src_image_size_w == 0 || (width == model[order.width] && height == model[order.height]),
          "AIPP makes pictures of {} x {} (width x height), the model takes {} x {}; change src_image_size, crop or "
          "padding",
          width, height, model[order.width], model[order.height]);
  require(!aipp.crop || (aipp.load_start_pos_w + aipp.crop_size_w <= aipp.src_image_size_w &&
                         aipp.load_start_pos_h + aipp.crop_size_h <= aipp.src_image_size_h),
          "the crop of {} x {} at ({}, {}) is not within the picture of {} x {}", aipp.crop_size_w, aipp.crop_size_h,
          aipp.load_start_pos_w, aipp.load_start_pos_h, aipp.src_image_size_w, aipp.src_image_size_h);
}

void insert_static(Function& f, Aipp& aipp, bool channels_last) {
  const size_t input = input_of(f, aipp);
  const Order order = channels_last ? kChannelsLast : kChannelsFirst;
  const Output picture = picture_of(f.arguments[input]);
  const Dims& model = *picture.shape.dims;
  note_model(aipp, picture, channels_last);
  complete(aipp, model, order);
  aipp.check();
  check_geometry(aipp, model, order);
  const PartialShape bytes = aipp_input_shape(aipp, model[0]);
  const int64_t most = ops::channels_of(aipp.input_format == "XRGB8888_U8" ? ops::PictureFormat::kXrgb
                                        : aipp.input_format == "YUV400_U8" ? ops::PictureFormat::kGray
                                                                           : ops::PictureFormat::kRgb);
  require(model[order.channels] <= most, "the model takes {} channels, {} has {}; choose another input_format",
          model[order.channels], aipp.input_format, most);
  const Edge from{f.arguments[input].node, 0};
  const NodeId node = add_node(f, aipp, {from}, picture, channels_last);
  become_bytes(f, input, bytes);
  replace_uses(f, from, {node, 0}, aipp.input_edge_idx);
}

void insert_dynamic(Function& f, Aipp& aipp, bool channels_last, const std::string& name) {
  const size_t input = input_of(f, aipp);
  const Output picture = picture_of(f.arguments[input]);
  require(picture.shape.known(), "input {} is {}; with dynamic AIPP all its sizes must be known: its bytes do not tell",
          f.arguments[input].name, to_string(picture.shape));
  note_model(aipp, picture, channels_last);
  const int64_t batch = (*picture.shape.dims)[0];
  require(batch < 128, "input {} has {} pictures; with dynamic AIPP there are at most 127", f.arguments[input].name,
          batch);
  const int64_t block = int64_t{sizeof(ops::AippHead)} + batch * int64_t{sizeof(ops::AippPicture)};
  const NodeId parameters = f.add_argument(name, {ValueType::tensor(DType::kUInt8), {Dims{block}}});
  const Edge from{f.arguments[input].node, 0};
  const NodeId node = add_node(f, aipp, {from, {parameters, 0}}, picture, channels_last);
  become_bytes(f, input, {Dims{aipp.max_src_image_size}});
  replace_uses(f, from, {node, 0}, aipp.input_edge_idx);
}

}  // namespace

std::vector<Aipp> insert_aipp(Function& function, std::vector<Aipp> configurations, bool channels_last) {
  std::set<size_t> done;
  size_t dynamic = 0;
  try {
    for (Aipp& aipp : configurations) {
      const size_t input = input_of(function, aipp);
      require(done.insert(input).second, "two aipp_op are for input {}; an input has one",
              function.arguments[input].name);
      if (!aipp.dynamic()) {
        insert_static(function, aipp, channels_last);
        continue;
      }
      insert_dynamic(function, aipp, channels_last,
                     std::string(kAippInput) + (dynamic == 0 ? "" : fmt::format("_{}", dynamic)));
      ++dynamic;
    }
  } catch (const Error& e) {
    throw Error(e.code(), fmt::format("E10052: {}", e.message()), e.place());
  }
  return configurations;
}

}  // namespace npu::graph::model
