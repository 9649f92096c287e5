// SPDX-License-Identifier: Apache-2.0
#include "ops/vector/elementwise/transpose.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "ops/vector/elementwise/move.h"

namespace npu::ops {
namespace {

/// `gap` elements behind each row of the result stay as they are.
template <class T>
void check_transpose(int64_t rows, int64_t cols, int64_t gap) {
  const int64_t step = rows + gap;
  std::vector<T> from(static_cast<size_t>(rows * (cols + 2))), to(static_cast<size_t>(cols * step), T(7));
  std::iota(from.begin(), from.end(), T(0));
  transpose(from.data(), cols + 2, rows, cols, sizeof(T), to.data(), step);
  for (int64_t c = 0; c < cols; ++c) {
    for (int64_t r = 0; r < step; ++r) {
      const T want = r >= rows ? T(7) : from[static_cast<size_t>(r * (cols + 2) + c)];
      ASSERT_EQ(to[static_cast<size_t>(c * step + r)], want) << rows << "x" << cols << " at " << r << "," << c;
    }
  }
}

TEST(Transpose, EverySizeAndElement) {
  for (const int64_t rows : {1, 3, 4, 8, 17, 33, 70}) {
    for (const int64_t cols : {1, 2, 5, 8, 16, 31, 65}) {
      for (const int64_t gap : {0, 1}) {
        check_transpose<uint8_t>(rows, cols, gap);
        check_transpose<uint16_t>(rows, cols, gap);
        check_transpose<uint32_t>(rows, cols, gap);
        check_transpose<uint64_t>(rows, cols, gap);
      }
    }
  }
}

// Copies `shape`, whose axes lie in memory in the order `axes`, with room behind each row, into dense memory.
template <class T>
void check_move(const Dims& shape, const Dims& axes, bool back) {
  Dims strides(shape.size(), 0);
  int64_t room = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    const auto axis = static_cast<size_t>(axes[i]);
    strides[axis] = room;
    room = room * shape[axis] + (i + 1 == axes.size() ? 3 : 0);
  }
  std::vector<T> loose(static_cast<size_t>(room)), dense(static_cast<size_t>(count_of(shape)));
  std::iota(loose.begin(), loose.end(), T(1));
  std::iota(dense.begin(), dense.end(), T(5));
  const std::vector<T> loose_before = loose, dense_before = dense;
  const Tensor plain = make_tensor(dense.data(), dtype_of<T>, shape);
  const Tensor spread = make_tensor(loose.data(), dtype_of<T>, {room}).view(shape, strides);
  Move move;
  back ? move.plan(plain, spread) : move.plan(spread, plain);
  move.run();
  std::vector<T> want = back ? loose_before : dense_before;
  Dims at(shape.size(), 0);
  for (size_t i = 0; i < dense.size(); ++i) {
    int64_t offset = 0;
    for (size_t d = 0; d < shape.size(); ++d) offset += at[d] * strides[d];
    if (back)
      want[static_cast<size_t>(offset)] = dense_before[i];
    else
      want[i] = loose_before[static_cast<size_t>(offset)];
    for (size_t d = shape.size(); d-- > 0 && ++at[d] == shape[d];) at[d] = 0;
  }
  ASSERT_EQ(back ? loose : dense, want);
}

TEST(Transpose, MovesBetweenAnyOrdersOfAxes) {
  const Dims shapes[] = {{9, 33, 20}, {2, 70, 300}, {130, 3, 17}, {8, 8, 8}, {7, 40, 1}};
  for (const Dims& shape : shapes) {
    Dims axes{0, 1, 2};
    do {
      for (const bool back : {false, true}) {
        SCOPED_TRACE(fmt::format("{} in order {}, back {}", shape, axes, back));
        check_move<int8_t>(shape, axes, back);
        check_move<int16_t>(shape, axes, back);
        check_move<int32_t>(shape, axes, back);
        check_move<double>(shape, axes, back);
      }
    } while (std::next_permutation(axes.begin(), axes.end()));
  }
}

TEST(Transpose, ReadsWhatOverlapsBeforeItChanges) {
  std::vector<int32_t> data(40 * 40);
  std::iota(data.begin(), data.end(), 0);
  const std::vector<int32_t> before = data;
  const Tensor square = make_tensor(data.data(), DType::kInt32, {40, 40});
  Move move;
  move.plan(square.transposed(0, 1), square);
  move.run();
  for (size_t r = 0; r < 40; ++r)
    for (size_t c = 0; c < 40; ++c) ASSERT_EQ(data[r * 40 + c], before[c * 40 + r]);
}

}  // namespace
}  // namespace npu::ops
