// SPDX-License-Identifier: Apache-2.0
#include "acl/singleop/handle.h"

#include <memory>
#include <string>
#include <vector>

#include "acl/call.h"
#include "acl/include/acl/acl_op_compiler.h"
#include "acl/singleop/description.h"
#include "acl/singleop/operator_type.h"

namespace npu::acl {
namespace {

using HandlePool = DescriptionPool<aclopHandle>;

/// What a call of an operator type is described by: copies in memory that the C functions accept.
struct Described {
  std::string type;
  std::vector<std::shared_ptr<aclTensorDesc>> inputs, outputs;
  std::shared_ptr<aclopAttr> attributes;

  static std::vector<const aclTensorDesc*> pointers(const std::vector<std::shared_ptr<aclTensorDesc>>& descs) {
    std::vector<const aclTensorDesc*> out;
    out.reserve(descs.size());
    for (const auto& desc : descs) out.push_back(desc.get());
    return out;
  }
};

template <class T>
std::shared_ptr<T> copy_of(const T& object) {
  return {DescriptionPool<T>::create(object), [](T* copy) { DescriptionPool<T>::destroy(copy); }};
}

std::vector<std::shared_ptr<aclTensorDesc>> copies(int count, const aclTensorDesc* const* descs, const char* argument) {
  const auto given = span_of(count, descs, argument);
  std::vector<std::shared_ptr<aclTensorDesc>> out;
  out.reserve(given.size());
  for (const aclTensorDesc* desc : given) out.push_back(copy_of(described(desc, argument)));
  return out;
}

aclError run(const Described& op, aclopHandle::Inputs inputs, aclopHandle::Outputs outputs, aclrtStream stream) {
  if (inputs.size() != op.inputs.size() || outputs.size() != op.outputs.size())
    fail(Code::kInvalidParam, "the handle of {} was made for {} inputs and {} outputs, {} and {} are given", op.type,
         op.inputs.size(), op.outputs.size(), inputs.size(), outputs.size());
  return aclopCompileAndExecute(op.type.c_str(), static_cast<int>(inputs.size()), Described::pointers(op.inputs).data(),
                                inputs.data(), static_cast<int>(outputs.size()), Described::pointers(op.outputs).data(),
                                outputs.data(), op.attributes.get(), ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, stream);
}

aclopHandle* create(Described op) {
  if (find_operator_type(op.type).empty())
    fail(Code::kOpNotFound, "opType {} is not known as a single operator; {}", op.type, types_like(op.type));
  auto shared = std::make_shared<const Described>(std::move(op));
  return HandlePool::create(
      aclopHandle{[shared](aclopHandle::Inputs inputs, aclopHandle::Outputs outputs, aclrtStream stream) {
        return run(*shared, inputs, outputs, stream);
      }});
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclopCreateHandle(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[], int numOutputs,
                           const aclTensorDesc* const outputDesc[], const aclopAttr* opAttr, aclopHandle** handle) {
  return call("aclopCreateHandle", [&] {
    result(handle, "handle");  // before anything is made for it
    Described op;
    op.type = given(opType, "opType");
    op.inputs = copies(numInputs, inputDesc, "inputDesc"), op.outputs = copies(numOutputs, outputDesc, "outputDesc");
    if (opAttr != nullptr) op.attributes = copy_of(described(opAttr, "opAttr"));
    *handle = create(std::move(op));
  });
}
aclError aclopCreateHandleForCast(aclTensorDesc* srcDesc, aclTensorDesc* dstDesc, uint8_t, aclopHandle** handle) {
  return call("aclopCreateHandleForCast", [&] {
    result(handle, "handle");
    Described op{"Cast", {copy_of(described(srcDesc, "srcDesc"))}, {copy_of(described(dstDesc, "dstDesc"))}, nullptr};
    *handle = create(std::move(op));
  });
}
aclError aclopCast(const aclTensorDesc* srcDesc, const aclDataBuffer* srcBuffer, const aclTensorDesc* dstDesc,
                   aclDataBuffer* dstBuffer, uint8_t, aclrtStream stream) {
  const aclTensorDesc *from[] = {srcDesc}, *to[] = {dstDesc};
  const aclDataBuffer* input[] = {srcBuffer};
  aclDataBuffer* output[] = {dstBuffer};
  return aclopCompileAndExecute("Cast", 1, from, input, 1, to, output, nullptr, ACL_ENGINE_SYS, ACL_COMPILE_SYS,
                                nullptr, stream);
}
aclError aclopExecWithHandle(aclopHandle* handle, int numInputs, const aclDataBuffer* const inputs[], int numOutputs,
                             aclDataBuffer* const outputs[], aclrtStream stream) {
  aclError code = ACL_SUCCESS;
  const aclError refused = call("aclopExecWithHandle", [&] {
    code = described(handle, "handle")
               .run(span_of(numInputs, inputs, "inputs"), span_of(numOutputs, outputs, "outputs"), stream);
  });
  return refused == ACL_SUCCESS ? code : refused;
}
void aclopDestroyHandle(aclopHandle* handle) {
  if (handle == nullptr) return;
  call("aclopDestroyHandle", [&] {
    described(handle, "handle");
    HandlePool::destroy(handle);
  });
}
