// SPDX-License-Identifier: Apache-2.0
// Device tensors for the tests of the door.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "acl/aclnn/object.h"

namespace npu::acl {

/// Device memory with an aclTensor over it; both end with the object.
template <class T>
class TestTensor {
 public:
  explicit TestTensor(std::vector<int64_t> shape, std::vector<T> values = {}) : shape_(std::move(shape)) {
    values_.resize(static_cast<size_t>(count_of(Dims(shape_))));
    std::copy(values.begin(), values.end(), values_.begin());
    const int64_t storage = static_cast<int64_t>(values_.size());
    object_ = aclCreateTensor(shape_.data(), shape_.size(), static_cast<aclDataType>(dtype_of<T>), nullptr, 0,
                              ACL_FORMAT_ND, &storage, 1, values_.data());
  }
  TestTensor(const TestTensor&) = delete;
  TestTensor& operator=(const TestTensor&) = delete;
  ~TestTensor() {
    if (object_ != nullptr) aclDestroyTensor(object_);
  }

  aclTensor* get() const { return object_; }
  operator aclTensor*() const { return object_; }  // NOLINT: reads as the argument
  /// Gives the object away, to a list that destroys it.
  aclTensor* release() { return std::exchange(object_, nullptr); }
  const std::vector<T>& values() const { return values_; }

 private:
  std::vector<int64_t> shape_;
  std::vector<T> values_;
  aclTensor* object_;
};

}  // namespace npu::acl
