// SPDX-License-Identifier: Apache-2.0
// The dump files of one folder by the operators they belong to: of all generations of names, and arrays that another
// framework's run left.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dump/record/dump_file.h"
#include "tools/compare/tensor/tensor.h"

namespace npu::compare {

/// What ran to leave the files.
enum class Origin {
  kDevice,     ///< dump files of the NPU
  kStandard,   ///< one file for each output, of a model as its framework runs it
  kQuantized,  ///< the same of a model that was quantised
};

struct FoundFile {
  std::string path;
  std::string name;  ///< that it should have, where mapping.csv knows a longer one
  uint64_t timestamp = 0;
};

class DumpFolder {
 public:
  /// Raises a Refusal for what is no folder, holds no dump file, or files of several kinds.
  explicit DumpFolder(std::string path);

  const std::string& path() const { return path_; }
  Origin origin() const { return origin_; }
  /// Whether a file of NumPy is there: results then have no column for this side's addresses.
  bool has_npy() const { return has_npy_; }
  /// The newest file of an operator, or of one of its outputs where the folder has a file for each; null for none.
  const FoundFile* find(std::string_view op_name, size_t output = 0) const;
  /// Operators in the order in which their newest files were written.
  std::vector<std::string> operators() const;
  /// Operators of which files of several slices are there (FFTS+): find() knows the newest one alone.
  std::vector<std::string> sliced() const;

 private:
  enum class Kind { kDump, kNpy, kPb, kQuant };
  void add(const std::string& path, const std::string& name);
  void keep(const std::string& key, Kind kind, FoundFile file);
  void settle(Kind kind, const std::string& file);

  std::string path_;
  Origin origin_ = Origin::kDevice;
  bool has_npy_ = false, quantized_ = false;
  std::optional<Kind> kind_;
  std::map<std::string, FoundFile, std::less<>> newest_;
  std::map<std::string, std::set<std::string>> slices_;
};

/// A file of either kind, opened. The tensors are parts of it.
class Opened {
 public:
  explicit Opened(const FoundFile& file);
  const std::string& path() const { return path_; }
  const std::vector<Tensor>& inputs() const { return inputs_; }
  const std::vector<Tensor>& outputs() const { return outputs_; }
  /// The header of a dump file; null for an array.
  const graph::record::DumpFile* dump() const { return dump_ ? &*dump_ : nullptr; }

 private:
  std::string path_;
  std::optional<graph::record::DumpFile> dump_;
  std::optional<graph::record::MappedFile> array_;
  std::vector<Tensor> inputs_, outputs_;
};

/// The type that stands in front of a dump file's name.
std::string op_type_of(std::string_view file);

}  // namespace npu::compare
