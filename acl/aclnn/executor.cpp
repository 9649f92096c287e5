// SPDX-License-Identifier: Apache-2.0
#include "acl/aclnn/executor.h"

#include "acl/aclnn/assign.h"
#include "acl/aclnn/memory_check.h"
#include "acl/error_state.h"

namespace npu::acl {
namespace {

enum class Side : uint8_t { kInput, kOutput, kAny };

// What is read and written counts on both sides: a client may name it by either number.
bool on_side(Mark mark, Side side) {
  if (side == Side::kAny || mark == Mark::kBoth) return true;
  return (mark == Mark::kWritten) == (side == Side::kOutput);
}

bool is_tensor_word(Word word) { return word == Word::kTensor || word == Word::kTensorList; }

/// Entry i: every copy the executor keeps of tensor i of one argument (several when fields share it).
using Copies = std::vector<std::vector<Tensor*>>;

void add_copies(Copies& copies, size_t at, std::vector<Tensor*> found, bool spread) {
  for (size_t i = 0; i < found.size(); ++i) {
    const size_t index = spread ? at : i;
    if (copies.size() <= index) copies.resize(index + 1);
    copies[index].push_back(found[i]);
  }
}

// Looked for with each call that sets an address: an executor that is used once pays nothing for the possibility.
Copies argument_tensors(aclOpExecutor& executor, size_t parameter) {
  Copies copies;
  const Plan& plan = executor.row->plan();
  for (const Step& step : plan.steps) {
    if (step.parameter != parameter) continue;
    const auto* members = executor.op->members();
    if (members == nullptr) add_copies(copies, 0, field_tensors(*step.field, *executor.op), false);
    for (size_t i = 0; members != nullptr && i < members->size(); ++i)
      add_copies(copies, i, field_tensors(*step.field, *(*members)[i]), step.spread);
  }
  return copies;
}

/// The name of a tensor that still lacks an address.
const char* find_unaddressed(aclOpExecutor& executor) {
  const auto parameters = executor.row->parameters;
  for (size_t p = 0; p < parameters.size(); ++p)
    for (const auto& copies : argument_tensors(executor, p))
      for (const Tensor* t : copies)
        if (t->defined() && t->data == nullptr && t->count() > 0) return parameters[p].name;
  return nullptr;
}

aclOpExecutor& repeatable_executor(aclOpExecutor* executor) {
  aclOpExecutor& live = live_executor(executor);
  require(live.repeatable, "the executor is not repeatable; call aclSetAclOpExecutorRepeatable first");
  return live;
}

// One call has one device: memory of another one would be worked on by the wrong stream.
void note_device(aclOpExecutor& executor, int device, const char* name) {
  if (device < 0) return;
  require(executor.device < 0 || executor.device == device,
          "{} would be memory of device {}, the executor was made for device {}; make another one", name, device,
          executor.device);
  executor.device = device;
  executor.on_device = name;
}

void set_address(aclOpExecutor& executor, const std::vector<Tensor*>& copies, const Parameter& p, aclTensor& tensor,
                 void* address) {
  for (Tensor* t : copies) {
    require(t->defined(), "{} was null in phase 1 and cannot get an address now", p.name);
    // Checked on a copy: a refused address leaves the executor as it was.
    Tensor moved = *t;
    moved.data = address;
    note_device(executor, check_memory(moved, p.name), p.name);
    *t = moved;
  }
  // The client's object says the same from now on; it keeps the client's address, the copies the kernels'.
  tensor.tensor.data = address;
  executor.unaddressed = find_unaddressed(executor);
}

aclnnStatus set_tensor(const char* name, Side side, aclOpExecutor* executor, size_t index, aclTensor* tensor,
                       void* address) {
  return guarded(name, [&] {
    aclOpExecutor& live_one = repeatable_executor(executor);
    if (tensor == nullptr) fail(Code::kNnBadExecutor, "tensor is null; pass the aclTensor whose address changes");
    live(tensor, "aclTensor");
    // Numbers count tensors, so a list takes as many as it has members; a dynamic index below counts arguments.
    size_t seen = 0;
    const auto parameters = live_one.row->parameters;
    for (size_t p = 0; p < parameters.size(); ++p) {
      if (!is_tensor_word(parameters[p].kind) || !on_side(parameters[p].mark, side)) continue;
      const Copies copies = argument_tensors(live_one, p);
      if (index < seen + copies.size())
        return set_address(live_one, copies[index - seen], parameters[p], *tensor, address);
      seen += copies.size();
    }
    fail(Code::kNnInvalidParam, "index is {}; {} has {} such tensors", index, live_one.row->name, seen);
  });
}

aclnnStatus set_list_member(const char* name, Side side, aclOpExecutor* executor, size_t argument, size_t relative,
                            aclTensorList* tensors, void* address) {
  return guarded(name, [&] {
    aclOpExecutor& live_one = repeatable_executor(executor);
    if (tensors == nullptr) fail(Code::kNnBadExecutor, "tensors is null; pass the aclTensorList whose member changes");
    const auto& members = live(tensors, "aclTensorList").members;
    require(relative < members.size() && members[relative] != nullptr,
            "relativeIndex is {}; the list has no tensor there ({} members)", relative, members.size());
    size_t seen = 0;
    const auto parameters = live_one.row->parameters;
    for (size_t p = 0; p < parameters.size(); ++p) {
      if (!is_tensor_word(parameters[p].kind) || !on_side(parameters[p].mark, side) || seen++ != argument) continue;
      require(parameters[p].kind == Word::kTensorList, "irIndex {} is {}, which is no list", argument,
              parameters[p].name);
      const Copies copies = argument_tensors(live_one, p);
      require(relative < copies.size(), "relativeIndex is {}; {} had {} members in phase 1", relative,
              parameters[p].name, copies.size());
      return set_address(live_one, copies[relative], parameters[p], const_cast<aclTensor&>(*members[relative]),
                         address);
    }
    fail(Code::kNnInvalidParam, "irIndex is {}; {} has {} such arguments", argument, live_one.row->name, seen);
  });
}

}  // namespace

// Judged before it is touched: the pool knows its own objects without reading them.
aclOpExecutor& live_executor(aclOpExecutor* executor) {
  if (executor == nullptr) fail(Code::kNnBadExecutor, "executor is null; pass the one phase 1 returned");
  if (!ExecutorPool::owns(executor))
    fail(Code::kNnBadExecutor,
         "the executor at {} is not alive: it was used or destroyed already, or phase 1 did not make it; call phase 1 "
         "again, or make it repeatable before the first use",
         static_cast<const void*>(executor));
  return *executor;
}

}  // namespace npu::acl

using namespace npu::acl;  // NOLINT: the C functions below are the door itself

aclError aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  if (executor == nullptr) return ACL_SUCCESS;
  return guarded("aclDestroyAclOpExecutor", [&] {
    live_executor(executor);
    ExecutorPool::destroy(executor);
  });
}

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  return guarded("aclSetAclOpExecutorRepeatable", [&] { live_executor(executor).repeatable = true; });
}

aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr) {
  return set_tensor("aclSetInputTensorAddr", Side::kInput, executor, index, tensor, addr);
}
aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr) {
  return set_tensor("aclSetOutputTensorAddr", Side::kOutput, executor, index, tensor, addr);
}
aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr) {
  return set_tensor("aclSetTensorAddr", Side::kAny, executor, index, tensor, addr);
}
aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                         aclTensorList* tensors, void* addr) {
  return set_list_member("aclSetDynamicInputTensorAddr", Side::kInput, executor, irIndex, relativeIndex, tensors, addr);
}
aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                          aclTensorList* tensors, void* addr) {
  return set_list_member("aclSetDynamicOutputTensorAddr", Side::kOutput, executor, irIndex, relativeIndex, tensors,
                         addr);
}
aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                    aclTensorList* tensors, void* addr) {
  return set_list_member("aclSetDynamicTensorAddr", Side::kAny, executor, irIndex, relativeIndex, tensors, addr);
}
