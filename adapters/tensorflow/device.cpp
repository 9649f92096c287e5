// SPDX-License-Identifier: Apache-2.0
// The custom device: TensorFlow's callbacks, each ending in a status. execute() is synchronous, so an error keeps the
// line of the user's program.
#include <acl/acl.h>

#include <cstring>
#include <string_view>

#include "adapters/tensorflow/c_api/functions.h"
#include "adapters/tensorflow/engine.h"
#include "adapters/tensorflow/host/python_thread.h"
#include "adapters/tensorflow/input/iterator.h"
#include "adapters/tensorflow/lifetime.h"
#include "adapters/tensorflow/log/log.h"
#include "adapters/tensorflow/tensor/handle.h"
#include "anynpu/error.h"
#include "anynpu/overflow.h"

namespace npu::tensorflow {
namespace {

Engine& engine(void* info) { return *static_cast<Engine*>(info); }

/// Runs `body`; what it raises becomes the status, and `nothing` the answer.
template <class T, class Body>
T answered(TF_Status* status, T nothing, Body&& body) noexcept {
  try {
    require_own_process();
    return body();
  } catch (const Failure& e) {
    TF_SetStatus(status, e.code(), e.what());
  } catch (const std::exception& e) {
    TF_SetStatus(status, TF_INTERNAL, e.what());
  }
  return nothing;
}

Value new_variable(const Engine& engine) {
  anynpu_value* value = nullptr;
  check_engine(anynpu_value_variable(engine.device(), &value));
  return Value(value);
}

/// Overflows of what the host has computed count as the device's.
void saturate(const Engine& engine, const char* op, std::span<anynpu_value* const> inputs,
              std::vector<Value>& results) {
  std::vector<anynpu_value*> raw;
  for (Value& result : results) raw.push_back(result.release());
  const aclError code = anynpu_saturate(engine.device(), op, inputs.data(), inputs.size(), raw.data(), raw.size());
  for (size_t i = 0; i < raw.size(); ++i) results[i].reset(raw[i]);
  check_engine(code);
}

/// Runs the operator by TensorFlow's own kernel: it has none here.
std::vector<Value> by_host(const Engine& engine, TFE_Context* context, const TFE_Op* op,
                           const std::vector<Value>& inputs, size_t output_count) {
  const std::vector<anynpu_value*> raw = pointers(inputs);
  const char* name = checked(TFE_OpGetName, op);
  std::vector<Value> results = run_on_host({context, engine.name(), name, TFE_OpGetAttrs(op),
                                            needs_attributes(name, raw) ? attributes_of(op) : std::vector<Attribute>{},
                                            raw, output_count, false});
  saturate(engine, name, raw, results);
  return results;
}

/// Operators on plain tensors whose results are no larger than what goes in: no wrong number makes TensorFlow's kernel
/// allocate without bound, or end the process where it counts elements.
bool may_be_asked(const std::string& op) {
  static constexpr std::string_view kOperators =
      " Add AddV2 ArgMax ArgMin BatchMatMul BatchMatMulV2 BatchMatMulV3 BiasAdd ConcatV2 Cumprod Cumsum Div Equal "
      "ExpandDims GatherNd GatherV2 Greater GreaterEqual InTopKV2 Less LessEqual MatMul Max Maximum Mean Min Minimum "
      "Mul NotEqual Pack Pow Prod RealDiv ReverseV2 SelectV2 Slice SoftmaxCrossEntropyWithLogits "
      "SparseSoftmaxCrossEntropyWithLogits Split SplitV Squeeze StridedSlice Sub Sum TopKV2 Transpose ";
  return kOperators.find(" " + op + " ") != std::string_view::npos;
}

/// Runs the operator by our kernel. What ours refuses TensorFlow's kernel is asked about: where it refuses, too, its
/// sentence stands first, since programs look for it, and ours with the cure after it.
std::vector<Value> by_kernel(Engine& engine, TFE_Context* context, const TFE_Op* op, const std::vector<Value>& inputs,
                             size_t output_count) {
  try {
    return engine.run_operator(context, op, inputs, output_count);
  } catch (const Failure& ours) {
    if (ours.code() != TF_INVALID_ARGUMENT || !may_be_asked(checked(TFE_OpGetName, op))) throw;
    try {
      by_host(engine, context, op, inputs, output_count);
    } catch (const Failure& theirs) {
      const std::string_view reason = ours.what(), sentence = theirs.what();
      const bool refused = theirs.code() == TF_INVALID_ARGUMENT || theirs.code() == TF_OUT_OF_RANGE;
      if (refused && reason.find(sentence) == std::string_view::npos)
        throw Failure(theirs.code(), std::string(sentence) + "\n" + std::string(reason));
    }
    throw;
  }
}

std::vector<Value> run(Engine& engine, const TFE_Op* op, std::vector<Value> inputs, size_t output_count) {
  TFE_Context* context = checked(TFE_OpGetContext, op);
  const char* name = checked(TFE_OpGetName, op);
  if (TFE_ContextHasFunction(context, name) != 0) {
    if (engine.cannot_compile(context, name, inputs)) return by_host(engine, context, op, inputs, output_count);
    return engine.run_function(context, name, inputs, output_count);
  }
  if (std::strcmp(name, "_EagerConst") == 0 || std::strcmp(name, "Identity") == 0) return inputs;
  if (std::strcmp(name, "VarHandleOp") == 0) {
    std::vector<Value> out;
    out.push_back(new_variable(engine));
    return out;
  }
  if (engine.has_kernel(name)) return by_kernel(engine, context, op, inputs, output_count);
  return by_host(engine, context, op, inputs, output_count);
}

void execute(const TFE_Op* op, int* output_count, TFE_TensorHandle** outputs, TF_Status* status, void* info) {
  answered(status, 0, [&] {
    const RunningCall call;
    Engine& device = engine(info);
    std::vector<Value> inputs;
    for (int i = 0; i < checked(TFE_OpGetFlatInputCount, op); ++i)
      inputs.push_back(value_of(checked(TFE_OpGetFlatInput, op, i), device.name()));
    const std::vector<Value> values = run(device, op, std::move(inputs), static_cast<size_t>(*output_count));
    std::vector<TensorHandle> handles;
    TFE_Context* context = checked(TFE_OpGetContext, op);
    for (const Value& value : values) handles.push_back(device_handle(context, device.name(), value.get()));
    *output_count = static_cast<int>(handles.size());
    for (size_t i = 0; i < handles.size(); ++i) outputs[i] = handles[i].release();
    return 0;
  });
}

TFE_TensorHandle* copy_to(TFE_Context* context, TFE_TensorHandle* tensor, TF_Status* status, void* info) {
  return answered<TFE_TensorHandle*>(status, nullptr, [&] {
    const Value value = value_of(tensor, engine(info).name());
    return device_handle(context, engine(info).name(), value.get()).release();
  });
}

TFE_TensorHandle* copy_from(TFE_Context* context, TFE_TensorHandle* tensor, const char*, TF_Status* status,
                            void* info) {
  return answered<TFE_TensorHandle*>(
      status, nullptr, [&] { return host_handle(context, value_of(tensor, engine(info).name()).get()).release(); });
}

/// The process ends with the device: other threads may still be inside.
void delete_device(void*) {}

/// One line of TensorFlow's log for the first overflow of a step.
void tell_overflow(const anynpu_overflow* overflow, void*) noexcept {
  try {
    NPU_TF_LOG(kWarning, "device ", overflow->device, ": ", overflow->text);
  } catch (const std::exception&) {
    // No memory for a line: the step goes on.
  }
}

TFE_TensorHandle* pack(TFE_Context*, TFE_TensorHandle**, int, TF_Status* status, void*) {
  TF_SetStatus(status, TF_UNIMPLEMENTED, "packed tensors are not supported on an NPU; use one tensor per device");
  return nullptr;
}

anynpu_library* library_of(void* device) { return static_cast<Engine*>(device)->library(); }

/// Null for success.
const char* reason_of(aclError code) { return code == ACL_SUCCESS ? nullptr : anynpu_recent_reason(); }

}  // namespace
}  // namespace npu::tensorflow

using namespace npu::tensorflow;  // NOLINT: the functions below are the adapter's door

TFE_CustomDevice* anynpu_tensorflow_callbacks() {
  static TFE_CustomDevice* const callbacks = [] {
    auto* d = new TFE_CustomDevice;
    d->copy_tensor_to_device = copy_to;
    d->copy_tensor_from_device = copy_from;
    d->execute = execute;
    d->delete_device = delete_device;
    d->pack = pack;
    return d;
  }();
  return callbacks;
}

void anynpu_tensorflow_report(void* device, void (*visit)(const char* json, void* context), void* context) {
  anynpu_library_report(library_of(device), visit, context);
}

void anynpu_tensorflow_thread_start(void (*start)()) { set_thread_start(start); }

const char* anynpu_tensorflow_switch_fusion(void* device, const char* text, size_t size,
                                            void (*unknown)(const char* name, void* context), void* context) {
  return reason_of(anynpu_library_switch_fusion(library_of(device), text, size, unknown, context));
}

void anynpu_tensorflow_fusions(void* device, void (*visit)(const char* json, void* context), void* context) {
  anynpu_library_fusions(library_of(device), visit, context);
}

const char* anynpu_tensorflow_set_precision(void* device, const char* option, const char* value, size_t size,
                                            void (*notice)(const char* text, void* context), void* context) {
  return reason_of(anynpu_library_set_precision(library_of(device), option, value, size, notice, context));
}

const char* anynpu_tensorflow_keep(void* device, const char* mode, const char* folder) {
  return reason_of(anynpu_library_keep(library_of(device), mode, folder));
}

const char* anynpu_tensorflow_overlap(void* device, int on) {
  return reason_of(anynpu_library_overlap(library_of(device), on));
}

const char* anynpu_tensorflow_write_files(void* device, const char* files, const char* folder) {
  return reason_of(anynpu_library_write_files(library_of(device), files, folder));
}

void anynpu_tensorflow_restart_random(void* device) { anynpu_library_restart_random(library_of(device)); }

void* anynpu_tensorflow_device(int device, const char* name, void (*refused)(const char* reason)) {
  try {
    watch_forks();
    require_own_process();
    auto engine = std::make_unique<Engine>(device, name);
    add_device(name);
    anynpu_watch_overflows(tell_overflow, nullptr);
    return engine.release();
  } catch (const std::exception& e) {
    refused(e.what());
    return nullptr;
  }
}
