// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/kept_product.h"

#include <algorithm>

#include "base/division.h"
#include "base/thread_pool.h"

namespace npu::ops {
namespace {

constexpr int64_t kLeastRows = 16, kLeastColumns = 16, kLeastDepth = 16;
constexpr int64_t kPartWork = int64_t{1} << 20;  // multiply-adds that pay for another part
constexpr int64_t kParts = 16;                   // for more there are no cores

int64_t parts_of(const KeptProduct::Shape& s) {
  return even_parts(std::clamp<int64_t>(s.m * s.n * s.k / kPartWork, 1, kParts), s.m, kLeastRows);
}

}  // namespace

std::shared_ptr<const KeptProduct> KeptProduct::make(const Shape& s) {
  if (s.m < kLeastRows || s.n < kLeastColumns || s.k < kLeastDepth) return nullptr;
  auto made = std::make_shared<KeptProduct>();
  made->shape_ = s;
  const int64_t parts = parts_of(s);
  for (int64_t i = 0; i < parts; ++i) {
    if (!made->add(s.m * i / parts, s.m * (i + 1) / parts)) return nullptr;
  }
  return made;
}

// One order of b serves all parts.
bool KeptProduct::add(int64_t begin, int64_t end) {
  const Shape& s = shape_;
  auto kernel = cube::OnednnMatmul::get(
      {DType::kFloat, false, s.trans_b, end - begin, s.n, s.k, s.k, s.ldb, DType::kFloat, /*ordered=*/true, s.bias});
  if (kernel == nullptr || (!parts_.empty() && !kernel->same_right(*parts_[0].kernel))) return false;
  parts_.push_back({{begin, end - begin, 0, s.n, 0, s.k}, std::move(kernel)});
  return true;
}

void KeptProduct::run(const Operands& o, const std::function<void(const cube::Tile&)>& after) const {
  const auto& first = *parts_[0].kernel;
  const std::byte* right =
      right_.of(o.b, static_cast<int64_t>(first.right_bytes()), [&](std::byte* to) { first.order_right(o.b, to); });
  parallel_parts(static_cast<int64_t>(parts_.size()), [&](int64_t i) {
    const Part& part = parts_[static_cast<size_t>(i)];
    part.kernel->run(o.a + part.tile.row * shape_.k, right, o.c + part.tile.row * shape_.n, o.bias);
    after(part.tile);
  });
}

}  // namespace npu::ops
