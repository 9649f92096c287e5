// SPDX-License-Identifier: Apache-2.0
#include "comm/operator/reachable.h"

#include "device/memory/memory.h"
#include "ops/runner/call.h"

namespace npu::comm {
namespace {

bool lies_so(const Tensor& tensor, int device) {
  if (tensor.data == nullptr || !tensor.contiguous()) return false;
  // In guard mode kernels get other addresses than clients have, and peers know only those.
  return device::find_block(tensor.bytes()).device == device;
}

}  // namespace

Reachable::Reachable(const Tensor& tensor, int device)
    : tensor_(tensor), dense_(make_tensor(tensor.bytes(), tensor.dtype, tensor.shape)) {
  if (tensor.count() == 0 || lies_so(tensor, device)) return;
  const auto bytes = static_cast<size_t>(bytes_of(tensor));
  block_ = device::allocate(device, bytes);
  dense_.data = device::resolve(block_, bytes);
}

Reachable::~Reachable() {
  if (block_ != nullptr) device::deallocate(block_);
}

void Reachable::load() {
  if (block_ != nullptr) ops::Call("copy").set("self", ops::Operand{tensor_, {}}).set("out", dense_).run();
}

void Reachable::store() {
  if (block_ != nullptr) ops::Call("copy").set("self", ops::Operand{dense_, {}}).set("out", tensor_).run();
}

Element element_of(DType dtype, int64_t columns) {
  return {dtype, static_cast<uint32_t>(size_of(dtype)), static_cast<uint32_t>(columns)};
}

}  // namespace npu::comm
