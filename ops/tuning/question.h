// SPDX-License-Identifier: Apache-2.0
// Where a kernel can be computed in several ways, its planning asks which one to take: a bank of what was measured on
// this class of CPU may know (bank.h), a trial tries one, and else the way that the code takes by itself is taken.
// Without a bank, asking costs one load.
//
//   constexpr std::string_view kWays[] = {"own", "library"};
//   const Point kPoint("product_way", "Which kernels multiply matrices.", kWays);
//   const Question question(kPoint, [&] { return fmt::format("m={} n={} k={}", m, n, k); });
//   const size_t way = question.answer().value_or(usual);
//   question.took(way);
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/tuning/bank.h"

namespace npu::ops::tuning {

/// A place where one of several ways is taken. Lives for ever; banks name it.
class Point {
 public:
  Point(std::string_view name, std::string_view purpose, std::span<const std::string_view> ways);
  std::string_view name, purpose;
  std::span<const std::string_view> ways;  ///< their names; results agree up to rounding
  std::optional<size_t> find(std::string_view way) const;
};
/// All of them, by name.
std::vector<const Point*> points();
const Point* find_point(std::string_view name);

/// What was asked while a Trial lived.
struct Asked {
  const Point* point;
  std::string key;
  std::optional<size_t> way;  ///< the one taken, as far as it was told
};

/// While it lives, it sees each question that this thread asks, and answers those that it was told to. The bank answers
/// the others as always.
class Trial {
 public:
  Trial();
  ~Trial();
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  /// The way to take, or none for the usual one.
  void answer(const Point& point, std::string key, std::optional<size_t> way);
  /// In order. A way that was answered and does not apply is not the one that was taken.
  const std::vector<Asked>& asked() const { return asked_; }

 private:
  friend class Question;
  const Asked* told(const Point& point, std::string_view key) const;

  Trial* const outer_;
  std::vector<Asked> answers_, asked_;
};

class Question {
 public:
  /// `make_key` says for what, in a text that is the same for equal work; called where somebody may answer.
  template <class MakeKey>
  Question(const Point& point, MakeKey&& make_key) {
    if (detail::awake.load(std::memory_order_relaxed)) [[unlikely]]
      ask(point, std::forward<MakeKey>(make_key)());
  }
  /// The way to take, by its position among the point's; none where the usual one is right.
  std::optional<size_t> answer() const { return answer_; }
  /// The way that was taken in the end.
  void took(size_t way) const {
    if (trial_ != nullptr) [[unlikely]]
      trial_->asked_[number_].way = way;
  }

 private:
  void ask(const Point& point, std::string key);

  std::optional<size_t> answer_;
  Trial* trial_ = nullptr;
  size_t number_ = 0;
};

}  // namespace npu::ops::tuning
