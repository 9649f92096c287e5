// SPDX-License-Identifier: Apache-2.0
// libascend_dump_parser.so: the header of a dump file as JSON, for the published msaccucmp, which reads the elements
// itself.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <fstream>

#include "base/json.h"
#include "graph/dump/record/dump_file.h"

namespace {

namespace record = npu::graph::record;
using npu::InvalidUtf8;
using npu::Json;

Json shape_of(const record::Shape& shape) { return {{"dim", shape}}; }

Json tensor_of(const record::DumpTensor& tensor) {
  return {{"data_type", tensor.data_type},
          {"format", tensor.format},
          {"sub_format", tensor.sub_format},
          {"size", tensor.size},
          {"address", tensor.address},
          {"shape", shape_of(tensor.shape)},
          {"original_shape", shape_of(tensor.original_shape)}};
}

Json output_of(const record::DumpTensor& tensor) {
  const record::OriginalOp& op = tensor.original_op;
  Json found = tensor_of(tensor);
  found["original_op"] = {
      {"name", op.name}, {"output_index", op.output_index}, {"data_type", op.data_type}, {"format", op.format}};
  return found;
}

template <class Member, class Of>
Json list_of(const std::vector<Member>& members, Of&& of) {
  Json found = Json::array();
  for (const Member& member : members) found.push_back(of(member));
  return found;
}

Json json_of(const record::DumpData& data) {
  const auto bytes = [](std::string_view kind) {
    return [=](const record::DumpBytes& b) { return Json{{kind, b.type}, {"size", b.size}}; };
  };
  return {{"version", data.version},
          {"dump_time", data.dump_time},
          {"op_name", data.op_name},
          {"input", list_of(data.inputs, tensor_of)},
          {"output", list_of(data.outputs, output_of)},
          {"buffer", list_of(data.buffers, bytes("buffer_type"))},
          {"space", list_of(data.workspaces, bytes("type"))},
          {"attr",
           list_of(data.attrs, [](const record::DumpAttr& a) { return Json{{"name", a.name}, {"value", a.value}}; })}};
}

void write(std::string_view file, const char* path) {
  const auto bytes = std::as_bytes(std::span(file));
  const std::string text = json_of(record::parse_dump(bytes, "the dump file").data).dump(-1, InvalidUtf8::kReplace);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) throw std::runtime_error(fmt::format("{} cannot be written", path));
}

}  // namespace

/// Writes the header of the `size` bytes at `data`, a whole dump file, to `json_path`. 0, or -1 with a line on stderr.
extern "C" __attribute__((visibility("default"))) int ParseDumpProtoToJson(const char* data, size_t size,
                                                                           const char* json_path) {
  try {
    if (data == nullptr || json_path == nullptr) throw std::invalid_argument("ParseDumpProtoToJson: null argument");
    write({data, size}, json_path);
    return 0;
  } catch (const std::exception& reason) {
    fmt::print(stderr, "{}\n", reason.what());
    return -1;
  }
}
