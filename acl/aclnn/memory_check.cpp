// SPDX-License-Identifier: Apache-2.0
#include "acl/aclnn/memory_check.h"

#include "device/memory/memory.h"

namespace npu::acl {
namespace {

/// The device's words, with the code that aclnn clients know for a bad argument.
void check_live(const void* first, size_t bytes, const char* name) {
  try {
    device::check_live(first, bytes, device::kAnyDevice, name);
  } catch (const Error& error) {
    throw Error(Code::kNnInvalidParam, error.message(), error.place());
  }
}

}  // namespace

// The allocation is the bound, not storageDims: clients that pass the length of the view without its offset (ggml,
// candle) work on hardware.
int check_memory(Tensor& tensor, const char* name) {
  const int64_t span = tensor.span();
  // An empty view touches nothing, so its address may be anything, null included.
  if (span == 0) return -1;
  const size_t size = size_of(tensor.dtype);
  const size_t bytes = static_cast<size_t>(span) * size;
  const std::byte* begin = tensor.bytes();
  // One block around all of it is the usual case, and cheaper to see than to word what is wrong.
  const device::Block block = device::find_block(begin);
  const bool within = block && begin >= block.begin && begin + bytes <= block.begin + block.bytes;
  if (!within) [[unlikely]]
    check_live(begin, bytes, name);
  // From the storage's start, which is what clients give, to the end of the view.
  tensor.data = device::resolve(tensor.data, static_cast<size_t>(tensor.offset + span) * size);
  return block.device;
}

// In guard mode tensors hold kernels' addresses, which belong to no block.
void check_still_live(const Tensor& tensor, const char* name) {
  if (!device::is_device_address(tensor.data)) return;
  check_live(tensor.bytes(), static_cast<size_t>(tensor.span()) * size_of(tensor.dtype), name);
}

}  // namespace npu::acl
