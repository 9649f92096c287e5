// SPDX-License-Identifier: Apache-2.0
// Dump files looked at by themselves: which there are, and what is in one.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>

#include "graph/dump/record/format.h"
#include "tools/compare/exit/refusal.h"
#include "tools/compare/face/arguments.h"
#include "tools/compare/face/face.h"
#include "tools/compare/folder/below.h"
#include "tools/compare/folder/dump_folder.h"
#include "tools/compare/tensor/each_element.h"

namespace npu::compare {
namespace {

namespace fs = std::filesystem;
namespace record = graph::record;

constexpr size_t kBins = 10;
constexpr size_t kBar = 40;  // signs of the fullest bin

std::string tensor_text(const Tensor& tensor) {
  const record::DataType& type = record::data_type(tensor.facts.data_type);
  return fmt::format("{}[{}]", type.word, fmt::join(tensor.facts.shape, "x"));
}

std::string tensor_texts(const std::vector<Tensor>& tensors) {
  std::string text;
  for (const Tensor& tensor : tensors) text += (text.empty() ? "" : " ") + tensor_text(tensor);
  return text.empty() ? "-" : text;
}

/// What one pass over the elements tells.
struct Look {
  double least = INFINITY, most = -INFINITY, sum = 0, squares = 0;
  uint64_t finite = 0, zeros = 0, nans = 0, above = 0, below = 0;
  std::optional<uint64_t> first_wrong;  ///< the first element that is not finite

  void add(float value, uint64_t at) {
    if (!std::isfinite(value)) {
      (std::isnan(value) ? nans : value > 0 ? above : below)++;
      if (!first_wrong) first_wrong = at;
      return;
    }
    least = std::min<double>(least, value), most = std::max<double>(most, value);
    sum += value, squares += static_cast<double>(value) * value;
    ++finite;
    zeros += value == 0;
  }
};

/// "[1, 0, 7]" of the element's number in the order of the shape.
std::string place(uint64_t at, const Shape& shape) {
  Shape index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; at /= shape[axis]) index[axis] = at % shape[axis];
  return fmt::format("[{}]", fmt::join(index, ", "));
}

void print_histogram(const View& view, const Look& look) {
  std::array<uint64_t, kBins> bins{};
  const double width = (look.most - look.least) / kBins;
  if (!(width > 0) || !std::isfinite(width)) return;
  each_element(view, [&](float value, uint64_t) {
    if (std::isfinite(value)) ++bins[std::min(kBins - 1, static_cast<size_t>((value - look.least) / width))];
  });
  const uint64_t fullest = *std::ranges::max_element(bins);
  for (size_t i = 0; i < kBins; ++i)
    fmt::print("      {:>12.5g} .. {:<12.5g} {:>10} {}\n", look.least + width * static_cast<double>(i),
               look.least + width * static_cast<double>(i + 1), bins[i], std::string(bins[i] * kBar / fullest, '#'));
}

void print_tensor(const char* side, size_t index, const Tensor& tensor) {
  fmt::print("  {} {}: {} {}, {} bytes\n", side, index, tensor_text(tensor), record::format_name(tensor.facts.format),
             tensor.facts.size);
  const View view = plain_view(tensor);
  Look look;
  each_element(view, [&](float value, uint64_t at) { look.add(value, at); });
  if (look.finite > 0)
    fmt::print("    least {:.7g}, most {:.7g}, mean {:.7g}, norm {:.7g}; zeros {} of {}\n", look.least, look.most,
               look.sum / static_cast<double>(look.finite), std::sqrt(look.squares), look.zeros, view.count);
  if (look.first_wrong)
    fmt::print("    not finite: {} NaN, {} +Inf, {} -Inf; the first at {}\n", look.nans, look.above, look.below,
               place(*look.first_wrong, view.shape));
  print_histogram(view, look);
}

/// One tensor that cannot be read does not hide the others.
int print_or_tell(const char* side, size_t index, const Tensor& tensor) {
  try {
    print_tensor(side, index, tensor);
    return 0;
  } catch (const Refusal& reason) {
    fmt::print("    {}\n", reason.what());
    return static_cast<int>(reason.code());
  }
}

int show(const std::string& path) {
  const Opened opened({path, path, 0});
  fmt::print("{}\n", path);
  if (opened.dump() != nullptr)
    fmt::print("  operator {}, written at {} us\n", opened.dump()->data().op_name, opened.dump()->data().dump_time);
  int code = 0;
  for (size_t i = 0; i < opened.inputs().size(); ++i)
    code = std::max(code, print_or_tell("input", i, opened.inputs()[i]));
  for (size_t i = 0; i < opened.outputs().size(); ++i)
    code = std::max(code, print_or_tell("output", i, opened.outputs()[i]));
  return code;
}

void list_one(const Named& file, const std::string& folder) {
  const std::string where = fs::relative(fs::path(file.path).parent_path(), folder).string();
  try {
    const Opened opened({file.path, file.path, 0});
    fmt::print("{}  {} {}  {} -> {}\n", where, file.name.op_type, opened.dump()->data().op_name,
               tensor_texts(opened.inputs()), tensor_texts(opened.outputs()));
  } catch (const std::exception& reason) {
    fmt::print("{}  {} {}  {}\n", where, file.name.op_type, file.name.op_name, reason.what());
  }
}

}  // namespace

int list_face(const Words& arguments) {
  if (arguments.size() != 1 || arguments[0].starts_with('-'))
    throw UsageError{"list takes one folder: that of a dump, or one below it"};
  if (!fs::is_directory(arguments[0])) throw Refusal(Exit::kPath, fmt::format("{} is no folder.", arguments[0]));
  const std::vector<Named> files = files_below(arguments[0]);
  if (files.empty()) throw Refusal(Exit::kNoDump, fmt::format("{} holds no dump file.", arguments[0]));
  for (const Named& file : files) list_one(file, arguments[0]);
  return 0;
}

int show_face(const Words& arguments) {
  if (arguments.empty() || arguments[0].starts_with('-')) throw UsageError{"show takes files of a dump, or .npy files"};
  int code = 0;
  for (const std::string& path : arguments) {
    if (!fs::is_regular_file(path)) throw Refusal(Exit::kMissing, fmt::format("{} is no file.", path));
    code = std::max(code, show(path));
  }
  return code;
}

}  // namespace npu::compare
