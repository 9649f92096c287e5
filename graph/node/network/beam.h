// SPDX-License-Identifier: Apache-2.0
// Beam search over sequences of labels and blanks (Graves 2012, section 7.5): of all prefixes the likeliest are
// extended with every time step. It rounds and breaks ties as TensorFlow's decoder does, which keeps them in a heap.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"

namespace npu::graph {

/// The best `limit` elements. An array until more came, then a heap with the worst element first. The order in which
/// equal elements leave is part of its behaviour.
template <class T, class Better>
class BestOf {
 public:
  explicit BestOf(size_t limit) : limit_(limit) {}
  size_t size() const { return all_.size(); }
  const std::vector<T>& unsorted() const { return all_; }

  void push(const T& one) {
    if (state_ == State::kHeap) return replace_worst(one);
    all_.push_back(one);
    if (all_.size() == limit_ + 1) {
      std::make_heap(all_.begin(), all_.end(), better_);
      std::pop_heap(all_.begin(), all_.end(), better_);
      all_.pop_back();
      state_ = State::kHeap;
    } else if (state_ == State::kWorstFirst && !better_(all_.back(), all_.front())) {
      std::swap(all_.front(), all_.back());
    }
  }
  const T& worst() {
    if (state_ == State::kUnordered) {
      size_t at = 0;
      for (size_t i = 1; i < all_.size(); ++i)
        if (better_(all_[at], all_[i])) at = i;
      if (at != 0) std::swap(all_[0], all_[at]);
      state_ = State::kWorstFirst;
    }
    return all_.front();
  }
  /// All of them, the best first; none is left.
  std::vector<T> take() {
    if (state_ == State::kHeap)
      std::sort_heap(all_.begin(), all_.end(), better_);
    else
      std::sort(all_.begin(), all_.end(), better_);
    state_ = State::kUnordered;
    return std::exchange(all_, {});
  }

 private:
  enum class State : uint8_t { kUnordered, kWorstFirst, kHeap };
  void replace_worst(const T& one) {
    if (!better_(one, all_.front())) return;
    std::pop_heap(all_.begin(), all_.end(), better_);
    all_.back() = one;
    std::push_heap(all_.begin(), all_.end(), better_);
  }

  size_t limit_;
  std::vector<T> all_;
  Better better_;
  State state_ = State::kUnordered;
};

/// One search; T is the type of the scores. The last class is the blank.
template <class T>
class BeamSearch {
 public:
  BeamSearch(int64_t classes, int64_t width) : classes_(classes), width_(static_cast<size_t>(width)), leaves_(width_) {
    Prefix* root = make(nullptr, -1);
    root->now = {0, 0, kNever};
    leaves_.push(root);
  }

  /// The scores of all classes at the next time step, before softmax.
  void step(const T* scores) {
    const T offset = log_sum(scores);
    const std::vector<Prefix*> before = leaves_.take();
    for (Prefix* one : before) one->past = one->now;
    for (Prefix* one : before) {
      stay(*one, scores, offset);
      leaves_.push(one);
    }
    for (Prefix* one : before)
      if (competes(one->past)) extend(*one, scores, offset);
  }

  struct Path {
    std::vector<int64_t> labels;
    T score;
  };
  /// The `count` likeliest sequences. Raises 161002 where there are fewer.
  std::vector<Path> best(int64_t count, bool merge) const {
    require(std::cmp_less_equal(count, width_), "requested more paths than the beam width.");
    require(std::cmp_less_equal(count, leaves_.size()), "Less leaves in the beam search than requested.");
    BestOf<Prefix*, Likelier> top(static_cast<size_t>(count));
    for (Prefix* one : leaves_.unsorted()) top.push(one);
    std::vector<Path> out;
    for (const Prefix* one : top.take()) out.push_back({labels_of(one, merge), one->now.total});
    return out;
  }

 private:
  static constexpr T kNever = -std::numeric_limits<T>::infinity();
  /// Logarithms of probabilities: of the prefix, and of its ending with a blank or with its last label.
  struct Odds {
    T total = kNever, blank = kNever, label = kNever;
  };
  struct Prefix {
    Prefix* parent;
    int64_t label;
    std::map<int64_t, Prefix*> children = {};
    Odds past = {}, now = {};
    bool active() const { return now.total != kNever; }
  };
  struct Likelier {
    bool operator()(const Prefix* a, const Prefix* b) const { return a->now.total > b->now.total; }
  };

  Prefix* make(Prefix* parent, int64_t label) {
    all_.push_back(std::make_unique<Prefix>(Prefix{parent, label}));
    return all_.back().get();
  }
  Prefix& child_of(Prefix& one, int64_t label) {
    Prefix*& child = one.children[label];
    if (child == nullptr) child = make(&one, label);
    return *child;
  }

  T log_sum(const T* scores) const {
    const T most = *std::max_element(scores, scores + classes_);
    T sum = 0;
    for (int64_t i = 0; i < classes_; ++i) sum += std::exp(scores[i] - most);
    return most + std::log(sum);
  }
  /// log(exp(a) + exp(b)); the correction is a float, whatever T is.
  static T either(T a, T b) {
    if (a == kNever) return b;
    if (b == kNever) return a;
    const T high = a > b ? a : b, low = a > b ? b : a;
    return high + std::log1p(std::exp(static_cast<float>(low - high)));
  }
  /// The prefix goes on with its last label or a blank.
  void stay(Prefix& one, const T* scores, T offset) const {
    if (one.parent != nullptr) {
      if (one.parent->active())
        one.now.label =
            either(one.now.label, one.label == one.parent->label ? one.parent->past.blank : one.parent->past.total);
      one.now.label += scores[one.label] - offset;
    }
    one.now.blank = one.past.total + scores[classes_ - 1] - offset;
    one.now.total = either(one.now.blank, one.now.label);
  }
  bool competes(const Odds& odds) {
    return odds.total > kNever && (leaves_.size() < width_ || odds.total > leaves_.worst()->now.total);
  }
  /// The prefix with each label behind it.
  void extend(Prefix& one, const T* scores, T offset) {
    for (int64_t label = 0; label + 1 < classes_; ++label) {
      Prefix& child = child_of(one, label);
      if (child.active()) continue;
      const T odds = scores[label] - offset + (label == one.label ? one.past.blank : one.past.total);
      child.now = {odds, kNever, odds};
      if (!competes(child.now)) {
        child.past = child.now = {};
        continue;
      }
      if (leaves_.size() == width_) leaves_.worst()->now = {};
      leaves_.push(&child);
    }
  }
  static std::vector<int64_t> labels_of(const Prefix* one, bool merge) {
    std::vector<int64_t> out;
    for (int64_t last = -1; one->parent != nullptr; last = one->label, one = one->parent)
      if (!merge || one->label != last) out.push_back(one->label);
    std::reverse(out.begin(), out.end());
    return out;
  }

  const int64_t classes_;
  const size_t width_;
  std::vector<std::unique_ptr<Prefix>> all_;  ///< of one search; it grows with time steps, beam width and classes
  BestOf<Prefix*, Likelier> leaves_;
};

}  // namespace npu::graph
