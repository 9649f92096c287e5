// SPDX-License-Identifier: Apache-2.0
// One rank of collective_bench.py as a client of the C interface: hccl_rank FOLDER SIZE RANK. Each call is queued on a
// stream and waited for. Compiled by that script.
#include <acl/acl.h>
#include <hccl/hccl.h>

#include <algorithm>

#include "comm/collective/rank_fixture.h"

namespace {

constexpr size_t kMostFloats = 1024;

void good(int code) {
  if (code != 0) throw std::runtime_error(aclGetRecentErrMsg());
}

class Rank {
 public:
  Rank(const std::string& root_file, int size, int rank) : size_(size), rank_(rank) {
    good(aclrtSetDevice(rank));
    HcclRootInfo root;
    npu::bench::share_root(root_file, rank, root.internal, sizeof(root.internal),
                           [&] { good(HcclGetRootInfo(&root)); });
    good(HcclCommInitRootInfo(static_cast<uint32_t>(size), &root, static_cast<uint32_t>(rank), &comm_));
    good(aclrtCreateStream(&stream_));
    for (float** each : {&send_, &recv_})
      good(aclrtMalloc(reinterpret_cast<void**>(each), kMostFloats * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
    std::fill_n(send_, kMostFloats, 1.0F);  // device memory of this NPU is the host's
  }
  ~Rank() { HcclCommDestroy(comm_); }

  int size() const { return size_; }
  int rank() const { return rank_; }
  float* recv() const { return recv_; }
  void barrier() { wait(HcclBarrier(comm_, stream_)); }
  void call(const npu::bench::Question& question) {
    wait(HcclAllReduce(send_, recv_, question.count, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm_, stream_));
  }

 private:
  void wait(int code) {
    good(code);
    good(aclrtSynchronizeStream(stream_));
  }
  int size_, rank_;
  HcclComm comm_ = nullptr;
  aclrtStream stream_ = nullptr;
  float *send_ = nullptr, *recv_ = nullptr;
};

}  // namespace

int main(int count, char** arguments) try {
  if (count != 4) throw std::runtime_error("usage: hccl_rank FOLDER SIZE RANK");
  const std::string folder = arguments[1];
  const int rank = std::atoi(arguments[3]);
  npu::bench::pin(rank);
  Rank one(folder + "/hccl.root", std::atoi(arguments[2]), rank);
  npu::bench::serve(one, (folder + "/hccl." + arguments[3]).c_str());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "hccl_rank: %s\n", error.what());
  return 1;
}
