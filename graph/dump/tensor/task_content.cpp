// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/tensor/task_content.h"

#include <atomic>
#include <chrono>
#include <cstring>

#include "graph/dump/record/data_type.h"
#include "graph/dump/record/dump_name.h"
#include "graph/dump/record/format.h"
#include "graph/dump/record/mapping.h"
#include "graph/dump/tensor/statistics.h"
#include "ops/runner/call.h"

namespace npu::graph {
namespace {

record::DumpTensor described(const Tensor& tensor) {
  record::DumpTensor out;
  out.data_type = record::data_type_of(tensor.dtype);
  out.format = record::kNd;
  out.shape.assign(tensor.shape.begin(), tensor.shape.end());
  out.original_shape = out.shape;
  out.size = static_cast<uint64_t>(bytes_of(tensor));
  out.address = reinterpret_cast<uint64_t>(tensor.bytes());
  return out;
}

/// "2x3x4".
std::string shape_text(const Dims& shape) { return fmt::format("{}", fmt::join(shape, "x")); }

std::string statistics_line(const char* side, size_t index, const Tensor& tensor) {
  const record::DataType& type = record::data_type(record::data_type_of(tensor.dtype));
  const std::string what = fmt::format("{},{},{},{},ND,{},{}", side, index, bytes_of(tensor), type.name,
                                       shape_text(tensor.shape), tensor.count());
  if (!has_statistics(tensor.dtype)) return what + ",N/A,N/A,N/A,N/A,N/A,N/A,N/A\n";
  const Statistics s = statistics_of(tensor);
  return fmt::format("{},{},{},{},{},{},{},{}\n", what, s.most, s.least, s.mean, s.l2norm, s.nans,
                     s.negative_infinities, s.positive_infinities);
}

constexpr std::string_view kStatisticsHead =
    "Input/Output,Index,Data Size,Data Type,Format,Shape,Count,Max Value,Min Value,Avg Value,l2norm,Nan Count,"
    "Negative Inf Count,Positive Inf Count\n";

}  // namespace

Blob bytes_copied(const Tensor& tensor) {
  Blob blob(static_cast<size_t>(bytes_of(tensor)));
  if (blob.size == 0) return blob;
  if (tensor.contiguous()) {
    std::memcpy(blob.bytes.get(), tensor.bytes(), blob.size);
    return blob;
  }
  const Tensor copy = make_tensor(blob.bytes.get(), tensor.dtype, tensor.shape);
  ops::Call("copy").set("self", ops::Operand{tensor, {}}).set("out", copy).run();
  return blob;
}

uint64_t unique_now() {
  static std::atomic<uint64_t> last{0};
  const auto now = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
  uint64_t before = last.load();
  uint64_t next = std::max(now, before + 1);
  while (!last.compare_exchange_weak(before, next)) next = std::max(now, before + 1);
  return next;
}

std::string type_of(const ops::Execution& execution) {
  const std::string& type = execution.name.type;
  return execution.graph.empty() && type.starts_with("aclnn") ? type.substr(5) : type;
}

std::string name_of_file(const ops::Execution& execution, uint64_t now) {
  return record::make_name(
      {type_of(execution), execution.name.node, execution.number, static_cast<uint64_t>(execution.stream), now, {}});
}

void TaskContent::keep_outputs(const ops::Execution& execution) {
  keep("Output", execution.outputs, data_.outputs);
  if (execution.origins.size() > 1) return;  // which output of which node each is, the graph's text tells
  for (size_t i = 0; i < data_.outputs.size(); ++i)
    data_.outputs[i].original_op = {execution.name.node, static_cast<uint32_t>(i), data_.outputs[i].data_type,
                                    data_.outputs[i].format};
}

bool TaskContent::kept(const std::vector<ops::Seen>& inputs, bool (*holds)(const Tensor&)) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& now = inputs[i].tensor;
    if (!holds(make_tensor(blobs_[i].bytes.get(), now.dtype, now.shape))) return false;
  }
  return true;
}

void TaskContent::keep(const char* side, const std::vector<ops::Seen>& all, std::vector<record::DumpTensor>& to) {
  for (size_t i = 0; i < all.size(); ++i) {
    const Tensor& tensor = all[i].tensor;
    if (statistics_) {
      lines_ += statistics_line(side, i, tensor);
      continue;
    }
    to.push_back(described(tensor));
    blobs_.push_back(bytes_copied(tensor));
  }
}

FileContent TaskContent::file(const ops::Execution& execution, std::string folder, uint64_t now) {
  FileContent content;
  content.folder = std::move(folder);
  record::StoredName stored = record::stored_name(name_of_file(execution, now) + (statistics_ ? ".csv" : ""));
  content.name = std::move(stored.file), content.listed = std::move(stored.line);
  if (statistics_) {
    content.head = std::string(kStatisticsHead) + lines_;
  } else {
    data_.dump_time = now, data_.op_name = execution.name.node;
    content.head = record::encode_header(data_);
    content.blobs = std::move(blobs_);
  }
  return content;
}

}  // namespace npu::graph
