// SPDX-License-Identifier: Apache-2.0
// Names of dump files: `{type}.{name}.{task}.{stream}.{microseconds}`. Older writers leave out the stream; tasks cut
// into slices add `.{task type}.{context}.{thread}.{device}`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace npu::graph::record {

/// Which part of an operator a task was, where it was cut.
struct Slice {
  uint64_t task_type = 0, context = 0, thread = 0, device = 0;
  bool operator==(const Slice&) const = default;
};

struct DumpName {
  std::string op_type;
  std::string op_name;
  uint64_t task = 0;
  std::optional<uint64_t> stream;
  uint64_t timestamp = 0;
  std::optional<Slice> slice;
  bool operator==(const DumpName&) const = default;
};

/// `text` with `_` in place of `/`, `\`, `.` and blanks: how operators, types and models stand in paths.
std::string path_word(std::string_view text);
/// The file's name; longer ones than a file system takes need stored_name.
std::string make_name(const DumpName& name);
/// Nothing for a name of another kind.
std::optional<DumpName> parse_name(std::string_view file);
/// `op_name` without the marks of its slices (`_lxslice0`, `_sgt_graph_1` in front of which a graph's name stands).
std::string without_slice(std::string_view op_name);

}  // namespace npu::graph::record
