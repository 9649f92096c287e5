// SPDX-License-Identifier: Apache-2.0
#include "comm/collective/between.h"

#include <algorithm>

#include "comm/core/reduce.h"

namespace npu::comm {
namespace {

/// One reduction between hosts.
class Reduction {
 public:
  Reduction(Meeting& meeting, const PartOf& part)
      : meeting_(meeting),
        call_(meeting.call()),
        hosts_(*meeting.hosts()),
        part_(part),
        passes_all_(call_.algorithm == Algorithm::kFlat) {}

  void run(std::span<std::byte* const> outputs) {
    const uint64_t count = part_(meeting_.rank(), meeting_.rank()).count;
    if (count == 0) return each_served(meeting_, [&](uint32_t to) { send(to); });
    const std::vector<const std::byte*> here = inputs(meeting_.rank());
    if (hosts_.count() == 2 && !passes_all_) return merge_two(outputs, here, count);
    std::vector<const std::byte*> all(meeting_.size());  // by rank; the first one stands for its host
    expect(count, all);
    each_served(meeting_, [&](uint32_t to) { send(to); });
    if (passes_all_)
      for (size_t i = 0; i < here.size(); ++i) all[meeting_.here()[i]] = here[i];
    else
      all[meeting_.here()[0]] = sum_of(meeting_, here, count);
    await(count);
    std::erase(all, nullptr);  // hosts come in the order of their first ranks
    reduce(call_.dtype, call_.reduce, all, outputs, count, past_cache(meeting_));
  }

 private:
  /// What comes from the only other host is combined at once with what this one has, where the sum goes: nobody needs
  /// what lies there but this rank, for the same sum.
  void merge_two(std::span<std::byte* const> outputs, std::span<const std::byte* const> here, uint64_t count) {
    const Merge with = merge_with(meeting_, sum_of(meeting_, here, count));
    const uint64_t bytes = count * call_.element_bytes;
    each_server(meeting_, [&](uint32_t server) { meeting_.expect(server, 0, outputs[0], bytes, &with); });
    each_served(meeting_, [&](uint32_t to) { send(to); });
    await(count);
    for (std::byte* const to : outputs.subspan(1)) comm::copy(to, outputs[0], bytes);
  }

  uint32_t passed_by(uint32_t host) const { return passes_all_ ? static_cast<uint32_t>(hosts_.ranks[host].size()) : 1; }

  std::vector<const std::byte*> inputs(uint32_t to) {
    std::vector<Part> parts;
    for (const uint32_t from : meeting_.here()) {
      const Extent part = part_(from, to);
      parts.push_back({from, part.offset * call_.element_bytes, part.count * call_.element_bytes});
    }
    std::vector<const std::byte*> out(parts.size());
    meeting_.read(parts, out.data());
    return out;
  }

  void send(uint32_t to) {
    const uint64_t count = part_(meeting_.rank(), to).count, bytes = count * call_.element_bytes;
    if (count == 0) return;
    const std::vector<const std::byte*> here = inputs(to);
    if (!passes_all_) return meeting_.pass(to, 0, sum_of(meeting_, here, count), bytes);
    for (uint32_t place = 0; place < here.size(); ++place) meeting_.pass(to, place, here[place], bytes);
  }

  template <class F>
  void each_passed(F&& body) {
    each_server(meeting_, [&](uint32_t server) {
      const uint32_t host = hosts_.host_of[server];
      for (uint32_t place = 0; place < passed_by(host); ++place) body(server, place, hosts_.ranks[host][place]);
    });
  }
  void expect(uint64_t count, std::vector<const std::byte*>& all) {
    each_passed([&](uint32_t server, uint32_t place, uint32_t whose) {
      std::byte* const to = meeting_.scratch(count * call_.element_bytes);
      meeting_.expect(server, place, to, count * call_.element_bytes);
      all[whose] = to;
    });
  }
  void await(uint64_t count) {
    each_passed([&](uint32_t server, uint32_t place, uint32_t) {
      meeting_.await_passed(server, place, count * call_.element_bytes);
    });
  }

  Meeting& meeting_;
  const Call& call_;
  const Hosts& hosts_;
  const PartOf& part_;
  const bool passes_all_;
};

}  // namespace

const std::byte* sent_by(Meeting& meeting, const Part& part) {
  const std::byte* at = nullptr;
  meeting.read({&part, 1}, &at);
  return at;
}

void reduce_between(Meeting& meeting, const PartOf& part, std::span<std::byte* const> outputs) {
  Reduction(meeting, part).run(outputs);
}

const std::byte* sum_of(Meeting& meeting, std::span<const std::byte* const> parts, uint64_t count) {
  if (parts.size() == 1) return parts[0];
  const Call& call = meeting.call();
  std::byte* const sum = meeting.scratch(count * call.element_bytes);
  reduce(call.dtype, call.reduce, parts, {&sum, 1}, count, false);
  return sum;
}

Merge merge_with(const Meeting& meeting, const std::byte* own) {
  const Call& call = meeting.call();
  return {call.dtype, call.reduce, own, meeting.hosts()->host_of[meeting.rank()] == 0, past_cache(meeting)};
}

void hand_on(Meeting& meeting, uint64_t offset, uint64_t bytes) {
  if (bytes == 0) return;
  const std::byte* const from = meeting.output() + offset;
  for (const uint32_t rank : meeting.here())
    if (rank != meeting.rank()) copy(meeting.output({rank, offset, bytes}), from, bytes);
}

}  // namespace npu::comm
