// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/tensor/tensor.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "graph/dump/record/format.h"
#include "tools/compare/exit/refusal.h"

namespace npu::compare {
namespace {

namespace record = graph::record;

/// Sizes other than 1.
Shape without_ones(Shape shape) {
  std::erase(shape, 1u);
  return shape;
}

Shape padded(Shape shape, size_t length) {
  if (shape.size() < length) shape.resize(length, 1);
  return shape;
}

/// Where a format of four letters does not have four sizes, it says nothing.
int32_t real_format(const record::DumpTensor& facts) {
  const bool four = facts.format == record::kNchw || facts.format == record::kNhwc || facts.format == record::kHwcn;
  return four && facts.shape.size() != 4 ? static_cast<int32_t>(record::kNd) : facts.format;
}

}  // namespace

bool is_scalar(const Shape& shape) { return std::accumulate(shape.begin(), shape.end(), uint64_t{0}) == shape.size(); }

std::string shape_text(const Shape& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

View plain_view(const Tensor& tensor) {
  const DataType& type = record::data_type(tensor.facts.data_type);
  const bool bare = type.number == 0 && tensor.facts.size != 0;
  const Shape shape = bare ? Shape{tensor.facts.size} : tensor.facts.shape;
  if (!can_decode(type))
    throw Refusal(Exit::kElementType, fmt::format("Elements of type {} are no numbers.", type.name));
  const auto count = elements(shape);
  if (!count || record::bytes_of(type, *count) > tensor.bytes.size())
    throw Refusal(Exit::kDamaged, fmt::format("The shape {} of {} does not fit into the {} bytes of the tensor.",
                                              shape_text(shape), type.name, tensor.bytes.size()));
  return {&type, tensor.bytes, shape, std::nullopt, *count, tensor.mapped};
}

View converted_view(const Tensor& tensor, int32_t source, int32_t target, const Shape& to) {
  View view = plain_view(tensor);
  if (view.count == 0) return view;
  try {
    const auto groups = static_cast<uint64_t>(std::max(tensor.facts.sub_format, 1));
    view.layout = convert_layout(source, target, view.shape, to, groups);
  } catch (const Error& reason) {
    const bool nz = source == record::kFractalNz;
    throw Refusal(!can_convert(source, target) ? Exit::kFormat
                  : nz                         ? Exit::kFractalNz
                                               : Exit::kConversion,
                  reason.message());
  }
  view.shape = view.layout->shape();
  view.count = elements(view.shape).value_or(0);
  return view;
}

bool crop(View& view, const Shape& wanted) {
  if (view.shape.size() < wanted.size()) return without_ones(view.shape) == without_ones(wanted);
  const Shape mine = padded(view.shape, 4), cut = padded(wanted, mine.size());
  const auto ones = static_cast<size_t>(std::ranges::count(view.shape, 1u));
  if (elements(mine) == elements(cut) && ones + 1 >= view.shape.size()) return true;
  const auto at = std::ranges::mismatch(mine, cut);
  if (at.in1 == mine.end()) return true;
  if (*at.in1 < *at.in2) return false;
  if (view.count != 0 && !view.layout) view.layout = Layout::rows(mine);
  if (view.layout) view.layout->crop(cut);
  view.shape = mine;
  for (size_t i = 0; i < mine.size(); ++i) view.shape[i] = std::min(mine[i], cut[i]);
  view.count = elements(view.shape).value_or(0);
  return true;
}

View restored_view(const Tensor& tensor) {
  const Shape& to = tensor.facts.original_shape;
  const int32_t source = real_format(tensor.facts);
  const auto target = to.size() == 4                     ? int32_t{record::kNchw}
                      : to.size() == 2 || to.size() == 3 ? int32_t{record::kNd}
                                                         : source;
  if (source == target || !can_convert(source, target)) return plain_view(tensor);
  try {
    View view = converted_view(tensor, source, target, to);
    View cut = view;
    return !to.empty() && crop(cut, to) ? cut : view;
  } catch (const Refusal&) {
    return plain_view(tensor);
  }
}

namespace {

/// NHWC that has the sizes of NCHW and the other way round are taken for what they look like.
std::string corrected(const std::string& format, const Shape& told, const Shape& seen) {
  if (told.size() != 4 || seen.size() != 4 || told == seen) return format;
  const Shape first{seen[0], seen[2], seen[3], seen[1]}, last{seen[0], seen[3], seen[1], seen[2]};
  if (format == "NHWC" && told == first) return "NCHW";
  if (format == "NCHW" && told == last) return "NHWC";
  return format;
}

int32_t golden_format(const Tensor& mine, const Tensor& golden, const std::string& format, const Shape& shape) {
  if (format.empty()) return mine.facts.format;
  const auto number = record::find_format(corrected(format, shape, golden.facts.shape));
  if (!number) throw Refusal(Exit::kFormat, fmt::format("The format \" {} \" is not supported.", format));
  return *number;
}

/// Whether both sides are compared as they lie in memory, whatever their shapes.
bool as_they_lie(int32_t target, const Tensor& mine) {
  const int32_t source = mine.facts.format;
  const bool needed = source == record::kFractalNz || source == record::kNdc1hwc0;
  return (target == record::kNd && !needed) || is_scalar(mine.facts.shape);
}

View mine_in(int32_t target, const Tensor& mine, const Shape& shape) {
  const int32_t source = mine.facts.format;
  if (source == target || source == record::kReserved || real_format(mine.facts) == record::kNd)
    return plain_view(mine);
  return converted_view(mine, source, target, shape);
}

/// Without what is padding on my side.
Match fitted(Match found, const Tensor& mine) {
  const bool differ = found.mine.count != found.golden.count;
  bool fits = true;
  if (mine.facts.format != record::kNd || (!is_scalar(mine.facts.shape) && differ))
    fits = crop(found.mine, found.golden.shape);
  if (!fits || found.mine.count != found.golden.count)
    throw Refusal(
        Exit::kShape,
        fmt::format("The shapes differ: {} of my dump cannot be compared with {} of the golden. The batch may be "
                    "another one, or an optimisation changed the shape.",
                    shape_text(found.mine.shape), shape_text(found.golden.shape)));
  return found;
}

}  // namespace

bool is_deep(int32_t format) {
  return format == record::kNdhwc || format == record::kNcdhw || format == record::kDhwcn ||
         format == record::kNdc1hwc0;
}

Match match_by_axes(const Tensor& mine, const Tensor& golden, std::string format, const Shape& told) {
  const Shape& shape = mine.facts.original_shape.empty() ? told : mine.facts.original_shape;
  const int32_t source = golden_format(mine, golden, format, shape);
  const int32_t target = is_deep(mine.facts.format)               ? int32_t{record::kNcdhw}
                         : mine.facts.format == record::kFractalZ ? source
                                                                  : int32_t{record::kNchw};
  if (is_scalar(mine.facts.shape)) return fitted({plain_view(mine), plain_view(golden)}, mine);
  const bool moves = source != target && can_convert(source, target) && source != record::kFractalNz &&
                     golden.facts.shape.size() == record::format_name(source).size();
  return fitted({mine_in(target, mine, shape),
                 moves ? converted_view(golden, source, target, golden.facts.shape) : plain_view(golden)},
                mine);
}

Match match(const Tensor& mine, const Tensor& golden, std::string format, const Shape& told) {
  const Shape& shape = mine.facts.original_shape.empty() ? told : mine.facts.original_shape;
  const int32_t target = golden_format(mine, golden, format, shape);
  const bool flat = as_they_lie(target, mine);
  Match found{flat ? plain_view(mine) : mine_in(target, mine, shape), plain_view(golden)};
  if (flat) found.mine.shape = {found.mine.count}, found.golden.shape = {found.golden.count};
  return fitted(std::move(found), mine);
}

}  // namespace npu::compare
