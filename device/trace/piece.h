// SPDX-License-Identifier: Apache-2.0
// A file that grows by pieces, each of which one thread fills in memory; the system writes it, also when the process is
// killed.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>

namespace npu::device::trace {

/// Whole numbers of records and of pages.
inline constexpr size_t kPieceBytes = size_t{24} << 12;

/// A mapped piece; unmapped with its last owner.
using Piece = std::shared_ptr<std::byte>;

class PieceFile {
 public:
  explicit PieceFile(std::string path) : path_(std::move(path)) {}
  ~PieceFile();
  PieceFile(const PieceFile&) = delete;
  PieceFile& operator=(const PieceFile&) = delete;

  /// The next piece, all zero. The disk has room for it: raises 100000 where it has none.
  Piece next();

 private:
  /// Writes the next piece.
  void clear() const;
  [[noreturn]] void refuse(int error) const;

  const std::string path_;
  int file_ = -1;  ///< made with the first piece
  off_t size_ = 0;
};

}  // namespace npu::device::trace
