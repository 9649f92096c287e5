// SPDX-License-Identifier: Apache-2.0
#include "comm/collective/exchanged_sums.h"

#include <algorithm>

#include "comm/core/reduce.h"

namespace npu::comm {
namespace {

// Up to so many bytes another meeting takes longer than to add up, or with more hosts to send, some data twice.
constexpr uint64_t kTwoHosts = uint64_t{256} << 10, kMoreHosts = uint64_t{64} << 10;

/// What all ranks of this host have of a slice, and what it makes of that for the others.
struct Job {
  uint32_t slice = 0;
  Part part = {};                           // of this rank's buffers
  std::vector<const std::byte*> sums = {};  // by host
  bool merged = false;                      // those of the only other host when they come, with this one's
};

class Exchange {
 public:
  explicit Exchange(Meeting& meeting)
      : meeting_(meeting), call_(meeting.call()), hosts_(*meeting.hosts()), own_host_(hosts_.host_of[meeting.rank()]) {}

  void run() {
    // As many as the ranks of the largest host: more would be more messages.
    const uint32_t slices = hosts_.most();
    for (uint32_t slice = 0; slice < slices; ++slice) {
      const Slice its = slice_of(call_.count, slices, slice);
      if (worker(own_host_, slice) == meeting_.rank() && its.count() > 0)
        jobs_.push_back({slice, {meeting_.rank(), its.begin * call_.element_bytes, its.count() * call_.element_bytes}});
    }
    for (Job& job : jobs_) begin(job);
    for (Job& job : jobs_) finish(job);
  }

 private:
  /// Which rank of a host works on a slice.
  uint32_t worker(uint32_t host, uint32_t slice) const { return hosts_.ranks[host][slice % hosts_.ranks[host].size()]; }
  template <class F>
  void each_other(const Job& job, F&& body) {
    for (uint32_t i = 1; i < hosts_.count(); ++i) {
      const uint32_t host = (own_host_ + i) % hosts_.count();
      body(host, worker(host, job.slice));
    }
  }
  uint64_t count(const Job& job) const { return job.part.bytes / call_.element_bytes; }

  void begin(Job& job) {
    job.sums.resize(hosts_.count());
    const std::byte* const own = job.sums[own_host_] = own_sum(job);
    std::byte* const output = meeting_.output(job.part);
    // In place it would change what is still being sent.
    const bool apart = own + job.part.bytes <= output || output + job.part.bytes <= own;
    job.merged = hosts_.count() == 2 && apart;
    const Merge with = merge_with(meeting_, own);
    each_other(job, [&](uint32_t host, uint32_t rank) {
      std::byte* const to = job.merged ? output : meeting_.scratch(job.part.bytes);
      meeting_.expect(rank, job.slice, to, job.part.bytes, job.merged ? &with : nullptr);
      job.sums[host] = to;
    });
    each_other(job, [&](uint32_t, uint32_t rank) { meeting_.pass(rank, job.slice, own, job.part.bytes); });
  }

  const std::byte* own_sum(const Job& job) {
    std::vector<const std::byte*> inputs;
    for (const uint32_t rank : meeting_.here())
      inputs.push_back(sent_by(meeting_, {rank, job.part.offset, job.part.bytes}));
    return sum_of(meeting_, inputs, count(job));
  }

  // A rank that is alone on its host passes its input, which may be its output.
  void finish(const Job& job) {
    each_other(job, [&](uint32_t, uint32_t rank) { meeting_.await_passed(rank, job.slice, job.part.bytes); });
    if (job.merged) return hand_on(meeting_, job.part.offset, job.part.bytes);
    each_other(job, [&](uint32_t, uint32_t rank) { meeting_.await_sent(rank, job.slice); });
    std::vector<std::byte*> outputs;
    for (const uint32_t rank : meeting_.here())
      outputs.push_back(meeting_.output({rank, job.part.offset, job.part.bytes}));
    reduce(call_.dtype, call_.reduce, job.sums, outputs, count(job), false);
  }

  Meeting& meeting_;
  const Call& call_;
  const Hosts& hosts_;
  const uint32_t own_host_;
  std::vector<Job> jobs_;
};

}  // namespace

bool exchanges_sums(const Meeting& meeting) {
  return meeting.call().algorithm == Algorithm::kHosts &&
         exchanges_sums(meeting.call().bytes(), meeting.hosts()->count());
}

// All of them go to every other host: by the model of tests/bench/hosts_model.py less of them with more than five.
bool exchanges_sums(uint64_t bytes, uint32_t hosts) {
  return bytes <= (hosts == 2 ? kTwoHosts : kMoreHosts / std::max(1U, (hosts - 2) / 2));
}

void exchange_sums(Meeting& meeting) { Exchange(meeting).run(); }

}  // namespace npu::comm
