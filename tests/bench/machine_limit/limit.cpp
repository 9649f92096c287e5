// SPDX-License-Identifier: Apache-2.0
// machine_limit THREADS NAME:BYTES…: operations and bytes per second of so many threads at once, as JSON. BYTES is what
// a thread holds of a level of caches, in all arrays together.
#include "tests/bench/machine_limit/limit.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

namespace npu::limit {
namespace {

using Clock = std::chrono::steady_clock;
using Work = std::function<double()>;  // what was done, in operations or bytes
constexpr double kSeconds = 0.02;
constexpr int kRepeats = 7;

// The rate of one thread, which works for kSeconds.
double rate(const Work& work) {
  const auto start = Clock::now();
  double done = 0;
  double taken = 0;
  while (taken < kSeconds) {
    done += work();
    taken = std::chrono::duration<double>(Clock::now() - start).count();
  }
  return done / taken;
}

// The rates of all threads, added up, the best of some tries. Each thread makes its own work, so its memory is near.
double best_rate(int threads, const std::function<Work()>& make) {
  std::vector<std::vector<double>> rates(threads, std::vector<double>(kRepeats));
  std::barrier together(threads);
  std::vector<std::jthread> running;
  for (auto& mine : rates)
    running.emplace_back([&] {
      const Work work = make();
      work();
      for (double& one : mine) {
        together.arrive_and_wait();
        one = rate(work);
      }
    });
  running.clear();
  double best = 0;
  for (int i = 0; i < kRepeats; ++i) {
    double sum = 0;
    for (const auto& mine : rates) sum += mine[i];
    best = std::max(best, sum);
  }
  return best;
}

std::shared_ptr<float> array(int64_t n) {
  constexpr size_t kPage = 4096;
  const size_t bytes = (n * sizeof(float) + kPage - 1) / kPage * kPage;
  auto* at = static_cast<float*>(std::aligned_alloc(kPage, bytes));
  std::fill_n(at, n, 1.0F);
  return {at, &std::free};
}

// Goes over the arrays until the clock's own time does not count.
Work moving(const MovementCase& movement, int64_t bytes) {
  constexpr int64_t kLeastBytes = 1 << 20;
  const int64_t n = std::max(kStep, bytes / 4 / movement.arrays / kStep * kStep);
  const int64_t passes = 1 + kLeastBytes / bytes;
  std::shared_ptr<float> arrays[3];
  for (int i = 0; i < movement.arrays; ++i) arrays[i] = array(n);
  return [=, run = movement.run] {
    double done = 0;
    for (int64_t i = 0; i < passes; ++i) done += run(arrays[0].get(), arrays[1].get(), arrays[2].get(), n);
    return done;
  };
}

void print(const std::map<std::string, double>& rates) {
  const char* separator = "";
  std::printf("{");
  for (const auto& [name, value] : rates) {
    std::printf("%s\"%s\": %.4g", separator, name.c_str(), value);
    separator = ", ";
  }
  std::printf("}");
}

std::map<std::string, double> arithmetic(int threads) {
  constexpr int64_t kRounds = 1 << 14;
  std::map<std::string, double> found;
  auto cases = vector_arithmetic();
  for (const auto& one : dot_arithmetic()) cases.push_back(one);
  for (const auto& one : cases)
    found[one.name] = best_rate(threads, [&] { return [run = one.run] { return run(kRounds); }; });
  return found;
}

std::map<std::string, double> movement(int threads, int64_t bytes) {
  std::map<std::string, double> found;
  for (const auto& one : movements()) {
    double& best = found[one.name];
    best = std::max(best, best_rate(threads, [&] { return moving(one, bytes); }));
  }
  return found;
}

}  // namespace
}  // namespace npu::limit

int main(int count, char** words) {
  using namespace npu::limit;  // NOLINT(google-build-using-namespace)
  const int threads = count > 1 ? std::atoi(words[1]) : 1;
  if (threads < 1) return std::fprintf(stderr, "machine_limit THREADS NAME:BYTES...\n"), 2;
  std::printf("{\"threads\": %d, \"operations\": ", threads);
  print(arithmetic(threads));
  std::printf(", \"bytes\": {");
  for (int i = 2; i < count; ++i) {
    const std::string word = words[i];
    const size_t colon = word.find(':');
    if (colon == std::string::npos) return std::fprintf(stderr, "%s is no NAME:BYTES\n", words[i]), 2;
    std::printf("%s\"%s\": ", i > 2 ? ", " : "", word.substr(0, colon).c_str());
    print(movement(threads, std::max(4096LL, std::atoll(words[i] + colon + 1))));
  }
  std::printf("}}\n");
}
