// SPDX-License-Identifier: Apache-2.0
#include "ops/cube/gemm.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "ops/cube/kept_right.h"
#include "ops/cube/kernel.h"
#include "ops/cube/onednn.h"
#include "ops/cube/panel_product.h"

namespace npu::ops::cube {
namespace {

struct Case {
  int64_t m, n, k;
  bool trans_a, trans_b;
  double alpha, beta;
};

template <class T>
std::vector<T> random_values(int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int> steps(-8, 8);
  std::vector<T> out(static_cast<size_t>(count));
  for (T& x : out) x = static_cast<T>(steps(engine)) / static_cast<T>(std::is_integral_v<T> ? 1 : 8);
  return out;
}

// Values are eighths, so products and short sums are exact; `slack` covers sums beyond the significand.
template <class T, class F>
void check(const Case& c, F&& multiply, double slack) {
  const int64_t pad = 3;
  GemmArgs<T> g{c.trans_a, c.trans_b, c.m, c.n, c.k};
  g.alpha = static_cast<T>(c.alpha), g.beta = static_cast<T>(c.beta);
  g.lda = (c.trans_a ? c.m : c.k) + pad, g.ldb = (c.trans_b ? c.k : c.n) + pad, g.ldc = c.n + pad;
  const auto a = random_values<T>((c.trans_a ? c.k : c.m) * g.lda, 1);
  const auto b = random_values<T>((c.trans_b ? c.n : c.k) * g.ldb, 2);
  auto out = random_values<T>(c.m * g.ldc, 3);
  const auto before = out;
  g.a = a.data(), g.b = b.data(), g.c = out.data();
  multiply(g);
  for (int64_t i = 0; i < c.m; ++i) {
    for (int64_t j = 0; j < g.ldc; ++j) {
      const T old = before[i * g.ldc + j];
      if (j >= c.n) {
        ASSERT_EQ(out[i * g.ldc + j], old) << "wrote past column " << c.n;
        continue;
      }
      double sum = 0;
      for (int64_t p = 0; p < c.k; ++p) {
        sum += static_cast<double>(a[c.trans_a ? p * g.lda + i : i * g.lda + p]) *
               static_cast<double>(b[c.trans_b ? j * g.ldb + p : p * g.ldb + j]);
      }
      const double want = c.alpha * sum + (c.beta == 0 ? 0 : c.beta * static_cast<double>(old));
      ASSERT_NEAR(static_cast<double>(out[i * g.ldc + j]), want, slack * (1 + static_cast<double>(c.k)))
          << c.m << "x" << c.n << "x" << c.k << " at " << i << "," << j;
    }
  }
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      for (const auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                                   {8, 16, 16},
                                   {13, 33, 7},
                                   {5, 31, 64},
                                   {64, 64, 64},
                                   {1, 200, 77},
                                   {150, 1, 90},
                                   {97, 129, 300},
                                   {260, 390, 40},
                                   {17, 20, 5000},
                                   {1, 1, 2500}}) {
        out.push_back({m, n, k, ta, tb, 1.0, 0.0});
        out.push_back({m, n, k, ta, tb, 0.5, 2.0});
      }
    }
  }
  return out;
}

template <class T>
class Gemm : public testing::Test {};
using Types = testing::Types<float, double, int64_t>;
TYPED_TEST_SUITE(Gemm, Types);

TYPED_TEST(Gemm, MatchesPlainLoops) {
  for (Case c : cases()) {
    if (std::is_integral_v<TypeParam>) c.alpha = std::ceil(c.alpha);
    const double slack = std::is_same_v<TypeParam, float> ? 1e-6 : 1e-14;
    check<TypeParam>(c, [](const auto& g) { gemm(g); }, slack);
    check<TypeParam>(c, [](const auto& g) { gemm_serial(g); }, slack);
  }
}

TEST(Gemm, OwnKernelsMatchPlainLoops) {
  for (const Case& c : cases()) {
    check<float>(c, [](const auto& g) { kernel_packed(g); }, 1e-6);
    if (!c.trans_b) check<float>(c, [](const auto& g) { kernel_small(g); }, 1e-6);
    if (!c.trans_b) check<double>(c, [](const auto& g) { kernel_small(g); }, 1e-14);
  }
}

// Eighths are bfloat16 numbers, and so short their sums are exact: operands with gaps, cut as plan_panels cuts them.
template <class T>
void check_panels(const Case& c) {
  constexpr DType kDType = std::is_same_v<T, float> ? DType::kFloat : DType::kBFloat16;
  const auto numbers = [](const std::vector<float>& from) {
    std::vector<T> to(from.size());
    std::ranges::transform(from, to.begin(), [](float x) { return static_cast<T>(x); });
    return to;
  };
  GemmArgs<T> g{c.trans_a, c.trans_b, c.m, c.n, c.k};
  g.lda = (c.trans_a ? c.m : c.k) + 3, g.ldb = (c.trans_b ? c.k : c.n) + 5;
  const auto wide_a = random_values<float>((c.trans_a ? c.k : c.m) * g.lda, 1);
  const auto wide_b = random_values<float>((c.trans_b ? c.n : c.k) * g.ldb, 2);
  const auto a = numbers(wide_a), b = numbers(wide_b);
  g.a = a.data(), g.b = b.data();
  const auto before = random_values<float>(c.m * c.n, 3);
  auto want = before;
  GemmArgs<float> plain{c.trans_a, c.trans_b, c.m, c.n, c.k};
  plain.alpha = static_cast<float>(c.alpha), plain.beta = static_cast<float>(c.beta);
  plain.a = wide_a.data(), plain.lda = g.lda, plain.b = wide_b.data(), plain.ldb = g.ldb;
  plain.c = want.data(), plain.ldc = c.n;
  onednn_sgemm(plain);
  auto whole = before;
  panel_product(g, static_cast<const T*>(nullptr), 0, {whole.data(), c.n, plain.alpha, plain.beta});
  ASSERT_EQ(whole, want);
  std::vector<float> apart(before.size(), std::numeric_limits<float>::quiet_NaN());
  panel_product(g, static_cast<const T*>(nullptr), 0, {apart.data(), c.n, plain.alpha, plain.beta, before.data(), c.n});
  ASSERT_EQ(apart, want);
  const Tiling tiling = plan_panels(c.m, c.n, c.k, 1);
  for (const bool parallel : {false, true}) {
    std::vector<T> panels(static_cast<size_t>(panel_right_size(kDType, c.k, c.n)));
    panel_order_right(g, parallel, panels.data());
    auto sum = before;
    for (int64_t t = 0; t < tiling.tiles(); ++t) {
      for (int64_t s = 0; s < tiling.slices; ++s) {
        const Tile tile = tile_at(tiling, c.m, c.n, c.k, t, s);
        ASSERT_EQ(tile.col % kPanel, 0);
        const T* right = panels.data() + panel_right_size(kDType, c.k, tile.col) + tile.begin * kPanel;
        panel_product(cut(g, tile), right, c.k,
                      {sum.data() + tile.row * c.n + tile.col, c.n, plain.alpha, s == 0 ? plain.beta : 1.0f});
      }
    }
    ASSERT_EQ(sum, want);
  }
}

TEST(Gemm, PanelsMatchPlainLoops) {
  if (!has_panels(DType::kFloat)) GTEST_SKIP() << "this CPU is not one on which these kernels are the fastest";
  std::vector<Case> all = cases();
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      for (const auto [m, n, k] :
           {std::array<int64_t, 3>{500, 1100, 65}, {90, 1100, 401}, {230, 300, 1031}, {9, 40, 4099}})
        all.push_back({m, n, k, ta, tb, 1.0, 0.0});
    }
  }
  for (const Case& c : all) {
    SCOPED_TRACE(fmt::format("{}x{}x{} {} {} {}", c.m, c.n, c.k, c.trans_a, c.trans_b, c.beta));
    check_panels<float>(c);
    if (has_panels(DType::kBFloat16)) check_panels<BFloat16>(c);
  }
}

template <class T>
void check_kept(const Case& c) {
  const auto a = random_values<float>(c.m * c.k, 1), b = random_values<float>(c.k * c.n, 2);
  const auto before = random_values<float>(c.m * c.n, 3);
  GemmArgs<float> plain{c.trans_a, c.trans_b, c.m, c.n, c.k};
  plain.a = a.data(), plain.lda = c.trans_a ? c.m : c.k, plain.b = b.data(), plain.ldb = c.trans_b ? c.k : c.n;
  plain.beta = static_cast<float>(c.beta), plain.ldc = c.n;
  auto want = before, got = before;
  plain.c = want.data();
  gemm(plain);
  const std::vector<T> left(a.begin(), a.end()), right(b.begin(), b.end());
  const KeptRight<T> kept(c.trans_b, c.k, c.n, right.data());
  for (int again = 0; again < 2; ++again) {
    got = before;
    kept.multiply(c.trans_a, c.m, left.data(), plain.beta, got.data());
    ASSERT_EQ(got, want);
  }
}

TEST(Gemm, KeptRightMatchesProduct) {
  std::vector<Case> all = cases();
  all.push_back({16, 1024, 256, false, false, 1.0, 1.0});
  all.push_back({16, 96, 2500, false, true, 1.0, 0.0});
  all.push_back({300, 500, 40, true, false, 1.0, 0.0});
  for (const Case& c : all) {
    SCOPED_TRACE(fmt::format("{}x{}x{} {} {} {}", c.m, c.n, c.k, c.trans_a, c.trans_b, c.beta));
    check_kept<float>(c);
    if (has_panels(DType::kBFloat16)) check_kept<BFloat16>(c);
  }
}

TEST(Gemm, BetaZeroIgnoresWhatCHeld) {
  for (const int64_t size : {4, 80}) {
    const std::vector<float> a(static_cast<size_t>(size * size), 1.0f);
    std::vector<float> c(a.size(), std::numeric_limits<float>::quiet_NaN());
    GemmArgs<float> g{false, false, size, size, size};
    g.a = g.b = a.data(), g.c = c.data(), g.lda = g.ldb = g.ldc = size;
    gemm(g);
    for (const float x : c) ASSERT_EQ(x, static_cast<float>(size));
    c.assign(a.size(), std::numeric_limits<float>::quiet_NaN());
    g.k = 0;
    gemm(g);
    for (const float x : c) ASSERT_EQ(x, 0.0f);
  }
}

// Tiles are cut by size alone, so computing them one by one in any order gives the bits of the parallel call.
TEST(Gemm, TilesGiveTheBitsOfTheWhole) {
  const int64_t m = 520, n = 800, k = 300;
  const auto a = random_values<float>(m * k, 5), b = random_values<float>(k * n, 6);
  std::vector<float> whole(static_cast<size_t>(m * n)), parts(whole.size());
  GemmArgs<float> g{false, false, m, n, k};
  g.alpha = 0.37f, g.a = a.data(), g.lda = k, g.b = b.data(), g.ldb = n, g.c = whole.data(), g.ldc = n;
  gemm(g);
  const Tiling tiling = plan_tiles(m, n, k);
  EXPECT_GT(tiling.tiles(), 1);
  g.c = parts.data();
  for (int64_t t = tiling.tiles(); t-- > 0;) {
    const Tile tile = tile_at(tiling, m, n, k, t, 0);
    GemmArgs<float> part = cut(g, tile);
    part.c += tile.row * n + tile.col;
    gemm_serial(part);
  }
  EXPECT_EQ(whole, parts);
}

// A deep product of a small matrix (the weight gradient of a 1x1 convolution) once had no end of cutting.
TEST(Gemm, EverySizeIsCutIntoTilesThatCoverIt) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(0, 20);
  for (int i = 0; i < 20000; ++i) {
    const auto size = [&] { return static_cast<int64_t>(std::exp2(exponent(random))); };
    const int64_t m = size(), n = size(), k = size();
    SCOPED_TRACE(fmt::format("{}x{}x{}", m, k, n));
    for (const Tiling& t : {plan_tiles(m, n, k), plan_panels(m, n, k, 1)}) {
      ASSERT_TRUE((t.row_tiles - 1) * t.rows < m && m <= t.row_tiles * t.rows);
      ASSERT_TRUE((t.col_tiles - 1) * t.cols < n && n <= t.col_tiles * t.cols);
      ASSERT_TRUE((t.slices - 1) * t.depth < k && k <= t.slices * t.depth);
    }
  }
}

// How much of their time `threads` threads compute, each taking the next part as it ends one: counted, not timed.
double busy(const Tiling& t, int64_t m, int64_t n, int64_t k, size_t threads) {
  std::vector<double> work(threads);
  for (int64_t tile = 0; tile < t.tiles(); ++tile) {
    for (int64_t slice = 0; slice < t.slices; ++slice) {
      const Tile part = tile_at(t, m, n, k, tile, slice);
      *std::ranges::min_element(work) += static_cast<double>(part.rows * part.cols * part.depth);
    }
  }
  return static_cast<double>(m * n * k) / (static_cast<double>(threads) * *std::ranges::max_element(work));
}

TEST(Gemm, TilesKeepSixteenThreadsBusy) {
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{1024, 1024, 1024},
                                {512, 3072, 768},
                                {4096, 768, 768},
                                {2048, 2048, 2048},
                                {1024, 1024, 256},
                                {1024, 256, 1024},
                                {256, 1024, 1024},
                                {768, 3072, 512}}) {
    // The cut does not know the number of threads: with 16 of them some parts are left over for a second round.
    for (const auto& [threads, least] :
         {std::pair<size_t, double>{1, 1.0}, {2, 0.98}, {4, 0.85}, {8, 0.75}, {16, 0.6}}) {
      SCOPED_TRACE(fmt::format("{}x{}x{} on {} threads", m, n, k, threads));
      EXPECT_GE(busy(plan_tiles(m, n, k), m, n, k, threads), least);
      EXPECT_GE(busy(plan_panels(m, n, k, 1), m, n, k, threads), least);
    }
  }
}

TEST(Gemm, DeepProductOfASmallMatrix) {
  const int64_t m = 64, n = 64, k = 100352;
  const auto a = random_values<float>(k * m, 5), b = random_values<float>(k * n, 6);
  std::vector<float> c(static_cast<size_t>(m * n));
  GemmArgs<float> g{true, false, m, n, k};
  g.a = a.data(), g.lda = m, g.b = b.data(), g.ldb = n, g.c = c.data(), g.ldc = n;
  gemm(g);
  for (const int64_t i : {0, 31, 63}) {
    double sum = 0, size = 0;
    for (int64_t l = 0; l < k; ++l) {
      const double term = double{a[l * m + i]} * b[l * n + 63 - i];
      sum += term, size += std::abs(term);
    }
    EXPECT_NEAR(c[i * n + 63 - i], sum, 1e-6 * size);
  }
}

TEST(Gemm, ComplexProduct) {
  const std::vector<Complex64> a{{1, 2}, {0, 1}}, b{{3, -1}, {2, 2}};
  Complex64 c{5, 5};
  GemmArgs<Complex64> g{false, false, 1, 1, 2};
  g.a = a.data(), g.lda = 2, g.b = b.data(), g.ldb = 1, g.c = &c, g.ldc = 1, g.beta = {0, 1};
  gemm(g);
  EXPECT_EQ(c, (Complex64{-2, 12}));  // (1+2i)(3-i) + i(2+2i) + i(5+5i)
}

}  // namespace
}  // namespace npu::ops::cube
