// SPDX-License-Identifier: Apache-2.0
// Elements of one iterator on their way: a provider thread pulls them ahead into a bounded queue. Nothing here calls
// TensorFlow; what is pulled is the owner's business.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "adapters/tensorflow/c_api/owned.h"

namespace npu::tensorflow {

/// What one pull gave: values, or a failure. After the last one nothing is pulled ahead any more.
struct Element {
  std::vector<Value> values;
  TF_Code code = TF_OK;
  std::string message;
  bool last = false;
};

class Channel : public std::enable_shared_from_this<Channel> {
 public:
  using Pull = std::function<Element()>;

  /// A channel with its provider thread, which calls `pull`, one call at a time; null after close_all, or when the
  /// system has no thread left. `pull` must not throw; it is destroyed when the provider ends.
  static std::shared_ptr<Channel> open(size_t depth, Pull pull);

  /// The next element, in order, waiting for it; nothing when the provider has ended and all was taken.
  std::optional<Element> take();
  /// Ends the provider once its pull under way is over, and tells how many elements are left to take.
  size_t stop();
  /// Ends the provider without waiting for it; what was not taken is dropped, what is being pulled now too.
  void abandon();

  /// Abandons all channels of the process, `for_good` those to come too; true when every provider has ended within
  /// `patience`.
  static bool close_all(std::chrono::milliseconds patience, bool for_good);

 private:
  Channel(size_t depth, Pull pull) : depth_(depth), pull_(std::move(pull)) {}
  void provide();

  const size_t depth_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Element> queue_;
  // The queue starts short and grows each time a taker had to wait: memory is only used where it helps.
  size_t window_ = 2;
  bool stopped_ = false, abandoned_ = false;
  bool ended_ = false;
  Pull pull_;
};

}  // namespace npu::tensorflow
