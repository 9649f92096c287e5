// SPDX-License-Identifier: Apache-2.0
// Device tensors for the tests of the door.
#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include "acl/aclnn/object.h"
#include "device/context/context.h"
#include "device/memory/memory.h"

namespace npu::acl {

/// Device memory with an aclTensor over it; both end with the object.
template <class T>
class TestTensor {
 public:
  explicit TestTensor(std::vector<int64_t> shape, std::vector<T> values = {}) : shape_(std::move(shape)) {
    if (!device::primary_context_active(0)) device::set_device(0);
    values.resize(static_cast<size_t>(count_of(Dims(shape_))));
    bytes_ = values.size() * sizeof(T);
    memory_ = static_cast<T*>(device::allocate(0, bytes_));
    std::memcpy(device::resolve(memory_, bytes_), values.data(), bytes_);
    const int64_t storage = static_cast<int64_t>(values.size());
    object_ = aclCreateTensor(shape_.data(), shape_.size(), static_cast<aclDataType>(dtype_of<T>), nullptr, 0,
                              ACL_FORMAT_ND, &storage, 1, memory_);
  }
  TestTensor(const TestTensor&) = delete;
  TestTensor& operator=(const TestTensor&) = delete;
  ~TestTensor() {
    if (object_ != nullptr) aclDestroyTensor(object_);
    device::deallocate(memory_);
  }

  aclTensor* get() const { return object_; }
  operator aclTensor*() const { return object_; }  // NOLINT: reads as the argument
  /// Gives the object away, to a list that destroys it.
  aclTensor* release() { return std::exchange(object_, nullptr); }
  T* address() const { return memory_; }
  /// The elements once all queued work has run.
  std::vector<T> values() const {
    device::synchronize_device();
    const T* first = static_cast<const T*>(device::resolve(memory_, bytes_));
    return {first, first + bytes_ / sizeof(T)};
  }

 private:
  std::vector<int64_t> shape_;
  size_t bytes_;
  T* memory_;
  aclTensor* object_;
};

}  // namespace npu::acl
