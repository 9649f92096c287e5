// SPDX-License-Identifier: Apache-2.0
#include "ops/tuning/question.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace npu::ops::tuning {
namespace {

using Table = std::map<std::string_view, const Point*>;
Table& table() {
  static Table& all = *new Table;  // points of other files may register before this one is initialised
  return all;
}

thread_local Trial* current = nullptr;  // NOLINT: of a thread that tries

// How many live: while there is one, questions are asked even where there is no bank.
std::mutex trials_mutex;
int64_t trials = 0;

void count_trials(int64_t change) {
  const std::lock_guard lock(trials_mutex);
  trials += change;
  detail::awake.store(trials > 0 || has_answers(Job::kOperators), std::memory_order_relaxed);
}

}  // namespace

Point::Point(std::string_view point_name, std::string_view point_purpose, std::span<const std::string_view> point_ways)
    : name(point_name), purpose(point_purpose), ways(point_ways) {
  table().emplace(name, this);
}

std::optional<size_t> Point::find(std::string_view way) const {
  const auto at = std::ranges::find(ways, way);
  if (at == ways.end()) return std::nullopt;
  return static_cast<size_t>(at - ways.begin());
}

std::vector<const Point*> points() {
  std::vector<const Point*> all;
  for (const auto& [name, point] : table()) all.push_back(point);
  return all;
}

const Point* find_point(std::string_view name) {
  const auto at = table().find(name);
  return at == table().end() ? nullptr : at->second;
}

Trial::Trial() : outer_(current) {
  current = this;
  count_trials(1);
}

Trial::~Trial() {
  current = outer_;
  count_trials(-1);
}

void Trial::answer(const Point& point, std::string key, std::optional<size_t> way) {
  answers_.push_back({&point, std::move(key), way});
}

const Asked* Trial::told(const Point& point, std::string_view key) const {
  const auto at =
      std::ranges::find_if(answers_, [&](const Asked& one) { return one.point == &point && one.key == key; });
  return at == answers_.end() ? nullptr : &*at;
}

void Question::ask(const Point& point, std::string key) {
  trial_ = current;
  const Asked* told = trial_ == nullptr ? nullptr : trial_->told(point, key);
  if (told != nullptr)
    answer_ = told->way;
  else if (const auto way = answer_of(Job::kOperators, point.name, key))
    answer_ = point.find(*way);
  if (trial_ != nullptr) {
    number_ = trial_->asked_.size();
    trial_->asked_.push_back({&point, std::move(key), std::nullopt});
  } else if (!has_answers(Job::kOperators)) {
    count_trials(0);  // nobody will have to ask again
  }
}

}  // namespace npu::ops::tuning
