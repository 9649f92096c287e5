// SPDX-License-Identifier: Apache-2.0
// What tools ask before ranks are started: who is in a rank table, and what the environment says.
#include "comm/rendezvous/rank_source.h"

#include <optional>
#include <string>
#include <tuple>

#include "acl/collective/handle.h"
#include "acl/include/anynpu/collective.h"
#include "comm/rendezvous/join.h"
#include "comm/rendezvous/rank_table.h"

using namespace npu;  // NOLINT: the C functions below are the door itself

namespace {

/// Looks up a rank of a table as joining would; who writes the table is not waited for.
void look_up(const comm::RankSource& source, anynpu_rank_source& out) {
  comm::RankTable table = comm::read_rank_table(source.table, 0);
  comm::take_ranks(table, source.rank_size, source.table);
  // Its device is not known: a pod with several is found by the first.
  const uint32_t rank = comm::rank_in(table, source.rank_id, -1, source.table);
  out.rank = static_cast<int32_t>(rank);
  out.size = static_cast<uint32_t>(table.ranks.size());
  out.device = table.ranks[rank].device;
}

void describe(const comm::RankSource& source, anynpu_rank_source& out) {
  out.source = source.name.c_str();
  out.table = source.table.c_str();
  out.rank = source.rank == comm::kAnyRank ? -1 : static_cast<int32_t>(source.rank);
  // The table, where there is one, knows better than the variables.
  out.size = source.size;
  if (!source.table.empty()) look_up(source, out);
  // A chief names its one port; without a chief ranks meet at one of a block.
  const comm::PortBlock block = source.chief.empty() ? comm::meeting_ports() : comm::PortBlock{source.port, 1};
  out.first_port = block.first;
  out.ports = block.count;
}

}  // namespace

int32_t anynpu_each_table_rank(const char* path, void (*visit)(const anynpu_table_rank* rank, void* context),
                               void* context) {
  return acl::hccl("anynpu_each_table_rank", [&] {
    const comm::RankTable table = comm::read_rank_table(acl::pointer(path, "path"), 0);
    for (size_t i = 0; i < table.ranks.size(); ++i) {
      const comm::TableRank& each = table.ranks[i];
      const anynpu_table_rank out{sizeof(out), static_cast<int32_t>(i), each.device, each.server.c_str(),
                                  each.pod.c_str()};
      visit(&out, context);
    }
  });
}

void anynpu_who_am_i(void (*visit)(const anynpu_rank_source* source, void* context), void* context) {
  anynpu_rank_source out{sizeof(out), "", "", -1, 0, -1, 0, 0, ""};
  std::optional<comm::RankSource> source;
  std::string problem;
  // A problem is an answer too: a tool shows it beside what was found.
  try {
    source = comm::find_rank_source();
    if (source)
      describe(*source, out);
    else
      std::tie(out.first_port, out.ports) = std::pair(comm::meeting_ports().first, comm::meeting_ports().count);
  } catch (const Error& error) {
    problem = error.message();
    out.problem = problem.c_str();
  }
  visit(&out, context);
}
