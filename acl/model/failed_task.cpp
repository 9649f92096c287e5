// SPDX-License-Identifier: Apache-2.0
#include "acl/model/failed_task.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "acl/call.h"
#include "acl/include/acl/acl_mdl.h"
#include "acl/singleop/description.h"
#include "device/queue/stream.h"

namespace npu::acl {
namespace {

struct FailedTask {
  uint32_t device, stream, task;
  std::string node;
  std::vector<graph::Output> inputs, outputs;
};

constexpr size_t kMost = 256;
constexpr int64_t kUnknownRank = -2;

struct FailedTasks {
  std::mutex mutex;
  std::deque<FailedTask> all;  ///< the last one first
};

FailedTasks& failed_tasks() {
  static FailedTasks& tasks = *new FailedTasks;
  return tasks;
}

const graph::Node* find_node(const graph::Function& model, const std::string& client_name) {
  const auto at = std::ranges::find(model.nodes, client_name, &graph::Node::client_name);
  return at == model.nodes.end() ? nullptr : &*at;
}

FailedTask find_task(uint32_t device, uint32_t stream, uint32_t task) {
  FailedTasks& tasks = failed_tasks();
  const std::lock_guard lock(tasks.mutex);
  for (const FailedTask& one : tasks.all)
    if (one.device == device && one.stream == stream && one.task == task) return one;
  fail(Code::kInvalidParam,
       "task {} of stream {} of device {} is no model whose operator failed; the callback of "
       "aclrtSetExceptionInfoCallback "
       "tells the numbers",
       task, stream, device);
}

aclTensorDesc desc_of(const graph::Output& value) {
  aclTensorDesc out;
  out.dtype = value.type.dtype;
  if (value.shape.dims)
    out.dims.assign(value.shape.dims->begin(), value.shape.dims->end());
  else
    out.dims = {kUnknownRank};
  return out;
}

/// The first of them, which knows the others; null for none.
aclTensorDesc* describe(const std::vector<graph::Output>& values) {
  aclTensorDesc* first = nullptr;
  for (const graph::Output& value : values) {
    aclTensorDesc* one = DescriptionPool<aclTensorDesc>::create(desc_of(value));
    if (first == nullptr)
      first = one;
    else
      first->others.push_back(one);
  }
  return first;
}

}  // namespace

void note_failure(const graph::Function& model, const graph::NodeError& error) {
  const device::Stream* stream = device::Stream::running();
  if (stream == nullptr) return;
  FailedTask failed{static_cast<uint32_t>(stream->device()),
                    static_cast<uint32_t>(stream->id()),
                    static_cast<uint32_t>(stream->running_number()),
                    error.node(),
                    {},
                    {}};
  if (const graph::Node* node = find_node(model, error.node())) {
    for (const graph::Edge& edge : node->inputs) failed.inputs.push_back(model.output(edge));
    failed.outputs = node->outputs;
  }
  FailedTasks& tasks = failed_tasks();
  const std::lock_guard lock(tasks.mutex);
  tasks.all.push_front(std::move(failed));
  if (tasks.all.size() > kMost) tasks.all.pop_back();
}

}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclmdlCreateAndGetOpDesc(uint32_t deviceId, uint32_t streamId, uint32_t taskId, char* opName, size_t opNameLen,
                                  aclTensorDesc** inputDesc, size_t* numInputs, aclTensorDesc** outputDesc,
                                  size_t* numOutputs) {
  return call("aclmdlCreateAndGetOpDesc", [&] {
    given(opName, "opName");
    given(inputDesc, "inputDesc");
    given(numInputs, "numInputs");
    given(outputDesc, "outputDesc");
    given(numOutputs, "numOutputs");
    const FailedTask task = find_task(deviceId, streamId, taskId);
    if (opNameLen <= task.node.size())
      fail(Code::kInvalidParam, "opNameLen is {}; the operator's name {} has {} characters", opNameLen, task.node,
           task.node.size());
    std::memcpy(opName, task.node.c_str(), task.node.size() + 1);
    *numInputs = task.inputs.size();
    *numOutputs = task.outputs.size();
    *inputDesc = describe(task.inputs);
    *outputDesc = describe(task.outputs);
  });
}

aclTensorDesc* aclGetTensorDescByIndex(aclTensorDesc* desc, size_t index) {
  return call_or<aclTensorDesc*>("aclGetTensorDescByIndex", nullptr, [&]() -> aclTensorDesc* {
    aclTensorDesc& first = described(desc, "desc");
    if (index == 0) return &first;
    if (index > first.others.size())
      fail(Code::kInvalidParam, "index is {}; there are {} descriptions", index, first.others.size() + 1);
    return first.others[index - 1];
  });
}
