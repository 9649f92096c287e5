// SPDX-License-Identifier: Apache-2.0
// Changes of byte ranges of one file. All offsets are those of the original text; what no edit names stays byte-equal.
#pragma once

#include <string>
#include <vector>

#include "tools/migrate/text/source.h"

namespace npu::migrate {

/// Puts `text` in the place of [begin, end). An insertion has begin == end.
struct Edit {
  size_t begin = 0, end = 0;
  std::string text;
  size_t change = 0;  ///< which change it belongs to (an index the caller gives it)
  /// Among insertions at one place: those that close a wrapping come before those that open one; outer wrappings open
  /// earlier and close later. Edits are made outermost first, so earlier ones are the outer ones.
  bool closes = false;
};

/// Lines [begin, end) of the old text, which became lines [after_begin, after_end) of the new one; all from 1.
struct LineSpan {
  size_t begin = 0, end = 0, after_begin = 0, after_end = 0;
  bool operator==(const LineSpan&) const = default;
};

class Edits {
 public:
  void replace(size_t begin, size_t end, std::string text, size_t change) {
    add({begin, end, std::move(text), change, false});
  }
  void insert(size_t at, std::string text, size_t change) { add({at, at, std::move(text), change, false}); }
  /// An insertion that belongs to what ends there, not to what begins.
  void append(size_t at, std::string text, size_t change) { add({at, at, std::move(text), change, true}); }
  void wrap(size_t begin, size_t end, std::string before, std::string after, size_t change);
  bool empty() const { return edits_.empty(); }
  /// Takes back all edits of a change.
  void drop(size_t change) {
    std::erase_if(edits_, [&](const Edit& edit) { return edit.change == change; });
  }
  /// Takes back what was put in the place of parts of [begin, end), all of which goes.
  void drop_inside(size_t begin, size_t end) {
    std::erase_if(edits_,
                  [&](const Edit& edit) { return edit.begin < edit.end && begin <= edit.begin && edit.end <= end; });
  }
  /// Whether something is inserted there already.
  bool inserted(size_t at) const;
  /// Whether something else is put in the place of all of [begin, end).
  bool replaced(size_t begin, size_t end) const;

  /// Drops whole changes whose edits cross another's (the later change gives way); their numbers come back.
  std::vector<size_t> settle();
  /// The new text; call settle() before.
  std::string applied(const Source& source) const;
  /// What became of a part of the text; at its ends only what belongs to `change` is put in.
  std::string applied(const Source& source, size_t begin, size_t end, size_t change) const;
  /// What applied() changes, as lines, in their order; lines that came out as they were are left out.
  std::vector<LineSpan> lines(const Source& before, const Source& after) const;
  /// In the order of the text, after settle().
  const std::vector<Edit>& list() const { return edits_; }

 private:
  void add(Edit edit) { edits_.push_back(std::move(edit)); }
  std::vector<Edit> edits_;
};

}  // namespace npu::migrate
