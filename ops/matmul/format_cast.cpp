// SPDX-License-Identifier: Apache-2.0
// A matrix laid out in blocks, or one in blocks laid out row by row.
#include <cstring>

#include "ops/matmul/blocked.h"
#include "ops/operator.h"

namespace npu::ops {
namespace {

void check_blocked(const Tensor& t, const char* name) {
  require(t.contiguous() && t.offset == 0, "{} is {} in ACL_FORMAT_FRACTAL_NZ, strides {}, offset {}: give it whole",
          name, t, t.strides, t.offset);
  check_room(t.data, blocked_bytes(t), name);
}

/// dst = src, of which one at least is in ACL_FORMAT_FRACTAL_NZ.
struct FormatCast final : Operator {
  Tensor src, dst;

  void prepare() override {
    require(is_blocked(src.format) || is_blocked(dst.format),
            "src and dst are in plain formats ({} and {}); one of them must be in ACL_FORMAT_FRACTAL_NZ, or copy",
            src.format, dst.format);
    require(src.dtype == dst.dtype && src.shape == dst.shape, "src is {}, dst is {}: they must agree", src, dst);
    require(src.rank() >= 2, "src is {}; ACL_FORMAT_FRACTAL_NZ needs a matrix", src);
    for (const auto& [t, name] : {std::pair(&src, "src"), std::pair(&dst, "dst")}) {
      if (is_blocked(t->format)) check_blocked(*t, name);
      require(t->contiguous(), "{} is {} with strides {}; it must be row-major", name, *t, t->strides);
    }
  }
  void run() override {
    if (src.count() == 0) return;
    // Through row-major memory: one of the two is that in most calls, and two widths of blocks meet there.
    Scratch<std::byte> room;
    const std::byte* plain = src.bytes();
    if (is_blocked(src.format)) {
      std::byte* to = is_blocked(dst.format) ? room.at_least(bytes_of(src)) : dst.bytes();
      unpack(src, to);
      plain = to;
    }
    if (is_blocked(dst.format)) pack(plain, dst);
  }
  int64_t cost() const override { return 500 + src.count() / 4; }
};

NPU_OPERATOR(FormatCast, "format_cast", "matmul", in<&FormatCast::src>("src"), out<&FormatCast::dst>("dst"))
    .is(kMovesBits);

}  // namespace
}  // namespace npu::ops
