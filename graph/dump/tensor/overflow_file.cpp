// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/overflow_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/json.h"
#include "graph/dump/record/data_type.h"
#include "graph/dump/record/dump_data.h"
#include "graph/dump/record/dump_name.h"
#include "graph/dump/record/format.h"
#include "graph/dump/record/overflow_record.h"

namespace npu::graph {
namespace {

/// A result of float16 that was computed from something wider.
bool converted(const ops::Execution& execution, const std::vector<OverflowedResult>& results) {
  const bool half =
      std::any_of(results.begin(), results.end(), [](const auto& result) { return result.dtype == DType::kHalf; });
  return half && std::any_of(execution.inputs.begin(), execution.inputs.end(), [](const ops::Seen& input) {
           return input.tensor.dtype == DType::kFloat || input.tensor.dtype == DType::kInt32;
         });
}

uint64_t status_of(const ops::Execution& execution, const std::vector<OverflowedResult>& results, bool atomic) {
  if (!atomic) return record::kFloatOverflow | (converted(execution, results) ? record::kHalfOverflow : 0);
  const bool infinite =
      std::any_of(results.begin(), results.end(), [](const auto& result) { return result.infinities > 0; });
  return infinite ? record::kSumOverflow : record::kSumNan;
}

OrderedJson words_of(const OverflowedResult& result) {
  OrderedJson json{{"output", nullptr}, {"name", result.name}};
  if (result.output) json["output"] = *result.output;
  json["dtype"] = name_of(result.dtype);
  json["shape"] = std::vector<int64_t>(result.shape.begin(), result.shape.end());
  json["infinities"] = result.infinities, json["nans"] = result.nans, json["saturated"] = result.saturated;
  json["finite_min"] = result.least, json["finite_max"] = result.most;
  return json;
}

/// The vendor's tools read these three; of the two that nothing happened in the status is 0.
void add_units(OrderedJson& json, const record::OverflowRecord& record) {
  for (const char* unit : {"DHA Atomic Add", "L2 Atomic Add", "AI Core"}) {
    const bool here = std::string_view(unit) == (record.unit == record::Unit::kSdma ? "DHA Atomic Add" : "AI Core");
    json[unit] = {{"model_id", here ? record.model : 0},
                  {"stream_id", here ? record.stream : 0},
                  {"task_id", here ? record.task : 0},
                  {"task_type", 0},
                  {"pc_start", "0x0"},
                  {"para_base", "0x0"},
                  {"status", here ? record.status : 0}};
  }
}

OrderedJson words_of(const ops::Execution& execution, const std::vector<OverflowedResult>& results) {
  OrderedJson json{
      {"op_name", execution.name.node}, {"op_type", execution.name.type}, {"function", execution.name.function},
      {"origins", execution.origins},   {"graph", execution.graph},       {"step", execution.step},
      {"device", execution.device},     {"stream", execution.stream},     {"task", execution.number}};
  json["results"] = OrderedJson::array();
  for (const OverflowedResult& result : results) json["results"].push_back(words_of(result));
  return json;
}

FileContent record_file(const record::OverflowRecord& record, const std::string& folder, uint64_t now) {
  const auto payload = record::encode_overflow(record);
  record::DumpTensor output;
  output.data_type = record::data_type_of(DType::kUInt8), output.format = record::kNd;
  output.shape = output.original_shape = {payload.size()};
  output.size = payload.size();
  record::DumpData data;
  data.dump_time = now, data.op_name = "Node_OpDebug", data.outputs = {output};
  FileContent file;
  file.folder = folder;
  file.name = record::make_name({"Opdebug", "Node_OpDebug", record.task, record.stream, now, {}});
  file.head = record::encode_header(data);
  file.blobs.emplace_back(payload.size());
  std::memcpy(file.blobs[0].bytes.get(), payload.data(), payload.size());
  return file;
}

}  // namespace

OverflowFiles overflow_files(const ops::Execution& execution, const std::vector<OverflowedResult>& results,
                             const DumpFolders::Place& place, uint64_t now, bool atomic) {
  const record::OverflowRecord record{atomic ? record::Unit::kSdma : record::Unit::kAiCore, place.graph,
                                      static_cast<uint64_t>(execution.stream), execution.number,
                                      status_of(execution, results, atomic)};
  OrderedJson json = words_of(execution, results);
  add_units(json, record);
  OverflowFiles files;
  files.record = record_file(record, place.folder, now);
  files.words.folder = place.folder;
  // Tools take each name of the form TYPE.NAME.TASK.STREAM.TIME, with anything behind it, for a dump file.
  files.words.name = fmt::format("overflow_{}_{}_{}.json", record.task, record.stream, now);
  files.words.head = json.dump(2, InvalidUtf8::kReplace) + "\n";
  return files;
}

}  // namespace npu::graph
