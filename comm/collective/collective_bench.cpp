// SPDX-License-Identifier: Apache-2.0
// With arguments this program is one rank of tests/bench/collective_bench.py, calling collectives in its own thread
// (`comm_bench FOLDER SIZE RANK`); without them it times the arithmetic of reductions by itself.
#include <benchmark/benchmark.h>

#include <vector>

#include "comm/collective/collective.h"
#include "comm/collective/rank_fixture.h"
#include "comm/core/reduce.h"
#include "comm/rendezvous/join.h"
#include "device/context/context.h"
#include "device/memory/memory.h"

namespace npu::comm {
namespace {

constexpr uint64_t kMostBytes = uint64_t{64} << 20;
constexpr Element kFloat{DType::kFloat, 4};

class Rank {
 public:
  Rank(const std::string& root_file, int size, int rank) {
    device::set_device(rank);
    char root[kRootInfoBytes];
    bench::share_root(root_file, rank, root, sizeof(root),
                      [&] { make_root_info(std::span<char, kRootInfoBytes>(root)); });
    communicator_ = join_root(std::span<const char, kRootInfoBytes>(root), static_cast<uint32_t>(size),
                              static_cast<uint32_t>(rank), {});
    send_ = device::allocate(rank, kMostBytes);
    recv_ = device::allocate(rank, kMostBytes);
    std::fill_n(static_cast<float*>(device::resolve(send_, kMostBytes)), kMostBytes / sizeof(float), 1.0F);
  }
  ~Rank() { communicator_->leave(); }

  int size() const { return static_cast<int>(communicator_->size()); }
  int rank() const { return static_cast<int>(communicator_->rank()); }
  float* recv() const { return static_cast<float*>(device::resolve(recv_, kMostBytes)); }
  void barrier() { comm::barrier(*communicator_, Lane::calling_thread()); }

  void call(const bench::Question& question) {
    const uint64_t part = question.part(size());
    const Lane here = Lane::calling_thread();
    switch (question.operation[4]) {
      case 'r': return all_reduce(*communicator_, here, send_, recv_, part, kFloat, ReduceOp::kSum);
      case 'g': return all_gather(*communicator_, here, send_, recv_, part, kFloat);
      case 't': return all_to_all(*communicator_, here, send_, recv_, part, kFloat);
      case 'c': return reduce_scatter(*communicator_, here, send_, recv_, part, kFloat, ReduceOp::kSum);
      default: std::memcpy(recv(), device::resolve(send_, kMostBytes), question.count * sizeof(float));
    }
  }

 private:
  std::shared_ptr<Communicator> communicator_;
  void *send_ = nullptr, *recv_ = nullptr;
};

// Warm sums of `inputs` vectors of 64 KB, written to one.
void reduce_sum(benchmark::State& state) {
  constexpr uint64_t kCount = 16384;
  const std::vector<std::vector<float>> data(static_cast<size_t>(state.range(0)), std::vector<float>(kCount, 1.0F));
  std::vector<float> result(kCount);
  std::vector<const std::byte*> inputs;
  inputs.reserve(data.size());
  for (const auto& each : data) inputs.push_back(reinterpret_cast<const std::byte*>(each.data()));
  auto* output = reinterpret_cast<std::byte*>(result.data());
  for ([[maybe_unused]] auto _ : state) reduce(DType::kFloat, ReduceOp::kSum, inputs, {&output, 1}, kCount, false);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>((inputs.size() + 1) * kCount * sizeof(float)));
}
BENCHMARK(reduce_sum)->Arg(2)->Arg(4)->Arg(8);

}  // namespace
}  // namespace npu::comm

int main(int count, char** arguments) try {
  if (count == 4 && arguments[1][0] != '-') {
    const std::string folder = arguments[1];
    const int size = std::atoi(arguments[2]), rank = std::atoi(arguments[3]);
    npu::bench::pin(rank);
    npu::comm::Rank one(folder + "/comm.root", size, rank);
    npu::bench::serve(one, (folder + "/comm." + arguments[3]).c_str());
    return 0;
  }
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "comm_bench: %s\n", error.what());
  return 1;
}
