// SPDX-License-Identifier: Apache-2.0
#include "graph/convert/request.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "graph/convert/refusal.h"
#include "graph/ir/value_type.h"
#include "graph/passes/fusion_switch.h"
#include "graph/precision/precision.h"

namespace npu::graph::convert {
namespace {

using model::GearKind;

constexpr size_t kFewestGears = 2, kMostGears = 100;
constexpr int64_t kAnySize = -1;
constexpr int32_t kNd = 2;

std::string_view trimmed(std::string_view text) {
  const size_t from = text.find_first_not_of(" \t"), to = text.find_last_not_of(" \t");
  return from == text.npos ? std::string_view() : text.substr(from, to - from + 1);
}

/// The parts between `separator`s; none of a blank text.
std::vector<std::string_view> parts(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  if (trimmed(text).empty()) return out;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    out.push_back(trimmed(text.substr(at, end - at)));
    at = end + 1;
  }
  if (out.back().empty()) out.pop_back();  // one behind the last
  return out;
}

bool read_number(std::string_view text, int64_t& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc() && end == text.data() + text.size();
}

std::string value_of(const Flags& flags, const std::string& name) {
  const auto at = flags.find(name);
  return at == flags.end() ? "" : at->second;
}

std::string file_of(const std::string& flag, const std::string& path) {
  std::optional<std::string> text = whole_file(path);
  if (!text) refuse("E10410", "--{}={}: {}; name a file that can be read", flag, path, std::strerror(errno));
  return *std::move(text);
}

/// "3", "-1", "1~4", "1~-1".
std::pair<int64_t, int64_t> read_size(std::string_view text, std::string_view whole) {
  const size_t sign = text.find('~');
  int64_t least = 0, most = 0;
  const bool one = sign == text.npos;
  const bool read = one ? read_number(text, least)
                        : read_number(text.substr(0, sign), least) && read_number(text.substr(sign + 1), most);
  if (!read)
    refuse("E10002", "--input_shape: {} in {} is no size; write NAME:n,c,h,w;NAME2:n,c, with -1, or 1~8 for a range",
           text.empty() ? "an empty text" : text, whole);
  if (one && (least == 0 || least < kAnySize))
    refuse("E10011", "--input_shape: {} has the size {}; sizes are positive, or -1 where the call decides", whole,
           least);
  if (!one && (least < 0 || (most != kAnySize && most < least)))
    refuse("E10048", "--input_shape: {} has the range {}; write least~most, or least~-1 for no bound", whole, text);
  return one ? std::pair{least, least} : std::pair{least, most};
}

InputShape read_shape(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos || colon == 0)
    refuse("E10002", "--input_shape: {} names no input; write NAME:n,c,h,w;NAME2:n,c", text);
  std::string_view sizes = text.substr(colon + 1);
  if (sizes.starts_with('[') && sizes.ends_with(']')) sizes = sizes.substr(1, sizes.size() - 2);
  InputShape out{std::string(trimmed(text.substr(0, colon))), {}};
  bool ranged = false;
  for (const std::string_view size : parts(sizes, ',')) {
    const auto [least, most] = read_size(size, text);
    ranged |= least != most;
    out.dims.push_back(least == most ? least : kUnknownDim);
    out.range.emplace_back(std::max<int64_t>(least, 0), most);
  }
  if (!ranged) out.range.clear();
  return out;
}

void add_ranges(std::vector<InputShape>& shapes, const std::string& text) {
  for (InputShape& ranged : read_shapes(text)) {
    for (const InputShape& other : shapes)
      if (other.name == ranged.name)
        refuse("E10047", "--input_shape and --input_shape_range both name {}; write it in one of them", ranged.name);
    shapes.push_back(std::move(ranged));
  }
}

std::optional<int32_t> read_format(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, int32_t>, 4> kFormats = {
      {{"NCHW", 0}, {"NHWC", 1}, {"ND", kNd}, {"NCDHW", 30}}};
  if (text.empty()) return std::nullopt;
  for (const auto& [name, format] : kFormats)
    if (name == text) return format;
  refuse("E10001", "--input_format={}: it is NCHW, NHWC, NCDHW or ND", text);
}

DType read_type(const std::string& text, std::string_view flag) {
  constexpr std::array<std::pair<std::string_view, DType>, 5> kTypes = {{{"FP32", DType::kFloat},
                                                                         {"FP16", DType::kHalf},
                                                                         {"UINT8", DType::kUInt8},
                                                                         {"INT8", DType::kInt8},
                                                                         {"BF16", DType::kBFloat16}}};
  for (const auto& [name, dtype] : kTypes)
    if (name == text) return dtype;
  refuse("E10001", "--{}: {} is no type; it is FP32, FP16, UINT8, INT8 or BF16", flag, text);
}

std::vector<OutputType> read_output_types(const std::string& text) {
  std::vector<OutputType> out;
  if (text.empty()) return out;
  if (text.find(':') == text.npos) return {{"", 0, read_type(text, "output_type")}};
  for (const std::string_view one : parts(text, ';')) {
    const size_t last = one.rfind(':'), first = last == 0 ? one.npos : one.rfind(':', last - 1);
    OutputType type;
    if (last == one.npos || first == one.npos || first == 0 ||
        !read_number(one.substr(first + 1, last - first - 1), type.index) || type.index < 0)
      refuse("E10001", "--output_type: {} is not NODE:INDEX:TYPE, as in conv1:0:FP16", one);
    type.node = one.substr(0, first);
    type.dtype = read_type(std::string(one.substr(last + 1)), "output_type");
    out.push_back(std::move(type));
  }
  return out;
}

void check_gears(const std::string& flag, const std::vector<std::vector<int64_t>>& gears) {
  if (gears.size() < kFewestGears)
    refuse("E10035", "--{} has {} gears; give {} at least, or convert for that one size with --input_shape", flag,
           gears.size(), kFewestGears);
  if (gears.size() > kMostGears) refuse("E10036", "--{} has {} gears; there may be {}", flag, gears.size(), kMostGears);
  std::set<std::vector<int64_t>> met;
  for (const auto& gear : gears) {
    const std::string text = fmt::format("{}", fmt::join(gear, ","));
    if (gear.size() != gears[0].size())
      refuse("E10037", "--{}: the gears {} and {} have different lengths", flag, fmt::join(gears[0], ","), text);
    if (std::ranges::any_of(gear, [](int64_t size) { return size <= 0; }))
      refuse("E10038", "--{}: the gear {} has a size that is not positive", flag, text);
    if (!met.insert(gear).second) refuse("E10039", "--{}: the gear {} stands there twice", flag, text);
  }
}

void read_gear_flags(const Flags& flags, Request& to) {
  constexpr std::array<std::pair<const char*, GearKind>, 3> kKinds = {{{"dynamic_batch_size", GearKind::kBatch},
                                                                       {"dynamic_image_size", GearKind::kImage},
                                                                       {"dynamic_dims", GearKind::kDims}}};
  std::string chosen;
  for (const auto& [flag, kind] : kKinds) {
    const std::string text = value_of(flags, flag);
    if (text.empty()) continue;
    if (!chosen.empty()) refuse("E10009", "--{} and --{} exclude each other; keep one of them", chosen, flag);
    if (!value_of(flags, "input_shape_range").empty())
      refuse("E10009", "--{} and --input_shape_range exclude each other; keep one of them", flag);
    chosen = flag;
    to.gear_kind = kind;
    to.gears = read_gears(flag, text);
    if (kind == GearKind::kBatch && to.gears.size() == 1) {  // "1,2,4" is a list of gears of one number
      std::vector<std::vector<int64_t>> single;
      for (const int64_t size : to.gears[0]) single.push_back({size});
      to.gears = std::move(single);
    }
    check_gears(flag, to.gears);
    if (kind == GearKind::kImage && to.gears[0].size() != 2)
      refuse("E10020", "--dynamic_image_size={}: write height,width;height,width", text);
    if (kind == GearKind::kBatch && to.gears[0].size() != 1)
      refuse("E10014", "--dynamic_batch_size={}: write n1,n2,n3", text);
  }
}

/// Sets `option` and tells what in it has no effect.
void set_precision(Request& to, Precision& check, const std::string& option, const std::string& value) {
  try {
    for (const std::string& notice : check.set(option, value))
      to.notices.push_back(fmt::format("--{}: {}", option, notice));
  } catch (const Error& e) {
    refuse("E10001", "--{}: {}", option, e.message());
  }
  to.precision.emplace_back(option, value);
}

void read_precision(const Flags& flags, Request& to) {
  const std::string mode = value_of(flags, "precision_mode"), mode2 = value_of(flags, "precision_mode_v2");
  if (!mode.empty() && !mode2.empty())
    refuse("E10047", "--precision_mode and --precision_mode_v2 exclude each other; keep one of them");
  Precision check;
  if (!mode2.empty())
    set_precision(to, check, "precision_mode_v2", mode2);
  else
    set_precision(to, check, "precision_mode", mode.empty() ? "force_fp16" : mode);
  for (const char* flag : {"modify_mixlist", "customize_dtypes", "op_precision_mode", "keep_dtype"})
    if (const std::string path = value_of(flags, flag); !path.empty())
      set_precision(to, check, flag, file_of(flag, path));
}

void read_fusions(const Flags& flags, Request& to) {
  const std::string path = value_of(flags, "fusion_switch_file");
  if (path.empty()) return;
  try {
    FusionSwitch read = read_fusion_switch(file_of("fusion_switch_file", path));
    to.passes_off = std::move(read.off);
    if (!read.unknown.empty())
      to.notices.push_back(fmt::format("--fusion_switch_file: no pass here is called {}; nothing to switch",
                                       fmt::join(read.unknown, ", ")));
  } catch (const Error& e) {
    if (e.message().starts_with("E1")) throw;
    refuse("E10001", "--fusion_switch_file={}: {}", path, e.message());
  }
}

std::vector<std::string> read_names(const std::string& text) {
  std::vector<std::string> out;
  for (const std::string_view name : parts(text, ';')) out.emplace_back(name);
  return out;
}

}  // namespace

std::vector<InputShape> read_shapes(const std::string& text) {
  std::vector<InputShape> out;
  for (const std::string_view one : parts(text, ';')) {
    out.push_back(read_shape(one));
    for (size_t i = 0; i + 1 < out.size(); ++i)
      if (out[i].name == out.back().name) refuse("E10002", "--input_shape names {} twice", out.back().name);
  }
  return out;
}

std::vector<std::vector<int64_t>> read_gears(const std::string& flag, const std::string& text) {
  std::vector<std::vector<int64_t>> out;
  for (const std::string_view one : parts(text, ';')) {
    std::vector<int64_t>& gear = out.emplace_back();
    for (const std::string_view size : parts(one, ',')) {
      gear.push_back(0);
      if (!read_number(size, gear.back())) refuse("E10014", "--{}: {} in {} is no number", flag, size, text);
    }
  }
  return out;
}

Request read_request(const Flags& flags) {
  Request out;
  out.shapes = read_shapes(value_of(flags, "input_shape"));
  if (const std::string ranges = value_of(flags, "input_shape_range"); !ranges.empty()) {
    // Ranges of one input stand between brackets, and so do commas; semicolons part inputs as in --input_shape.
    add_ranges(out.shapes, ranges);
  }
  out.input_format = read_format(value_of(flags, "input_format"));
  read_gear_flags(flags, out);
  if (const std::string file = value_of(flags, "insert_op_conf"); !file.empty())
    out.aipp = model::read_aipp(file_of("insert_op_conf", file), file);
  if (out.gear_kind == GearKind::kDims && out.input_format.value_or(kNd) != kNd)
    refuse("E10001", "--input_format={}: with --dynamic_dims it is ND", value_of(flags, "input_format"));
  out.output_types = read_output_types(value_of(flags, "output_type"));
  out.half_inputs = read_names(value_of(flags, "input_fp16_nodes"));
  out.out_nodes = read_names(value_of(flags, "out_nodes"));
  out.signature = value_of(flags, "signature_def");
  read_precision(flags, out);
  read_fusions(flags, out);
  if (const std::string soc = value_of(flags, "soc_version"); !soc.empty()) out.facts["soc"] = soc;
  if (const std::string line = value_of(flags, "command_line"); !line.empty()) out.facts["command"] = line;
  return out;
}

}  // namespace npu::graph::convert
