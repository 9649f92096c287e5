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
  /// log.
  Feed(TFE_Context* context, TFE_TensorHandle* iterator, std::string name);
  ~Feed() override;
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  std::vector<Value> next(const std::string& op, const std::vector<Attribute>& attributes,
                          size_t output_count) override;
  void retire() override;
  void reset() override;

 private:
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
  size_t asked_ = 0;
  bool retired_ = false;
};

/// Whether iterators are read ahead in this process: unless ANYNPU_FEED is 0.
bool feed_enabled();
bool asks_for_next(std::string_view op);
/// Of these, the one that answers with an optional.
bool asks_as_optional(std::string_view op);

}  // namespace npu::tensorflow
