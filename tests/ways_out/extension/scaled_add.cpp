// SPDX-License-Identifier: Apache-2.0
// x + alpha * y by aclnnAdd on torch's stream, its gradients by aclnnMuls: an extension as the vendor's guide has them.
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_muls.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>
#include <torch_npu/csrc/core/npu/NPUStream.h>
#include <torch_npu/csrc/framework/OpCommand.h>

#include <functional>
#include <memory>

namespace {

using Tensor = std::unique_ptr<aclTensor, decltype(&aclDestroyTensor)>;
using Scalar = std::unique_ptr<aclScalar, decltype(&aclDestroyScalar)>;
using First = std::function<aclnnStatus(uint64_t*, aclOpExecutor**)>;
using Second = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);

void check(int code, const char* function) {
  TORCH_CHECK(code == 0, function, " answers ", code, ": ", aclGetRecentErrMsg());
}

// Strides and offset count elements on both sides; the address is the storage's.
Tensor described(const at::Tensor& t) {
  const auto elements = static_cast<int64_t>(t.storage().nbytes() / t.element_size());
  const aclDataType type = t.scalar_type() == at::kFloat ? ACL_FLOAT : ACL_DT_UNDEFINED;
  Tensor made(aclCreateTensor(t.sizes().data(), t.dim(), type, t.strides().data(), t.storage_offset(), ACL_FORMAT_ND,
                              &elements, 1, const_cast<void*>(t.storage().data())),
              aclDestroyTensor);
  TORCH_CHECK(made, "aclCreateTensor: ", aclGetRecentErrMsg());
  return made;
}

Scalar described(double value) {
  auto number = static_cast<float>(value);
  return {aclCreateScalar(&number, ACL_FLOAT), aclDestroyScalar};
}

// The stream is asked for after torch-npu's queue is empty, so that earlier operators come first.
void run(const char* name, const First& first, Second second) {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  check(first(&size, &executor), name);
  const at::Tensor workspace = at::empty({static_cast<int64_t>(size)}, at::device(at::kPrivateUse1).dtype(at::kByte));
  check(second(workspace.data_ptr(), size, executor, c10_npu::getCurrentNPUStream().stream(true)), name);
}

at::Tensor sum(const at::Tensor& x, const at::Tensor& y, double alpha) {
  at::Tensor out = at::empty(at::infer_size(x.sizes(), y.sizes()), x.options());
  const Tensor a = described(x), b = described(y), c = described(out);
  const Scalar factor = described(alpha);
  run(
      "aclnnAdd",
      [&](auto* size, auto** executor) {
        return aclnnAddGetWorkspaceSize(a.get(), b.get(), factor.get(), c.get(), size, executor);
      },
      aclnnAdd);
  return out;
}

// By torch-npu's own frame for such functions: it puts them into its queue.
at::Tensor scaled(const at::Tensor& x, double alpha) {
  at::Tensor out = at::empty(x.sizes(), x.options());
  at_npu::native::OpCommand::RunOpApiV2("aclnnMuls", [x, out, alpha]() -> int {
    const Tensor a = described(x), c = described(out);
    const Scalar factor = described(alpha);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    check(aclnnMulsGetWorkspaceSize(a.get(), factor.get(), c.get(), &size, &executor), "aclnnMuls");
    return aclnnMuls(nullptr, size, executor, c10_npu::getCurrentNPUStream().stream(false));
  });
  return out;
}

struct ScaledAdd : torch::autograd::Function<ScaledAdd> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, const at::Tensor& y,
                            double alpha) {
    context->saved_data["alpha"] = alpha;
    return sum(x, y, alpha);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    return {gradients[0], scaled(gradients[0], context->saved_data["alpha"].toDouble()), at::Tensor()};
  }
};

at::Tensor scaled_add(const at::Tensor& x, const at::Tensor& y, double alpha) { return ScaledAdd::apply(x, y, alpha); }

}  // namespace

TORCH_LIBRARY(ways_out, library) { library.def("scaled_add(Tensor x, Tensor y, float alpha) -> Tensor"); }
TORCH_LIBRARY_IMPL(ways_out, PrivateUse1, library) { library.impl("scaled_add", sum); }
TORCH_LIBRARY_IMPL(ways_out, AutogradPrivateUse1, library) { library.impl("scaled_add", scaled_add); }
