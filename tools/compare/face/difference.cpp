// SPDX-License-Identifier: Apache-2.0
// Two tensors element by element: how many differ by more than is allowed, the first of these, and the largest.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "tools/compare/exit/refusal.h"
#include "tools/compare/face/arguments.h"
#include "tools/compare/face/face.h"
#include "tools/compare/face/range.h"
#include "tools/compare/folder/dump_folder.h"

namespace npu::compare {
namespace {

namespace fs = std::filesystem;

struct Wrong {
  uint64_t at;
  float left, right;
  double difference() const { return std::abs(static_cast<double>(left) - right); }
  /// A NaN on one side is worse than any number.
  double size() const { return std::isnan(difference()) ? INFINITY : difference(); }
};

struct Limits {
  double absolute = 0.001, relative = 0.001;
  /// Equal infinities and NaN on both sides agree.
  bool allow(const Wrong& pair) const {
    if (pair.left == pair.right || (std::isnan(pair.left) && std::isnan(pair.right))) return true;
    return pair.difference() <= absolute + relative * std::abs(static_cast<double>(pair.right)) &&
           std::isfinite(pair.right);
  }
};

struct Outcome {
  uint64_t count = 0, wrong = 0;
  double product = 0, left = 0, right = 0;
  std::vector<Wrong> first, largest;

  double cosine() const {
    return left == 0 || right == 0 ? (left == right ? 1 : NAN) : product / std::sqrt(left * right);
  }
};

const auto by_size = [](const Wrong& a, const Wrong& b) { return a.size() > b.size(); };

void keep(Outcome& outcome, const Wrong& pair, size_t shown) {
  ++outcome.wrong;
  if (outcome.first.size() < shown) outcome.first.push_back(pair);
  auto& largest = outcome.largest;
  if (shown == 0 || (largest.size() == shown && !by_size(pair, largest.back()))) return;
  if (largest.size() == shown) largest.pop_back();
  largest.insert(std::ranges::upper_bound(largest, pair, by_size), pair);
}

Outcome compare(const View& left, const View& right, const Limits& limits, size_t shown) {
  constexpr size_t kBlock = 4096;
  Outcome outcome;
  outcome.count = left.count;
  std::vector<float> a(kBlock), b(kBlock);
  for (uint64_t first = 0; first < left.count; first += kBlock) {
    const size_t n = std::min<uint64_t>(kBlock, left.count - first);
    left.read(first, n, a.data()), right.read(first, n, b.data());
    for (size_t i = 0; i < n; ++i) {
      const Wrong pair{first + i, a[i], b[i]};
      const double x = a[i], y = b[i];
      outcome.product += x * y, outcome.left += x * x, outcome.right += y * y;
      if (!limits.allow(pair)) keep(outcome, pair, shown);
    }
  }
  return outcome;
}

void print_table(const char* title, const std::vector<Wrong>& rows) {
  fmt::print("{}\n  {:>10} {:>15} {:>15} {:>15}\n", title, "Index", "Left", "Right", "Diff");
  for (const Wrong& row : rows)
    fmt::print("  {:>10} {:>15.7g} {:>15.7g} {:>15.7g}\n", row.at, row.left, row.right, row.difference());
}

void print(const Outcome& outcome) {
  fmt::print("AllClose: {}\nCosSim: {:.6f}\nErrorPer: {:.6f} ({}/{})\n", outcome.wrong == 0 ? "True" : "False",
             outcome.cosine(),
             outcome.count == 0 ? 0 : static_cast<double>(outcome.wrong) / static_cast<double>(outcome.count),
             outcome.wrong, outcome.count);
  if (outcome.first.empty()) return;
  print_table("First errors", outcome.first);
  print_table("Largest errors", outcome.largest);
}

double fraction(const std::string& text, std::string_view option) {
  try {
    size_t read = 0;
    const double value = std::stod(text, &read);
    if (read == text.size() && value >= 0) return value;
  } catch (const std::exception&) {  // told below
  }
  throw UsageError{fmt::format("argument {}: invalid value: '{}'; it is a number of 0 or more", option, text)};
}

}  // namespace

int difference_face(const Words& arguments) {
  std::vector<std::string> files;
  std::string absolute = "0.001", relative = "0.001", texts;
  int64_t shown = 20;
  Arguments a;
  a.words("-n --name", files, "<Required> two arrays of NumPy");
  a.number("-p --print", shown, "<Optional> how many errors are shown, 20");
  a.value("-al --atol", absolute, "<Optional> the absolute part of what is allowed, 0.001");
  a.value("-rl --rtol", relative, "<Optional> the relative part, 0.001");
  a.value("-txt --text", texts, "<Optional> a folder: the elements of both go there as text");
  if (!a.read(arguments, "msaccucmp difference")) return 0;
  if (files.size() != 2) throw UsageError{"difference takes -n with two arrays of NumPy"};
  if (shown < 0) throw UsageError{fmt::format("argument -p/--print: {} is less than 0", shown)};
  for (const std::string& path : files)
    if (!fs::is_regular_file(path)) throw Refusal(Exit::kMissing, fmt::format("{} is no file.", path));
  const Opened left({files[0], files[0], 0}), right({files[1], files[1], 0});
  if (left.outputs().empty() || right.outputs().empty())
    throw Refusal(Exit::kDamaged, "there is no output to compare.");
  const Tensor &x = left.outputs()[0], &y = right.outputs()[0];
  fmt::print("Left:  {}\n |- {}\nRight: {}\n |- {}\n", files[0], in_one_line(range_of(x)), files[1],
             in_one_line(range_of(y)));
  const View mine = plain_view(x), golden = plain_view(y);
  if (mine.count != golden.count)
    throw Refusal(Exit::kShape,
                  fmt::format("{} has {} elements and {} has {}.", files[0], mine.count, files[1], golden.count));
  print(compare(mine, golden, {fraction(absolute, "-al/--atol"), fraction(relative, "-rl/--rtol")},
                static_cast<size_t>(shown)));
  if (texts.empty()) return 0;
  for (const auto& [tensor, path] : {std::pair(&x, files[0]), std::pair(&y, files[1])}) {
    const std::string text = fs::path(texts) / (fs::path(path).filename().string() + ".txt");
    write_elements(*tensor, text);
    fmt::print("TxtFile: {}\n", text);
  }
  return 0;
}

}  // namespace npu::compare
