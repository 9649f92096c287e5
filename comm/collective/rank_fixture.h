// SPDX-License-Identifier: Apache-2.0
// One rank of the benchmark of collectives, tests/bench/collective_bench.py: the same loop for every implementation
// that is compared. A rank waits in read() while others are measured, so that it takes no processor from them.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>

namespace npu::bench {

/// Rank r of every implementation has the same processor.
inline void pin(int rank) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(rank % sysconf(_SC_NPROCESSORS_ONLN)), &one);
  sched_setaffinity(0, sizeof(one), &one);
}

/// Rank 0 makes the root info and leaves it in a file, whose name appears with all its bytes; the others read it.
template <class F>
void share_root(const std::string& path, int rank, char* root, size_t bytes, F&& make) {
  if (rank == 0) {
    make();
    std::ofstream(path + ".new", std::ios::binary).write(root, static_cast<std::streamsize>(bytes));
    if (std::rename((path + ".new").c_str(), path.c_str()) != 0) throw std::runtime_error("cannot write " + path);
  }
  std::ifstream file;
  while (file.open(path, std::ios::binary), !file) usleep(10'000);
  file.read(root, static_cast<std::streamsize>(bytes));
}

/// What is asked: an operation over `count` float32, of which each rank has one part (all_reduce: all of them).
struct Question {
  std::string operation;
  uint64_t count = 0;
  uint64_t calls = 0;
  uint64_t part(int size) const { return operation == "all_reduce" ? count : count / static_cast<uint64_t>(size); }
};

/// What the last call must have left: sums are of as many ones as there are ranks.
inline void check(const Question& question, int size, const float* got) {
  const bool sums = question.operation == "all_reduce" || question.operation == "reduce_scatter";
  const uint64_t last = (question.operation == "reduce_scatter" ? question.part(size) : question.count) - 1;
  const float expected = sums ? static_cast<float>(size) : 1.0F;
  if (got[0] != expected || got[last] != expected)
    throw std::runtime_error(question.operation + " gave a wrong result: " + std::to_string(got[0]) + " and " +
                             std::to_string(got[last]) + ", not " + std::to_string(expected));
}

/// Reads questions "operation count calls" from the pipe `questions` until it ends, and writes "rank seconds" to
/// stdout: those of `calls` calls. `Rank` has size(), rank(), send(), recv() (both of the largest count, send full of
/// ones), barrier(), and call(question).
template <class Rank>
void serve(Rank& rank, const char* questions) {
  std::FILE* input = std::fopen(questions, "r");
  if (input == nullptr) throw std::runtime_error(std::string("cannot read ") + questions);
  char operation[32];
  unsigned long long count = 0, calls = 0;
  while (std::fscanf(input, "%31s %llu %llu", operation, &count, &calls) == 3) {
    const Question question{operation, count, calls};
    std::memset(rank.recv(), 0, count * sizeof(float));
    rank.barrier();
    for (uint64_t i = 0; i < calls / 10 + 1; ++i) rank.call(question);
    rank.barrier();
    const auto start = std::chrono::steady_clock::now();
    for (uint64_t i = 0; i < calls; ++i) rank.call(question);
    rank.barrier();  // copies wait for nobody: ranks that share a processor must all have had it
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    check(question, rank.size(), rank.recv());
    std::printf("%d %.9f\n", rank.rank(), took.count());
    std::fflush(stdout);
  }
  std::fclose(input);
}

}  // namespace npu::bench
