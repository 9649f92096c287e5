// SPDX-License-Identifier: Apache-2.0
// One rank of collective_bench.py on MPI: mpi_rank FOLDER. Compiled by that script, where there is an MPI.
#include <mpi.h>

#include <algorithm>

#include "comm/collective/rank_fixture.h"

namespace {

constexpr size_t kMostFloats = (size_t{64} << 20) / sizeof(float);

class Rank {
 public:
  Rank() {
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    send_ = static_cast<float*>(std::aligned_alloc(4096, kMostFloats * sizeof(float)));
    recv_ = static_cast<float*>(std::aligned_alloc(4096, kMostFloats * sizeof(float)));
    std::fill_n(send_, kMostFloats, 1.0F);
    std::fill_n(recv_, kMostFloats, 0.0F);
  }
  int size() const { return size_; }
  int rank() const { return rank_; }
  float* recv() const { return recv_; }
  void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

  void call(const npu::bench::Question& question) {
    const int part = static_cast<int>(question.part(size_));
    switch (question.operation[4]) {
      case 'r': MPI_Allreduce(send_, recv_, part, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); break;
      case 'g': MPI_Allgather(send_, part, MPI_FLOAT, recv_, part, MPI_FLOAT, MPI_COMM_WORLD); break;
      case 't': MPI_Alltoall(send_, part, MPI_FLOAT, recv_, part, MPI_FLOAT, MPI_COMM_WORLD); break;
      default: MPI_Reduce_scatter_block(send_, recv_, part, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
  }

 private:
  int size_ = 0, rank_ = 0;
  float *send_ = nullptr, *recv_ = nullptr;
};

}  // namespace

int main(int count, char** arguments) {
  npu::bench::pin(std::atoi(std::getenv("OMPI_COMM_WORLD_RANK")));
  MPI_Init(&count, &arguments);
  try {
    Rank one;
    npu::bench::serve(one, (std::string(arguments[1]) + "/mpi." + std::to_string(one.rank())).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mpi_rank: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
