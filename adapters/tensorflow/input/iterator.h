// SPDX-License-Identifier: Apache-2.0
// Operators that TensorFlow runs for us, data sets and iterators with what is known of them: which are read ahead, and
// how often a function asked them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "adapters/tensorflow/host/host.h"

namespace npu::tensorflow {

/// One operator for TensorFlow's own kernel.
struct HostCall {
  TFE_Context* context;
  const std::string& device;  ///< TensorFlow's name of the NPU that was asked
  const char* op;
  const TFE_OpAttrs* given;           ///< attributes as TensorFlow gave them, or null
  std::vector<Attribute> attributes;  ///< the same by name; needed without `given`, or where needs_attributes()
  std::span<anynpu_value* const> inputs;
  size_t output_count;
  bool in_function;
};

/// Whether run_on_host() looks at the attributes of a call like this.
bool needs_attributes(const char* op, std::span<anynpu_value* const> inputs);
/// Runs the operator; raises what TensorFlow raises.
std::vector<Value> run_on_host(const HostCall& call);

/// Counts, while it lives, what this thread's function asks of iterators, and writes the vendor's log lines in the end:
/// for the first run that asks one repeatedly, and with NPU_DEBUG for every run.
class Consumption {
 public:
  Consumption(TFE_Context* context, const char* function);
  ~Consumption();
  Consumption(const Consumption&) = delete;
  Consumption& operator=(const Consumption&) = delete;
  void failed(const std::string& message) { status_ = message; }

  struct Count {
    TensorHandle iterator;
    const void* object;
    size_t times;
    bool counted;  ///< a loop that asks whether there is an element ends by itself, however often the program says
  };

 private:
  friend std::vector<Value> run_on_host(const HostCall& call);
  TFE_Context* const context_;
  const char* const function_;
  Consumption* const outer_;
  std::vector<Count> counts_;
  std::string status_ = "OK";
};

}  // namespace npu::tensorflow
