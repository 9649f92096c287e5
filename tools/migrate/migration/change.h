// SPDX-License-Identifier: Apache-2.0
// What became of a file.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tools/migrate/names/value.h"
#include "tools/migrate/text/edit.h"

namespace npu::migrate {

/// One row of the reports.
struct Change {
  enum class Kind { kInsert, kModify, kDelete, kNote };
  std::string rule;
  Kind kind = Kind::kModify;
  size_t line = 0, last_line = 0;  ///< of the original file, from 1
  size_t begin = 0, end = 0;       ///< its bytes there
  std::string before, after;       ///< what stood there and stands there; "" for notes
  std::string message;
  /// Of a note: "unsupported" (no way to migrate), "manual" (to be done by hand), "unsure" (left as it is, with the
  /// reason). "" for changes.
  std::string report;
};

/// What a row says, in one line.
std::string report_line(const Change& change);

/// A use of an API, for the reports of support.
struct Use {
  size_t line = 0;
  std::string name;
};

/// An edit that a file asks of another: the literal in a module of settings that reaches a device argument here.
struct Remote {
  Place place;
  std::string text;
  Change change;
  bool numbered = false;  ///< a device with its number
};

struct FileResult {
  std::string path;  ///< below the input
  std::string before, after;
  std::vector<LineSpan> lines;       ///< what changed, as lines
  std::set<std::string> frameworks;  ///< first parts of the modules it imports; keras counts as tensorflow too
  std::vector<Change> changes;
  std::vector<Use> uses;
  std::vector<Remote> remote;
  /// Modules it needs, as it comes out, which this release of npu_device has not yet: it cannot run.
  std::set<std::string> waits_for;
  bool begins = false;           ///< the program begins in it, as far as can be seen
  bool trains_unopened = false;  ///< it trains by TensorFlow, and nothing that opens an NPU is seen to run it
  bool opens = false;            ///< it opens an NPU, with or without a change …
  bool wraps = false;            ///< … and so it wraps a model in DistributedDataParallel
  std::string failure;           ///< why the file was left as it is; "" where nothing failed
  bool changed() const { return before != after; }
};

}  // namespace npu::migrate
