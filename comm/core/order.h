// SPDX-License-Identifier: Apache-2.0
// The collectives that a function makes in one group, one after the other. A rank shows them with the first of them
// when it runs the function for the first time: so ranks whose functions differ hear it before anything was exchanged,
// not in the middle of a step, where calls that happen to fit would mix up what belongs to different tensors.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace npu::comm {

class Order {
 public:
  static constexpr size_t kMostBytes = 32 << 10;  ///< of a text: some 600; what comes behind is not compared

  /// `function` is told in texts; those of two ranks need not have the same name.
  explicit Order(std::string_view function);
  /// The next one: "HcomAllReduce (sum) of float32" and "[4, ?]", or "" where ranks may give unlike shapes.
  void add(std::string_view what, std::string_view shape);

  /// For order_difference.
  const std::string& text() const { return text_; }

 private:
  bool full_ = false;
  std::string text_;
};

struct OrderDifference {
  std::string function;  ///< of the first of both
  size_t place;          ///< 1 for the first collective
  std::string one, other;
};
/// The first collective in which two texts differ; null where they do not: a size that one does not know fits any.
std::optional<OrderDifference> order_difference(std::string_view one, std::string_view other);

/// What the calling thread shows: of each group, with the next collective that it makes there. Until its end.
class Announcement {
 public:
  using ByGroup = std::map<std::string, Order, std::less<>>;
  explicit Announcement(ByGroup orders) : orders_(std::move(orders)), before_(current_) { current_ = this; }
  ~Announcement() { current_ = before_; }
  Announcement(const Announcement&) = delete;
  Announcement& operator=(const Announcement&) = delete;

  /// That of the calling thread, for one that makes calls in its stead while it lasts.
  static Announcement* current() { return current_; }
  class Elsewhere {
   public:
    explicit Elsewhere(Announcement* of) : before_(std::exchange(current_, of)) {}
    ~Elsewhere() { current_ = before_; }
    Elsewhere(const Elsewhere&) = delete;
    Elsewhere& operator=(const Elsewhere&) = delete;

   private:
    Announcement* const before_;
  };

  /// What is to be shown in that group, once; null for most calls.
  static std::unique_ptr<const Order> take(std::string_view group) {
    return current_ == nullptr ? nullptr : current_->taken(group);
  }

 private:
  std::unique_ptr<const Order> taken(std::string_view group);
  std::mutex mutex_;
  ByGroup orders_;
  Announcement* const before_;
  inline static thread_local constinit Announcement* current_ = nullptr;
};

}  // namespace npu::comm
