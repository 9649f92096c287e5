// SPDX-License-Identifier: Apache-2.0
// What the limits of a machine are measured with: kernels that do nothing but one thing, as fast as it goes.
#pragma once

#include <cstdint>
#include <vector>

namespace npu::limit {

// Runs a number of rounds and returns the operations done; a fused multiply-add is two.
using Arithmetic = double (*)(int64_t rounds);

struct ArithmeticCase {
  const char* name;
  Arithmetic run;
};

// Goes once over the first one, two or three arrays of n floats and returns the bytes that it read and wrote. n is a
// multiple of kStep.
using Movement = double (*)(float* a, const float* b, const float* c, int64_t n);
inline constexpr int64_t kStep = 512;

struct MovementCase {
  const char* name;
  Movement run;
  int arrays;
};

// Makes the compiler compute a value that nobody reads.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "m"(value));
}

// Highway's, for the best instructions of this CPU.
std::vector<ArithmeticCase> vector_arithmetic();
// A movement may stand here twice, with usual stores and with such as pass the caches by: the faster is the limit.
std::vector<MovementCase> movements();

// Dot products and tiles, those alone that this CPU has.
std::vector<ArithmeticCase> dot_arithmetic();

}  // namespace npu::limit
