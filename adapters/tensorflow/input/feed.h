// SPDX-License-Identifier: Apache-2.0
// An iterator that is read ahead: its elements wait here for the steps that consume them.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/tensorflow/input/channel.h"
#include "adapters/tensorflow/tensor/handle.h"

namespace npu::tensorflow {

class Feed final : public ElementSource {
 public:
  /// `iterator` is TensorFlow's handle; nobody else may use it while the feed has elements of it. `name` is for the
  /// log. `shared`: it can be given back at any time. Its state before the first element is kept for that, which holds
  /// none; it then goes there, and gives once more what was taken.
  Feed(TFE_Context* context, TFE_TensorHandle* iterator, std::string name, bool shared);
  ~Feed() override;
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  std::vector<Value> next(const std::string& op, const std::vector<Attribute>& attributes,
                          size_t output_count) override;
  void retire() override;
  void reset() override;

 private:
  bool keep_state();
  void go_back(size_t taken) const;
  void go_on_alone();
  std::optional<Element> take(const std::string& op, const std::vector<Attribute>& attributes, size_t output_count);
  std::vector<Value> converted(Element element, const std::string& op, const std::vector<Attribute>& attributes,
                               size_t output_count) const;
  std::vector<Value> on_host(const char* op, const std::vector<Attribute>& attributes, const std::vector<Value>& inputs,
                             size_t output_count) const;

  TFE_Context* const context_;
  const TensorHandle iterator_;
  const std::string name_;
  std::mutex mutex_;
  std::shared_ptr<Channel> channel_;
  std::string pulled_op_;
  std::vector<Attribute> pulled_attributes_;  ///< of the last that was asked
  size_t outputs_ = 0;
  const bool shared_;
  TensorHandle state_;  ///< of a shared one, before its first element
  size_t asked_ = 0;
  bool retired_ = false, ended_ = false;
};

/// Whether iterators are read ahead in this process: unless ANYNPU_FEED is 0.
bool feed_enabled();
bool asks_for_next(std::string_view op);
/// Of these, the one that answers with an optional.
bool asks_as_optional(std::string_view op);

}  // namespace npu::tensorflow
