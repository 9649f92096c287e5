// SPDX-License-Identifier: Apache-2.0
#include "acl/profiling/task_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <mutex>
#include <string>
#include <string_view>

#include "acl/profiling/call_type.h"
#include "device/trace/recorder.h"

namespace npu::acl {
namespace {

namespace trace = device::trace;
using trace::Unit;

/// What the chip computes in its cube unit, or there and in its vector unit: by the operator's family, or, of a graph's
/// node, which tells none, by what the name of its type contains.
constexpr std::array<std::string_view, 2> kCubeFamilies{"matmul", "conv"};
constexpr std::array<std::string_view, 6> kCubeTypes{"MatMul", "Product",       "Conv2D",
                                                     "Conv3D", "DepthwiseConv", "Convolution"};
constexpr std::array<std::string_view, 3> kMixedTypes{"Attention", "RNN", "GRU"};

Unit unit_of(const ops::Execution& execution) {
  const std::string_view type = execution.name.type;
  const auto in_type = [&](std::string_view part) { return type.find(part) != std::string_view::npos; };
  if (ops::is_collective(execution)) return Unit::kCollective;
  if (std::ranges::any_of(kMixedTypes, in_type)) return Unit::kMixed;
  const bool cube = execution.op != nullptr ? std::ranges::count(kCubeFamilies, execution.op->def->family) != 0
                                            : std::ranges::any_of(kCubeTypes, in_type);
  return cube ? Unit::kCube : Unit::kVector;
}

/// "aclnnInplaceAdd" is the operator Add.
std::string_view without_prefix(std::string_view name) {
  for (const std::string_view prefix : {"aclnn", "Inplace"})
    if (name.size() > prefix.size() && name.starts_with(prefix) &&
        std::isupper(static_cast<unsigned char>(name[prefix.size()])))
      name.remove_prefix(prefix.size());
  return name;
}

/// What the vendor's tables, and those who read them, call the products and convolutions of aclnn functions, where a
/// tensor has more dimensions than `rank` and where it has not.
struct Product {
  std::string_view op;
  size_t rank;
  std::string_view above, below;
};
constexpr std::array kProducts{Product{"addmm", 9, "", "MatMulV2"},
                               Product{"mm", 9, "", "MatMulV2"},
                               Product{"mv", 9, "", "MatMulV2"},
                               Product{"addmv", 9, "", "MatMulV2"},
                               Product{"matmul", 2, "BatchMatMulV2", "MatMulV2"},
                               Product{"batch_matmul", 9, "", "BatchMatMulV2"},
                               Product{"baddbmm", 9, "", "BatchMatMulV2"},
                               Product{"convolution", 4, "Conv3D", "Conv2D"},
                               Product{"depthwise_convolution", 9, "", "DepthwiseConv2D"}};

/// What the vendor's tables call a node that a pass has made of several; what they know nothing like keeps its own
/// name.
std::string_view type_of_fused(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kKnown{
      {{"_FusedProduct", "MatMulV2"},
       {"_FusedKeptProducts", "MatMulV2"},
       {"_FusedItemProduct", "BatchMatMulV2"},
       {"_FusedAttention", "FlashAttentionScore"},
       {"_FusedAttentionGrad", "FlashAttentionScoreGrad"},
       {"_FusedLayerNorm", "LayerNorm"},
       {"_FusedLayerNormGrad", "LayerNormGrad"}}};
  for (const auto& [ours, vendors] : kKnown)
    if (ours == type) return vendors;
  return type.substr(1);
}

/// The vendor has one operator for another type of elements, and one for the same.
std::string_view type_of_copy(const ops::Execution& execution) {
  const bool casts = !execution.inputs.empty() && !execution.outputs.empty() &&
                     execution.inputs.back().tensor.dtype != execution.outputs.front().tensor.dtype;
  return casts ? "Cast" : "ViewCopy";
}

std::string_view type_of(const ops::Execution& execution) {
  if (execution.name.type.starts_with('_')) return type_of_fused(execution.name.type);
  const std::string_view own = without_prefix(execution.name.type);
  if (execution.op == nullptr || own.size() == execution.name.type.size()) return own;
  const auto* const product = std::ranges::find(kProducts, execution.op->def->name, &Product::op);
  if (product == kProducts.end()) return own == "Copy" ? type_of_copy(execution) : type_of_call(own);
  const bool above =
      std::ranges::any_of(execution.inputs, [&](const ops::Seen& one) { return one.tensor.rank() > product->rank; });
  return above ? product->above : product->below;
}

uint64_t bytes_of(const std::vector<ops::Seen>& all) {
  uint64_t bytes = 0;
  for (const ops::Seen& one : all) bytes += static_cast<uint64_t>(one.tensor.count()) * size_of(one.tensor.dtype);
  return bytes;
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

/// "2,3;4|FLOAT;INT64|ND;ND", the columns of the tables.
std::string shapes_of(const std::vector<ops::Seen>& all) {
  std::string shapes, types, formats;
  for (const ops::Seen& one : all) {
    if (&one != all.data()) shapes += ';', types += ';', formats += ';';
    shapes += fmt::format("{}", fmt::join(one.tensor.shape, ","));
    const std::string_view type = name_of(one.tensor.dtype);
    types += type == "bfloat16" ? "DT_BF16" : type == "float32" ? "FLOAT" : upper(type);
    formats += "ND";
  }
  return shapes + '|' + types + '|' + formats;
}

class Recorded final : public ops::Watch {
 public:
  Recorded(bool shapes, const ops::Execution& execution) : shapes_(shapes), start_(trace::now()) {
    trace::TaskScope* const task =
        execution.graph.empty() || execution.stream != 0 ? trace::TaskScope::current() : nullptr;
    if (task == nullptr) return;
    launch_ = task->launch();
    task->told();
  }
  void finished(const ops::Execution& execution) override { write(execution, trace::now()); }
  void failed(const ops::Execution& execution, const Error&) override { write(execution, trace::now()); }

 private:
  void write(const ops::Execution& execution, int64_t end) const {
    if (!trace::on()) return;
    trace::TaskRecord record;
    record.start = start_, record.end = end;
    record.launched = launch_.time, record.launcher = launch_.thread;
    record.number = execution.number, record.stream = execution.stream, record.device = execution.device;
    record.unit = unit_of(execution);
    const std::string_view type = type_of(execution);
    record.type = trace::number_of(type);
    // As the vendor's tables name what an aclnn function runs.
    const bool is_call = execution.name.node == execution.name.type && type != execution.name.type;
    record.name = trace::number_of(is_call ? fmt::format("{}_{}", execution.name.node, type) : execution.name.node);
    const bool meets = record.unit == Unit::kCollective;
    record.bytes = bytes_of(execution.inputs) + (meets ? 0 : bytes_of(execution.outputs));
    record.graph = trace::number_of(meets ? execution.meeting.group : execution.graph);
    record.step = meets ? execution.meeting.number : static_cast<uint32_t>(execution.step);
    record.waited = execution.meeting.waited_ns;
    record.call = launch_.call;
    if (shapes_ || meets) record.inputs = trace::number_of(shapes_of(execution.inputs));
    if (shapes_) record.outputs = trace::number_of(shapes_of(execution.outputs));
    trace::add(record);
  }

  const bool shapes_;
  const int64_t start_;
  trace::Launch launch_;
};

class Recorder final : public ops::Observer {
 public:
  std::unique_ptr<ops::Watch> start(const ops::Execution& execution) override {
    return std::make_unique<Recorded>(shapes, execution);
  }
  std::atomic<bool> shapes{false};
};

struct Leases {
  std::mutex mutex;
  int all = 0, with_shapes = 0;
  std::shared_ptr<Recorder> recorder = std::make_shared<Recorder>();
};
// Never destroyed: tasks may run until the process is gone.
Leases& leases() {
  static Leases& instance = *new Leases;
  return instance;
}

/// Those who come and go are counted; the observer is there while one is.
void count(int change, bool shapes) {
  Leases& all = leases();
  const std::lock_guard lock(all.mutex);
  const bool was = all.all > 0;
  all.all += change;
  if (shapes) all.with_shapes += change;
  all.recorder->shapes = all.with_shapes > 0;
  if (!was) ops::add_observer(all.recorder);
  if (all.all == 0) ops::remove_observer(*all.recorder);
}

}  // namespace

TaskLease::TaskLease(bool shapes) : shapes_(shapes) { count(1, shapes_); }
TaskLease::~TaskLease() { count(-1, shapes_); }

}  // namespace npu::acl
