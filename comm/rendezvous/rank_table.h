// SPDX-License-Identifier: Apache-2.0
// Rank tables: the JSON files that say which rank runs on which device of which server. Read are template 1
// (server_list, also the form of the 910B and of super pods) and template 2 (group_list, older), with the extra keys
// found in practice passed over.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace npu::comm {

struct TableRank {
  int32_t device = -1;  ///< device_id
  std::string server;   ///< server_id
  std::string address;  ///< host_ip, else server_id where that is an address, else ""
  std::string pod;      ///< template 2: pod_name
};

struct RankTable {
  bool complete = true;          ///< status "completed"; a table that is still "initializing" is read again
  std::vector<TableRank> ranks;  ///< by rank
};

/// Raises kParameter, "EI0004: <source>: <where>: …", for whatever makes no sense: keys that are missing, counts that
/// do not fit their lists, ranks, devices, their addresses or servers that stand twice, a status or
/// version that is unknown. Numbers in place of texts are accepted.
RankTable parse_rank_table(std::string_view text, const std::string& source);

/// Leaves the first `size` ranks of a table that lists more devices than a training uses (RANK_SIZE); 0 leaves all.
/// Raises kParameter, "EI0001: …", for a table with fewer ranks.
void take_ranks(RankTable& table, uint32_t size, const std::string& source);

/// The rank that RANK_ID names: a number, or in template 2 a pod's name with the device in it. Raises kParameter.
uint32_t rank_in(const RankTable& table, const std::string& rank_id, int32_t device, const std::string& source);

/// Reads the file; one that is still being written is read again until `seconds` have passed. Raises kOpenFile,
/// kParameter.
RankTable read_rank_table(const std::string& path, int64_t seconds);

}  // namespace npu::comm
