// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/single/element_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/compare/exit/refusal.h"

namespace npu::compare {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr int32_t kBool = 11;

bool is_complex(int32_t number) { return number == 16 || number == 17 || number == 32; }

/// What NumPy needs for an element beside a floating one: a half (1), a float (2) or a double (3); 0: whatever that
/// has.
int digits(int32_t number) {
  switch (number) {
    case 0:
    case 3:
    case 4:
    case 11:
    case 14:
    case 15:
    case 18:
    case 21:
    case 29: return 0;
    case 2: return 1;
    case 1:
    case 5:
    case 6:
    case 19:
    case 22:
    case 27: return 2;
    default: return 3;
  }
}

bool is_floating(int32_t number) { return number == 1 || number == 2 || number == 12 || number == 27 || number >= 32; }

}  // namespace

ElementErrors::Precision ElementErrors::precision_of(const DataType& mine, const DataType& golden) {
  const int32_t a = mine.number, b = golden.number;
  if (is_complex(a) || is_complex(b))
    throw Refusal(Exit::kElementType,
                  "-op: complex elements have no order; write both sides with convert and compare their parts.");
  if (a == kBool && b == kBool) return Precision::kNone;
  if (!is_floating(a) && !is_floating(b)) return Precision::kDouble;
  const int needed = std::max(digits(a), digits(b));
  return needed == 1 ? Precision::kHalf : needed == 2 ? Precision::kFloat : Precision::kDouble;
}

ElementErrors::ElementErrors(const View& mine, const View& golden)
    : mine_(mine), golden_(golden), precision_(precision_of(*mine.type, *golden.type)) {}

std::vector<ElementError> ElementErrors::at(uint64_t first, size_t n) const {
  std::vector<double> mine(n), golden(n);
  mine_.read(first, n, mine.data()), golden_.read(first, n, golden.data());
  std::vector<ElementError> found(n);
  for (size_t i = 0; i < n; ++i) found[i].mine = mine[i], found[i].golden = golden[i], measure(found[i]);
  return found;
}

void ElementErrors::measure(ElementError& e) const {
  const auto x = static_cast<float>(e.mine), y = static_cast<float>(e.golden);
  switch (precision_) {
    case Precision::kNone: e.absolute = e.relative = kNone; return;
    case Precision::kHalf: {
      const auto distance = static_cast<float>(Half(std::fabs(x - y)));
      e.absolute = distance, e.relative = static_cast<float>(Half(distance / std::fabs(y)));
      return;
    }
    case Precision::kFloat: e.absolute = std::fabs(x - y), e.relative = std::fabs(x - y) / std::fabs(y); return;
    case Precision::kDouble:
      e.absolute = std::fabs(e.mine - e.golden), e.relative = e.absolute / std::fabs(e.golden);
      return;
  }
}

}  // namespace npu::compare
