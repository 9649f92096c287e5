// SPDX-License-Identifier: Apache-2.0
// What a dump file says about one executed operator: the header in front of the elements. A file is the header's length
// (8 bytes, little-endian), the header (protobuf), then the elements of all inputs, outputs, buffers and workspaces,
// one after another, each as long as its `size`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace npu::graph::record {

using Shape = std::vector<uint64_t>;

/// The operator of the client's graph that made an output.
struct OriginalOp {
  std::string name;
  uint32_t output_index = 0;
  int32_t data_type = 0;
  int32_t format = 0;
  bool operator==(const OriginalOp&) const = default;
};

struct DumpTensor {
  int32_t data_type = 0;   ///< data_type.h
  int32_t format = 0;      ///< format.h
  int32_t sub_format = 0;  ///< groups of a FRACTAL_Z
  Shape shape;
  Shape original_shape;    ///< before it was brought into `format`
  OriginalOp original_op;  ///< of outputs only
  uint64_t size = 0;       ///< bytes
  uint64_t address = 0;    ///< on the device
  bool operator==(const DumpTensor&) const = default;
};

/// An on-chip buffer (type 0: L1) or a workspace (type 0: log).
struct DumpBytes {
  int32_t type = 0;
  uint64_t size = 0;
  bool operator==(const DumpBytes&) const = default;
};

struct DumpAttr {
  std::string name;
  std::string value;
  bool operator==(const DumpAttr&) const = default;
};

struct DumpData {
  std::string version = "2.0";
  uint64_t dump_time = 0;
  std::string op_name;
  std::vector<DumpTensor> inputs;
  std::vector<DumpTensor> outputs;
  std::vector<DumpBytes> buffers;
  std::vector<DumpBytes> workspaces;
  std::vector<DumpAttr> attrs;
  bool operator==(const DumpData&) const = default;
};

/// The length and the header; the elements follow in the file.
std::string encode_header(const DumpData& data);
/// The header without its length. Raises 100006 for bytes that are none; unknown fields are passed over.
DumpData decode_header(std::string_view bytes);

}  // namespace npu::graph::record
