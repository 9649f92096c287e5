// SPDX-License-Identifier: Apache-2.0
// The graph engine behind one device: brings functions into it when they are first called, runs functions and
// operators, and gives it the way back to TensorFlow's kernels.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/tensorflow/c_api/owned.h"
#include "adapters/tensorflow/host/host.h"
#include "adapters/tensorflow/log/function_log.h"

namespace npu::tensorflow {

class Engine {
 public:
  Engine(int device, std::string name);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// TensorFlow's name of the device: "/job:localhost/replica:0/task:0/device:NPU:0".
  const std::string& name() const { return name_; }
  int device() const { return device_; }
  anynpu_library* library() const { return library_; }
  bool has_kernel(const std::string& op) const { return kinds_.contains(op); }

  /// With ENABLE_NETWORK_ANALYSIS_DEBUG: true for a function that cannot be compiled for these inputs. It is logged,
  /// and TensorFlow has to run it.
  bool cannot_compile(TFE_Context* context, const char* function, const std::vector<Value>& inputs);
  std::vector<Value> run_function(TFE_Context* context, const char* function, const std::vector<Value>& inputs,
                                  size_t output_count);
  /// The same for a function that the library has been given, a slice of a session.
  std::vector<Value> run_added(TFE_Context* context, const char* function, std::span<anynpu_value* const> inputs,
                               size_t output_count);
  std::vector<Value> run_operator(TFE_Context* context, const TFE_Op* op, const std::vector<Value>& inputs,
                                  size_t output_count);

 private:
  void bring(TFE_Context* context, const std::string& function);
  void bring_with_called(TFE_Context* context, const std::string& function);
  void drop_gone(TFE_Context* context);
  template <class Run>
  std::vector<Value> run(TFE_Context* context, size_t output_count, Run&& run);
  static int host(void* self, const anynpu_node* node, anynpu_value* const* inputs, size_t input_count,
                  anynpu_value** outputs, size_t output_count, const char** error);
  std::vector<Value> run_node(const anynpu_node* node, std::span<anynpu_value* const> inputs, size_t output_count);

  const int device_;
  const std::string name_;
  anynpu_library* library_ = nullptr;
  std::set<std::string, std::less<>> kinds_;
  FunctionLog log_;
  std::mutex mutex_;
  std::map<std::string, std::vector<std::string>, std::less<>> brought_;  ///< with the functions each calls
};

/// The attributes of an operator as TensorFlow encodes them.
std::vector<Attribute> attributes_of(const TFE_Op* op);

}  // namespace npu::tensorflow
