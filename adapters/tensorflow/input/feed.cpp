// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/input/feed.h"

#include <anynpu/settings.h>

#include "adapters/tensorflow/input/pipeline.h"
#include "adapters/tensorflow/log/log.h"

namespace npu::tensorflow {
namespace {

constexpr std::string_view kAsOptional = "IteratorGetNextAsOptional";

using Executor = std::unique_ptr<TFE_Executor, Deleter<TFE_DeleteExecutor>>;

const std::string& find(const std::vector<Attribute>& attributes, std::string_view name) {
  for (const auto& [key, bytes] : attributes)
    if (key == name) return bytes;
  throw Failure(TF_INTERNAL, "an iterator is asked for its next element without " + std::string(name));
}

bool has_value(TFE_Context* context, TFE_TensorHandle* optional) {
  const auto answer = run_on_host(context, "OptionalHasValue", nullptr, {}, {&optional, 1}, 1);
  const TensorPointer tensor(checked(TFE_TensorHandleResolve, answer.front().get()));
  return *static_cast<const bool*>(TF_TensorData(tensor.get()));
}

/// Asks TensorFlow for one element after the other, on the provider's thread.
class Puller {
 public:
  Puller(TFE_Context* context, TFE_TensorHandle* iterator, std::string name, std::string op,
         std::vector<Attribute> attributes, size_t output_count)
      : context_(context),
        iterator_(checked(TFE_TensorHandleCopySharingTensor, iterator)),
        name_(std::move(name)),
        op_(std::move(op)),
        attributes_(std::move(attributes)),
        output_count_(output_count) {}
  ~Puller() {
    if (name_.empty()) return;
    NPU_TF_LOG(kInfo, "Stopping iterator resource provider for ", name_);
    iterator_.reset();
    NPU_TF_LOG(kInfo, "Hdc channel ", name_, " closed");
  }
  Puller(const Puller&) = delete;
  Puller& operator=(const Puller&) = delete;

  Element pull() {
    try {
      return pulled();
    } catch (const Failure& e) {
      return {{}, e.code(), e.what(), true};
    } catch (const std::exception& e) {
      return {{}, TF_INTERNAL, e.what(), true};
    }
  }

 private:
  Element pulled() {
    if (executor_ == nullptr) {  // in async mode the process's own would hide failures and stop at the first
      executor_.reset(TFE_NewExecutor(false, true, 0));
      TFE_ContextSetExecutorForThread(context_, executor_.get());
    }
    Element out;
    TFE_TensorHandle* const input = iterator_.get();
    for (const TensorHandle& handle :
         run_on_host(context_, op_.c_str(), nullptr, attributes_, {&input, 1}, output_count_)) {
      out.last = op_ == kAsOptional && !has_value(context_, handle.get());
      out.values.push_back(value_of(handle.get(), ""));
    }
    return out;
  }

  TFE_Context* const context_;
  TensorHandle iterator_;
  const std::string name_, op_;
  const std::vector<Attribute> attributes_;
  const size_t output_count_;
  Executor executor_;
};

}  // namespace

bool feed_enabled() {
  static const bool enabled = std::string_view(anynpu_setting_in_force("ANYNPU_FEED")) != "0";
  return enabled;
}

bool asks_for_next(std::string_view op) {
  return op == "IteratorGetNext" || op == "IteratorGetNextSync" || asks_as_optional(op);
}

bool asks_as_optional(std::string_view op) { return op == kAsOptional; }

Feed::Feed(TFE_Context* context, TFE_TensorHandle* iterator, std::string name, bool shared)
    : context_(context),
      iterator_(checked(TFE_TensorHandleCopySharingTensor, iterator)),
      name_(std::move(name)),
      shared_(shared) {}

/// False where TensorFlow cannot save it: then nothing is read ahead.
bool Feed::keep_state() {
  // Policy 1: what the data set uses beside itself is not saved, and stays as it is.
  const Attribute policy{"external_state_policy", "\x18\x01"};
  TFE_TensorHandle* const input = iterator_.get();
  try {
    state_ = std::move(run_on_host(context_, "SerializeIterator", nullptr, {&policy, 1}, {&input, 1}, 1).front());
    return true;
  } catch (const Failure& e) {
    NPU_TF_LOG(kDebug, "Iterator ", name_, " is not read ahead, its state cannot be saved: ", e.what());
    return false;
  }
}

/// To the element after so many. Those that fail do so again, and nobody asks.
void Feed::go_back(size_t taken) const {
  TFE_TensorHandle* const both[] = {iterator_.get(), state_.get()};
  run_on_host(context_, "DeserializeIterator", nullptr, {}, both, 0);
  NPU_TF_LOG(kInfo, "Iterator ", name_, " was read ahead and is used otherwise: its ", taken,
             " elements are read once more");
  for (size_t i = 0; i < taken; ++i) {
    try {
      run_on_host(context_, pulled_op_.c_str(), nullptr, pulled_attributes_, {both, 1}, outputs_);
    } catch (const Failure& e) {
      if (e.code() == TF_OUT_OF_RANGE) return;
    }
  }
}

Feed::~Feed() {
  if (channel_ != nullptr) channel_->abandon();
}

/// After its provider was ended from outside, with elements that nobody had taken; one is being asked for.
void Feed::go_on_alone() {
  const std::lock_guard lock(mutex_);
  if (retired_ || ended_ || !shared_) return;
  channel_ = nullptr, retired_ = true;
  go_back(asked_ - 1);
}

std::optional<Element> Feed::take(const std::string& op, const std::vector<Attribute>& attributes,
                                  size_t output_count) {
  std::shared_ptr<Channel> channel;
  {
    const std::lock_guard lock(mutex_);
    if (!retired_ && asked_++ == 0 && shared_) retired_ = !keep_state();
    // One element is no reason for a thread: the second is.
    if (channel_ == nullptr && !retired_ && asked_ > 1) {
      auto puller = std::make_shared<Puller>(context_, iterator_.get(), name_, op, attributes, output_count);
      const size_t depth = depth_of(attributes);
      pulled_op_ = op, pulled_attributes_ = attributes, outputs_ = output_count;
      channel_ = Channel::open(depth, [puller] { return puller->pull(); });
      retired_ = channel_ == nullptr;
      if (channel_ != nullptr) NPU_TF_LOG(kDebug, "Iterator resource provider for ", name_, " started, depth ", depth);
    }
    channel = channel_;
  }
  if (channel == nullptr) return std::nullopt;
  std::optional<Element> element = channel->take();
  if (!element) go_on_alone();
  if (element && element->last) ended_ = true;
  return element;
}

std::vector<Value> Feed::next(const std::string& op, const std::vector<Attribute>& attributes, size_t output_count) {
  std::optional<Element> element = take(op, attributes, output_count);
  if (element) return converted(std::move(*element), op, attributes, output_count);
  TFE_TensorHandle* const input = iterator_.get();
  return values_of(run_on_host(context_, op.c_str(), nullptr, attributes, {&input, 1}, output_count), "");
}

/// The element was pulled by `pulled_op_`; `op` may be the other way to ask.
std::vector<Value> Feed::converted(Element element, const std::string& op, const std::vector<Attribute>& attributes,
                                   size_t output_count) const {
  const bool from_optional = pulled_op_ == kAsOptional, to_optional = op == kAsOptional;
  const bool ended = element.code == TF_OUT_OF_RANGE;
  if (element.code != TF_OK && !(ended && to_optional)) throw Failure(element.code, element.message);
  if (from_optional == to_optional) return std::move(element.values);
  if (ended) return on_host("OptionalNone", {}, {}, 1);
  const std::string &types = find(attributes, "output_types"), &shapes = find(attributes, "output_shapes");
  if (to_optional) return on_host("OptionalFromValue", {{"Toutput_types", types}}, element.values, 1);
  if (!has_value(context_, host_handle(context_, element.values.front().get()).get()))
    throw Failure(TF_OUT_OF_RANGE, "End of sequence");
  return on_host("OptionalGetValue", {{"output_types", types}, {"output_shapes", shapes}}, element.values,
                 output_count);
}

std::vector<Value> Feed::on_host(const char* op, const std::vector<Attribute>& attributes,
                                 const std::vector<Value>& inputs, size_t output_count) const {
  std::vector<TensorHandle> handles;
  std::vector<TFE_TensorHandle*> raw;
  for (const Value& input : inputs) raw.push_back(handles.emplace_back(host_handle(context_, input.get())).get());
  return values_of(run_on_host(context_, op, nullptr, attributes, raw, output_count), "");
}

void Feed::retire() {
  const std::lock_guard lock(mutex_);
  const size_t left = channel_ == nullptr ? 0 : channel_->stop();
  if (left > 0 && shared_)
    go_back(asked_);
  else if (left > 0)
    throw Failure(TF_FAILED_PRECONDITION,
                  "the iterator was read " + std::to_string(left) +
                      " elements ahead, so its state is not that of the elements consumed; set ANYNPU_FEED=0 to "
                      "save it or to hand it to other operators");
  channel_ = nullptr;
  retired_ = true;
}

void Feed::reset() {
  const std::lock_guard lock(mutex_);
  if (channel_ != nullptr) channel_->stop();
  channel_ = nullptr;
  retired_ = true;
}

}  // namespace npu::tensorflow
