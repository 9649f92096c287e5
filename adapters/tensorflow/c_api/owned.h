// SPDX-License-Identifier: Apache-2.0
// TensorFlow's and the engine's objects with an owner, and the one exception of the adapter.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "adapters/tensorflow/c_api/tf_api.h"
#include "anynpu/graph.h"

namespace npu::tensorflow {

template <auto Delete>
struct Deleter {
  template <class T>
  void operator()(T* object) const {
    Delete(object);
  }
};

using Value = std::unique_ptr<anynpu_value, Deleter<anynpu_value_release>>;
using TensorHandle = std::unique_ptr<TFE_TensorHandle, Deleter<TFE_DeleteTensorHandle>>;
using Buffer = std::unique_ptr<TF_Buffer, Deleter<TF_DeleteBuffer>>;
using TensorPointer = std::unique_ptr<TF_Tensor, Deleter<TF_DeleteTensor>>;
using Operation = std::unique_ptr<TFE_Op, Deleter<TFE_DeleteOp>>;

/// What a callback of ours ends with instead of a result.
class Failure : public std::exception {
 public:
  Failure(TF_Code code, std::string message) : code_(code), message_(std::move(message)) {}
  TF_Code code() const { return code_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  TF_Code code_;
  std::string message_;
};

/// A status to pass to TensorFlow; check() raises what TensorFlow put into it.
class Status {
 public:
  Status() : status_(TF_NewStatus()) {}
  operator TF_Status*() { return status_.get(); }  // NOLINT: it stands for the pointer
  void check() {
    if (TF_GetCode(status_.get()) != TF_OK) throw Failure(TF_GetCode(status_.get()), TF_Message(status_.get()));
  }

 private:
  std::unique_ptr<TF_Status, Deleter<TF_DeleteStatus>> status_;
};

/// Calls a function of TensorFlow with a status as its last argument; raises what it reports.
template <class F, class... Args>
auto checked(F&& function, Args&&... args) {
  Status status;
  if constexpr (std::is_void_v<decltype(function(std::forward<Args>(args)..., status))>) {
    function(std::forward<Args>(args)..., status);
    status.check();
  } else {
    auto result = function(std::forward<Args>(args)..., status);
    status.check();
    return result;
  }
}

/// Raises the engine's error when `code` is one.
void check_engine(aclError code);

}  // namespace npu::tensorflow
