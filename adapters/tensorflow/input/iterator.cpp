// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/input/iterator.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <protozero/pbf_reader.hpp>
#include <set>

#include "adapters/tensorflow/c_api/functions.h"
#include "adapters/tensorflow/c_api/message.h"
#include "adapters/tensorflow/input/feed.h"
#include "adapters/tensorflow/input/pipeline.h"
#include "adapters/tensorflow/log/function_log.h"
#include "adapters/tensorflow/log/log.h"
#include "adapters/tensorflow/tensor/handle.h"
#include "adapters/tensorflow/tensor/twin.h"

namespace npu::tensorflow {
namespace {

/// Iterators that this thread makes now serve one loop alone: nobody else can save or share them.
thread_local bool alone = false;
thread_local Consumption* consumption = nullptr;

bool is_data_set(std::string_view op) { return op.find("Dataset") != std::string_view::npos; }

/// TensorFlow's name of an iterator with its running number, "Resource-0-at-0x5652ae260900", as users know it.
std::string public_name(const std::string& name) {
  const std::string_view start = "Resource-";
  if (!name.starts_with(start)) return name;
  return "AnonymousIterator" + name.substr(start.size(), name.find('-', start.size()) - start.size());
}

std::string name_of(TFE_Context* context, TFE_TensorHandle* iterator) {
  try {
    const auto answer = run_on_host(context, "IteratorToStringHandle", nullptr, {}, {&iterator, 1}, 1);
    const TensorPointer tensor(checked(TFE_TensorHandleResolve, answer.front().get()));
    const auto* text = static_cast<const TF_TString*>(TF_TensorData(tensor.get()));
    protozero::pbf_reader handle(TF_StringGetDataPointer(text), TF_StringGetSize(text));
    while (handle.next(field::kHandleName)) return public_name(handle.get_string());
  } catch (const std::exception&) {
    // A name is only for the log.
  }
  return "AnonymousIterator";
}

void log_made(const std::string& device, const std::string& name, bool fed) {
  NPU_TF_LOG(kInfo, "Iterator resource provider for ", name, " created.");
  NPU_TF_LOG(kInfo, fed ? 1 : 0, " hdc channels for iterator resource ", name, " created.");
  const std::string number = device.substr(device.rfind(':') + 1);
  if (fed) NPU_TF_LOG(kInfo, "Hdc channel for iterator resource ", name, " to device [", number, "] created.");
}

/// Whether this is asked for the first time; `what` names a function and what is to be said of it.
bool is_first(const std::string& what) {
  static auto* const mutex = new std::mutex;
  static auto* const seen = new std::set<std::string>;
  const std::lock_guard lock(*mutex);
  return seen->insert(what).second;
}

/// A program written for a card says how many steps its loops have. There another number hangs or shifts the data.
void compare_with_loop_size(TFE_Context* context, const char* function, const Consumption::Count& count) {
  const auto told = static_cast<size_t>(told_loop_size());
  if (told == 0 || count.times < 2 || !count.counted || count.times == told) return;
  if (!is_first(std::string(function) + " loop size " + std::to_string(told))) return;
  NPU_TF_LOG(kWarning, function, " took ", count.times, " elements of ", name_of(context, count.iterator.get()),
             " in one run, and npu loop size is ", told,
             ". The loop ran to its own end; on a card it would hang or go ", "wrong. Set npu.set_npu_loop_size(",
             count.times, ") or NPU_LOOP_SIZE=", count.times, " for this loop");
}

/// What becomes of data sets and iterators that TensorFlow made.
void note(const HostCall& call, const std::vector<Value>& outputs) {
  const std::string_view op = call.op;
  if (op == "MakeIterator") {
    const Object* data_set = object_of(call.inputs[0]);
    Object* iterator = object_of(call.inputs[1]);
    if (iterator == nullptr) return;
    const bool fed = feed_enabled() && iterator->kept && data_set != nullptr && data_set->pipeline != nullptr;
    std::string name;
    // Functions make their own each time they run: those are told on request.
    if (log_shown(call.in_function ? Level::kDebug : Level::kInfo))
      log_made(call.device, name = name_of(call.context, iterator->handle.get()), fed);
    iterator->feed =
        fed ? std::make_shared<Feed>(call.context, iterator->handle.get(), name, iterator->shared) : nullptr;
  } else if (op == "AnonymousIteratorV3") {
    Object* const made = object_of(outputs.front().get());
    made->kept = true;
    made->shared = !call.in_function && !alone;
  } else if (feed_enabled() && is_data_set(op) && outputs.size() == 1) {
    Object* made = object_of(outputs.front().get());
    if (made == nullptr) return;
    made->pipeline = pipeline_of(call.context, op, call.attributes, call.inputs);
    made->kept = made->pipeline != nullptr && is_only_device();
  }
}

}  // namespace

bool needs_attributes(const char* op, std::span<anynpu_value* const> inputs) {
  if (is_data_set(op)) return feed_enabled();
  if (!asks_for_next(op)) return false;
  const Object* iterator = object_of(inputs.front());
  return iterator != nullptr && iterator->feed != nullptr;
}

std::vector<Value> run_on_host(const HostCall& call) {
  Object* first = call.inputs.empty() ? nullptr : object_of(call.inputs.front());
  if (first != nullptr && asks_for_next(call.op)) {
    if (consumption != nullptr) {
      auto& counts = consumption->counts_;
      const auto at = std::ranges::find(counts, static_cast<const void*>(first), &Consumption::Count::object);
      if (at != counts.end())
        ++at->times;
      else
        counts.push_back({TensorHandle(checked(TFE_TensorHandleCopySharingTensor, first->handle.get())), first, 1,
                          !asks_as_optional(call.op)});
    }
    if (first->feed != nullptr) return first->feed->next(call.op, call.attributes, call.output_count);
  }
  for (anynpu_value* input : call.inputs) {
    const Object* object = object_of(input);
    if (object == nullptr || object->feed == nullptr) continue;
    if (std::strcmp(call.op, "MakeIterator") == 0 || std::strcmp(call.op, "DeserializeIterator") == 0)
      object->feed->reset();
  }
  const std::span<const Attribute> more =
      call.given == nullptr ? std::span<const Attribute>(call.attributes) : std::span<const Attribute>();
  std::vector<Value> outputs =
      run_values_on_host(call.context, call.op, call.given, more, call.inputs, call.output_count, call.device);
  note(call, outputs);
  return outputs;
}

Consumption::Consumption(TFE_Context* context, const char* function)
    : context_(context), function_(function), outer_(consumption) {
  consumption = log_shown(Level::kInfo) || (told_loop_size() > 0 && log_shown(Level::kWarning)) ? this : nullptr;
}

Consumption::~Consumption() {
  consumption = outer_;
  const bool looped = std::ranges::any_of(counts_, [](const Count& count) { return count.times > 1; });
  if (status_ == "OK")
    for (const Count& count : counts_) compare_with_loop_size(context_, function_, count);
  const bool news = looped && is_first(function_);
  if (!news && !log_shown(Level::kDebug)) return;
  for (const Count& count : counts_) {
    const std::string name = name_of(context_, count.iterator.get());
    NPU_TF_LOG(kInfo, "Start consume iterator resource ", name, " ", count.times, " times");
    NPU_TF_LOG(kInfo, "Iterator resource ", name, " consume ", count.times, " times done with status ", status_);
  }
}

}  // namespace npu::tensorflow

void anynpu_tensorflow_iterators_alone(int on) { npu::tensorflow::alone = on != 0; }
