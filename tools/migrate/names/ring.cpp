// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/names/ring.h"

#include <algorithm>

namespace npu::migrate {
namespace {

/// Tarjan's way through the graph, without recursion: chains of imports may be as long as the project has files.
class Search {
 public:
  explicit Search(const std::vector<std::vector<size_t>>& imports) : imports_(imports), marks_(imports.size()) {}

  std::vector<std::vector<size_t>> done() {
    for (size_t root = 0; root < marks_.size(); ++root) {
      if (marks_[root].order == 0) enter(root);
      while (!path_.empty()) step(path_.back());
    }
    return std::move(rings_);
  }

 private:
  struct Mark {
    size_t order = 0, low = 0;  // order: when it was entered, from 1; low: the earliest that it reaches
    size_t next = 0;            // of its imports
    bool open = false;          // its ring is not known yet
  };

  void enter(size_t module) {
    ++count_;
    marks_[module] = {count_, count_, 0, true};
    open_.push_back(module);
    path_.push_back(module);
  }

  void step(size_t at) {
    Mark& mark = marks_[at];
    if (mark.next == imports_[at].size()) return leave(at);
    const size_t to = imports_[at][mark.next++];
    if (marks_[to].order == 0)
      enter(to);
    else if (marks_[to].open)
      mark.low = std::min(mark.low, marks_[to].order);
  }

  void leave(size_t at) {
    path_.pop_back();
    if (!path_.empty()) marks_[path_.back()].low = std::min(marks_[path_.back()].low, marks_[at].low);
    if (marks_[at].low != marks_[at].order) return;
    std::vector<size_t>& ring = rings_.emplace_back();
    do {
      ring.push_back(open_.back());
      marks_[open_.back()].open = false;
      open_.pop_back();
    } while (ring.back() != at);
  }

  const std::vector<std::vector<size_t>>& imports_;
  std::vector<Mark> marks_;
  std::vector<size_t> open_, path_;
  std::vector<std::vector<size_t>> rings_;
  size_t count_ = 0;
};

}  // namespace

std::vector<std::vector<size_t>> rings(const std::vector<std::vector<size_t>>& imports) {
  return Search(imports).done();
}

}  // namespace npu::migrate
