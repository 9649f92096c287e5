// SPDX-License-Identifier: Apache-2.0
#include "graph/dump/check/task.h"

#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "graph/dump/check/strided.h"
#include "ops/runner/observer.h"
#include "ops/vector/chain/chain.h"

namespace npu::graph {
namespace {

Blob bytes_now(const Tensor& tensor) {
  Blob blob(static_cast<size_t>(bytes_of(tensor)));
  gather(tensor, blob.bytes.get());
  return blob;
}

/// JSON has no word for what is not finite.
Json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json number(const Scalar& scalar) {
  if (!scalar.defined()) return nullptr;
  Json out{{"dtype", name_of(scalar.dtype())}};
  if (scalar.dtype() == DType::kBool)
    out["number"] = scalar.to_bool();
  else if (scalar.is_integral())
    out["number"] = scalar.to_int();
  else
    out["number"] = number(scalar.to_double());
  if (is_complex(scalar.dtype())) out["imaginary"] = number(scalar.to_complex().imag());
  return out;
}

Json shape_of(const Dims& dims) { return std::vector<int64_t>(dims.begin(), dims.end()); }

Json form_of(const Tensor& tensor) {
  return {{"dtype", name_of(tensor.dtype)},
          {"shape", shape_of(tensor.shape)},
          {"strides", shape_of(tensor.strides)},
          {"at", reinterpret_cast<uintptr_t>(tensor.bytes())}};
}

Json step_of(const ops::ChainStep& step) {
  Json out{
      {"op", step.op}, {"result", name_of(step.result)}, {"operands", Json::object()}, {"numbers", Json::object()}};
  for (const auto& [field, reg] : step.operands) out["operands"][field] = reg;
  for (const auto& [field, value] : step.numbers) out["numbers"][field] = number(value);
  return out;
}

Json program_of(const ops::ChainProgram& program) {
  Json groups = Json::array();
  for (const ops::ChainGroup& group : program.source()) {
    Json one{{"inputs", Json::array()}, {"steps", Json::array()}, {"outputs", group.outputs}};
    for (const DType dtype : group.inputs) one["inputs"].push_back(name_of(dtype));
    for (const ops::ChainStep& step : group.steps) one["steps"].push_back(step_of(step));
    groups.push_back(std::move(one));
  }
  return groups;
}

/// A field's value; `tensor` says how tensors are written down.
template <class AddTensor>
class FieldText {
 public:
  explicit FieldText(AddTensor tensor) : tensor_(std::move(tensor)) {}

  Json operator()(Tensor* value) const { return tensor_(*value); }
  Json operator()(ops::Operand* value) const {
    return value->is_scalar() ? number(value->scalar) : tensor_(value->tensor);
  }
  Json operator()(Scalar* value) const { return number(*value); }
  Json operator()(double* value) const { return number(*value); }
  Json operator()(DType* value) const { return name_of(*value); }
  Json operator()(std::shared_ptr<const ops::ChainProgram>* value) const {
    return *value ? program_of(**value) : Json(nullptr);
  }
  template <class T>
  Json operator()(T* value) const
    requires(std::is_same_v<T, int64_t> || std::is_same_v<T, bool> || std::is_same_v<T, std::string>)
  {
    return *value;
  }
  template <class T>
  Json operator()(std::vector<T>* all) const {
    Json out = Json::array();
    for (auto&& one : *all) {
      if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, int64_t>)
        out.push_back(static_cast<T>(one));
      else if constexpr (std::is_same_v<T, float>)
        out.push_back(number(static_cast<double>(one)));
      else
        out.push_back((*this)(&one));
    }
    return out;
  }

 private:
  AddTensor tensor_;
};

template <class AddTensor>
Json call_of(ops::Operator& op, AddTensor&& tensor) {
  Json call{{"op", op.def->name}, {"fields", Json::object()}, {"results", Json::array()}};
  for (const ops::Field& field : op.def->fields) {
    const FieldText text([&](const Tensor& one) { return tensor(one, field); });
    call["fields"][std::string(field.name)] = std::visit([&](auto* member) { return text(member); }, field.locate(op));
    if (field.is_result()) call["results"].push_back(field.name);
  }
  return call;
}

template <class Visit>
void each_call(ops::Operator& op, Visit&& visit) {
  if (const auto* members = op.members())
    for (const auto& member : *members) visit(*member);
  else
    visit(op);
}

/// One task: what it reads is kept before it runs, what it writes afterwards.
class KeptTask final : public ops::Watch {
 public:
  using Visit = std::function<void(const Task&)>;
  KeptTask(const ops::Execution& execution, const Visit& visit, bool skipped) : visit_(visit) {
    text_ = {{"type", execution.name.type},
             {"node", execution.name.node},
             {"graph", execution.graph},
             {"step", execution.step},
             {"origins", execution.origins},
             {"device", execution.device},
             {"calls", Json::array()},
             {"tensors", Json::array()},
             {"skipped", skipped},
             {"within", execution.within != nullptr},
             {"operator", execution.op != nullptr}};
    if (execution.within != nullptr) text_["graph"] = execution.within->graph, text_["step"] = execution.within->step;
    if (skipped) return;
    if (execution.op != nullptr) each_call(*execution.op, [&](ops::Operator& op) { keep_call(op); });
    if (execution.parts) keep_parts(execution);
    if (assigns(execution)) value_ = add_tensor(execution.inputs.back().tensor, true);
  }

  void finished(const ops::Execution& execution) override {
    if (assigns(execution) && execution.outputs.size() == 1)
      text_["assigned"] = {value_, add_tensor(execution.outputs.front().tensor, true)};
    for (const auto& [index, written] : results_) {
      Tensor now = written.tensor;
      // Shapes that the data decide are known now.
      for (const ops::Seen& seen : execution.outputs)
        if (seen.field == written.field && seen.tensor.bytes() == now.bytes()) now = seen.tensor;
      keep_after(index, now);
    }
    if (parts_.results.size() == execution.outputs.size())  // memory that is given late is known only now
      for (size_t i = 0; i < parts_.results.size(); ++i) keep_after(first_result_ + i, execution.outputs[i].tensor);
    else if (text_.erase("parts") != 0)
      text_["no_parts"] = "it has a result that is no tensor";
    task_.text = text_.dump(-1, InvalidUtf8::kReplace);
    visit_(task_);
  }

 private:
  /// A node that brings its last input into a variable runs no operator.
  static bool assigns(const ops::Execution& execution) {
    return execution.name.type == "AssignVariableOp" && execution.op == nullptr && !execution.inputs.empty();
  }

  size_t add_blob(const Tensor& tensor) {
    task_.blobs.push_back(bytes_now(tensor));
    return task_.blobs.size() - 1;
  }

  size_t add_tensor(const Tensor& tensor, bool reads) {
    Json one = form_of(tensor);
    one["before"] = reads ? Json(add_blob(tensor)) : Json(nullptr);
    one["after"] = nullptr;
    text_["tensors"].push_back(std::move(one));
    return text_["tensors"].size() - 1;
  }

  void keep_after(size_t index, const Tensor& tensor) {
    Json& one = text_["tensors"][index];
    one["shape"] = shape_of(tensor.shape), one["strides"] = shape_of(tensor.strides);
    one["after"] = add_blob(tensor);
  }

  void keep_call(ops::Operator& op) {
    text_["calls"].push_back(call_of(op, [&](const Tensor& tensor, const ops::Field& field) -> Json {
      if (!tensor.defined() || (tensor.data == nullptr && tensor.count() > 0) || size_of(tensor.dtype) == 0)
        return nullptr;
      const bool reads = field.role != ops::FieldRole::kOut && field.role != ops::FieldRole::kOptionalOut;
      const size_t index = add_tensor(tensor, reads);
      if (field.is_result()) results_.emplace_back(index, ops::Seen{field.name, tensor});
      return {{"tensor", index}};
    }));
  }

  static Json place_of(const Tensor& tensor) {
    Json one = form_of(tensor);
    one["place"] = reinterpret_cast<uintptr_t>(tensor.data);
    one["offset"] = tensor.offset;
    return one;
  }

  void keep_parts(const ops::Execution& execution) {
    try {
      parts_ = execution.parts();
    } catch (const Error& reason) {
      text_["no_parts"] = reason.message();
      return;
    }
    Json calls = Json::array(), given = Json::array(), results = Json::array();
    for (const auto& op : parts_.operators)
      calls.push_back(call_of(*op, [](const Tensor& tensor, const ops::Field&) -> Json {
        return tensor.defined() ? place_of(tensor) : Json(nullptr);
      }));
    for (const auto& [place, memory] : parts_.given)
      given.push_back({{"place", place_of(place)}, {"tensor", add_tensor(memory, true)}});
    first_result_ = text_["tensors"].size();
    for (const auto& [place, memory] : parts_.results)
      results.push_back({{"place", place_of(place)}, {"tensor", add_tensor(memory, false)}});
    text_["parts"] = {{"calls", calls}, {"given", given}, {"results", results}};
  }

  const Visit visit_;
  Json text_;
  Task task_;
  std::vector<std::pair<size_t, ops::Seen>> results_;
  ops::Parts parts_;
  size_t first_result_ = 0, value_ = 0;
};

class TaskWatch final : public ops::Observer {
 public:
  TaskWatch(std::function<void(const Task&)> visit, int64_t every) : visit_(std::move(visit)), every_(every) {}

  bool looks_inside() const override { return true; }
  std::unique_ptr<ops::Watch> start(const ops::Execution& execution) override {
    return std::make_unique<KeptTask>(execution, visit_, skips(execution));
  }

 private:
  /// What is inside of a node is shown or skipped with it.
  bool skips(const ops::Execution& execution) {
    if (every_ <= 1) return false;
    const std::lock_guard lock(mutex_);
    if (execution.within != nullptr) return skipped_[execution.within];
    const bool skipped = seen_[execution.name.type]++ % every_ != 0;
    if (execution.op == nullptr) skipped_[&execution] = skipped;
    return skipped;
  }

  const std::function<void(const Task&)> visit_;
  const int64_t every_;
  std::mutex mutex_;
  std::map<std::string, int64_t> seen_;
  std::map<const ops::Execution*, bool> skipped_;  ///< by the node that runs now; addresses are used again
};

}  // namespace

void watch_tasks(std::function<void(const Task&)> visit, int64_t every) {
  // Never destroyed: streams run tasks until the process is gone.
  static std::mutex& mutex = *new std::mutex;
  static std::shared_ptr<TaskWatch>& current = *new std::shared_ptr<TaskWatch>;
  const std::lock_guard lock(mutex);
  if (current) ops::remove_observer(*current);
  current = visit ? std::make_shared<TaskWatch>(std::move(visit), every) : nullptr;
  if (current) ops::add_observer(current);
}

}  // namespace npu::graph
