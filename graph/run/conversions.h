// SPDX-License-Identifier: Apache-2.0
// Large constants in other types, as long as plans hold them: what several plans need is converted once.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <tuple>

#include "graph/ir/attribute.h"

namespace npu::graph {

class Conversions {
 public:
  std::optional<Literal> find(const Literal& from, DType to);
  void keep(const Literal& from, const Literal& to);

 private:
  using Key = std::tuple<const std::byte*, DType, DType>;  ///< where the elements lie, from, to
  struct Kept {
    std::weak_ptr<const void> source;  ///< gone: something else may lie where it was
    std::weak_ptr<const void> keeper;
    std::span<const std::byte> bytes;
  };

  std::mutex mutex_;
  std::map<Key, Kept> kept_;
};

}  // namespace npu::graph
