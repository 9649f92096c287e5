// SPDX-License-Identifier: Apache-2.0
// What one aclnn call costs on top of its kernel: objects, phase 1, phase 2.
#include <benchmark/benchmark.h>

#include "acl/aclnn/phase.h"
#include "acl/aclnn/tensor_fixture.h"
#include "aclnnop/aclnn_add.h"

namespace npu::acl {
namespace {

using Floats = TestTensor<float>;

aclTensor* describe(const Floats& t) {
  const int64_t shape[] = {8, 8}, stride[] = {8, 1}, storage[] = {64};
  return aclCreateTensor(shape, 2, ACL_FLOAT, stride, 0, ACL_FORMAT_ND, storage, 1, t.address());
}

// As torch_npu does: five objects made and destroyed per call.
void add_8x8(benchmark::State& state) {
  Floats a({8, 8}), b({8, 8}), out({8, 8});
  for ([[maybe_unused]] auto _ : state) {
    double one = 1;
    aclTensor *x = describe(a), *y = describe(b), *z = describe(out);
    aclScalar* alpha = aclCreateScalar(&one, ACL_DOUBLE);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    aclnnAddGetWorkspaceSize(x, y, alpha, z, &size, &executor);
    aclnnAdd(nullptr, 0, executor, nullptr);
    aclDestroyTensor(x);
    aclDestroyTensor(y);
    aclDestroyTensor(z);
    aclDestroyScalar(alpha);
  }
}
BENCHMARK(add_8x8);

void objects_only(benchmark::State& state) {
  Floats a({8, 8});
  for ([[maybe_unused]] auto _ : state) {
    double one = 1;
    for (int i = 0; i < 3; ++i) aclDestroyTensor(describe(a));
    aclDestroyScalar(aclCreateScalar(&one, ACL_DOUBLE));
  }
}
BENCHMARK(objects_only);

void phase1_only(benchmark::State& state) {
  Floats a({8, 8}), b({8, 8}), out({8, 8});
  double one = 1;
  aclScalar* alpha = aclCreateScalar(&one, ACL_DOUBLE);
  for ([[maybe_unused]] auto _ : state) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    aclnnAddGetWorkspaceSize(a, b, alpha, out, &size, &executor);
    aclDestroyAclOpExecutor(executor);
  }
  aclDestroyScalar(alpha);
}
BENCHMARK(phase1_only);

}  // namespace
}  // namespace npu::acl
