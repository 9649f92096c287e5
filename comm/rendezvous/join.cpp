// SPDX-License-Identifier: Apache-2.0
#include "comm/rendezvous/join.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "base/hash.h"
#include "base/log.h"
#include "comm/core/soc_limit.h"
#include "comm/rendezvous/rank_source.h"
#include "comm/rendezvous/rank_table.h"
#include "comm/rendezvous/variable.h"
#include "comm/transport/shared_memory/host_service.h"
#include "comm/transport/shared_memory/shared_memory.h"
#include "comm/transport/ucx/network.h"
#include "device/context/context.h"
#include "device/process/soc.h"

namespace npu::comm {
namespace {

NPU_SETTING(int64_t, connect_timeout, "HCCL_CONNECT_TIMEOUT", 120,
            "Seconds that ranks wait for each other when a communicator is made.");
NPU_SETTING(int64_t, base_port, "HCCL_IF_BASE_PORT", 0,
            "First of 16 ports at which the rank that gathers the others listens; 0: any free port, 60000 with a rank "
            "table.");
NPU_SETTING(std::string, own_device, "ASCEND_DEVICE_ID", "",
            "The device of this process: npu.open() opens it when it is given no number; a rank table must agree.");
NPU_SETTING(std::string, job, "JOB_ID", "",
            "Name of the job; jobs that use the same rank table at once need different "
            "ones.");

constexpr uint16_t kPorts = 16;
constexpr uint16_t kTablePort = 60000;
constexpr char kMagic[8] = "ANYNPU1";

struct RootInfo {
  char magic[8];
  char uid[64];
  char address[64];
  uint16_t port;
};
static_assert(sizeof(RootInfo) <= kRootInfoBytes);

Deadline deadline() { return std::chrono::steady_clock::now() + std::chrono::seconds(connect_timeout()); }

uint16_t checked_base_port() {
  const int64_t port = base_port();
  if (port < 0 || port > 65520) fault(Result::kParameter, "EI0001: HCCL_IF_BASE_PORT is {}; it is 0 to 65520", port);
  return static_cast<uint16_t>(port);
}

std::string random_uid() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}", random(), random(), random());
}

/// The same for all ranks that meet by the same words. A rank that joins by them again gets the next one.
std::string uid_of(std::string content, uint32_t rank) {
  static std::mutex mutex;
  static std::map<std::string, int>& used = *new std::map<std::string, int>;
  content += "|" + job();
  const std::lock_guard lock(mutex);
  return fmt::format("{:016x}-{}", hash_of(content), used[fmt::format("{}#{}", content, rank)]++);
}

std::string words_of(const RankTable& table, const std::string& name) {
  std::string out = name;
  for (const TableRank& each : table.ranks) out += fmt::format("|{},{},{}", each.device, each.server, each.pod);
  return out;
}

/// Tables that differ are a mistake among processes of one job: those of one JOB_ID, or of one launcher.
std::string job_of(const std::string& name) {
  return fmt::format("table {} of {}", name, job().empty() ? fmt::format("process {}", getppid()) : job());
}

Peer this_rank(uint32_t rank, int device, const std::string& order = "") {
  const HostService& service = HostService::get();
  const std::string host = service.host().empty() ? host_name() : service.host();
  return {rank,
          device,
          getpid(),
          host,
          service.process(),
          service.socket(),
          service.domain(),
          "",
          order,
          device::physical_device(device)};
}

void check_size(uint32_t size, uint32_t rank) {
  if (size == 0 || size > kMostRanks)
    fault(Result::kParameter, "EI0003: nRanks is {}; it is 1 to {}", size, kMostRanks);
  if (rank >= size) fault(Result::kParameter, "EI0003: rank is {} of {} ranks", rank, size);
}

bool has_ended(const Peer& peer) {
  return HostService::get().has_ended(peer.process) ||
         (peer.domain == HostService::get().domain() && kill(peer.pid, 0) != 0 && errno == ESRCH);
}

[[noreturn]] void ended_while_joining(const Peer& peer) {
  fault(Result::kRemote, "EI0006: {} has ended while the ranks were joining", describe(peer));
}

/// Links to all other processes of the group; they also tell when one ends.
std::vector<std::shared_ptr<Link>> linked(const Group& group) {
  std::vector<std::shared_ptr<Link>> out;
  std::set<std::string> met = {HostService::get().process()};
  for (const Peer& peer : group.peers) {
    if (!met.insert(peer.process).second) continue;
    out.push_back(Link::to(peer));
    if (out.back() != nullptr) continue;
    if (has_ended(peer)) ended_while_joining(peer);
    fault(Result::kRemote, "EI0006: {} cannot be reached at {}: it has ended, or its socket was removed",
          describe(peer), peer.socket);
  }
  return out;
}

/// The ranks of `group` that share memory with `rank`; they count among themselves.
struct Near {
  Group group;
  uint32_t rank;
  uint32_t all;  // ranks of the whole group
};

Near near(const Group& group, uint32_t rank) {
  const Hosts hosts = hosts_of(group);
  const auto all = static_cast<uint32_t>(group.peers.size());
  if (hosts.count() == 1) return {group, rank, all};
  return {group_of_host(group, hosts, hosts.host_of[rank]), hosts.place_of[rank], all};
}

/// The board that the process of the first of them has made; none when it has not yet. Raises what it has failed with.
std::shared_ptr<Board> find_board(const Near& near) {
  const Group& group = near.group;
  const Peer& first = group.peers[0];
  int fd = -1;
  if (first.process == HostService::get().process())
    fd = HostService::get().board(group.uid);
  else if (const std::shared_ptr<Link> link = Link::to(first))
    fd = link->fetch_board(group.uid);
  if (fd < 0) return nullptr;
  return std::make_shared<Board>(fd, static_cast<uint32_t>(group.peers.size()), near.all, group.uid);
}

std::shared_ptr<Board> fetched_board(const Near& near, Deadline until) {
  while (std::chrono::steady_clock::now() < until) {
    if (std::shared_ptr<Board> board = find_board(near)) return board;
    for (const Peer& peer : near.group.peers)
      if (has_ended(peer)) ended_while_joining(peer);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  fault(Result::kTimeout, "EI0006: {} has not made the group's memory; HCCL_CONNECT_TIMEOUT sets the limit",
        describe(near.group.peers[0]));
}

/// This rank cannot join: the others of its host, which wait for it, hear why, and through them all.
void tell_others(const Group& group, uint32_t rank, const Fault& reason) {
  const std::string text = fmt::format("{} could not join: {}", describe(group.peers[rank]), reason.message());
  const Near its = near(group, rank);
  if (its.rank == 0) return HostService::get().publish_failure(its.group.uid, text);
  const Deadline soon = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  try {
    fetched_board(its, soon)->abort(static_cast<int32_t>(reason.result()), text);
  } catch (const Fault&) {
    // The first rank has failed or ended, too, and who waits for it hears that.
  }
}

/// The process of the first rank of each host makes its board, the others fetch it.
std::shared_ptr<Communicator> joined_here(const Group& group, uint32_t rank, const Options& options, Deadline until) {
  const Near its = near(group, rank);
  std::vector<std::shared_ptr<Link>> links = linked(its.group);
  const std::string uid = its.group.uid;
  std::shared_ptr<Board> board;
  if (its.rank == 0) {
    board = std::make_shared<Board>(static_cast<uint32_t>(its.group.peers.size()), its.all, uid);
    HostService::get().publish_board(uid, board->file());
  } else {
    board = fetched_board(its, until);
  }
  // Before the board's descriptor is closed: peers would get another file by its number.
  struct Withdraw {
    const std::string uid;
    const std::shared_ptr<Board> published;
    ~Withdraw() {
      if (published != nullptr) HostService::get().withdraw_board(uid);
    }
  } withdraw{uid, its.rank == 0 ? board : nullptr};
  auto local = std::make_unique<SharedMemory>(its.group, its.rank, std::move(board), std::move(links));
  std::unique_ptr<Transport> transport;
  if (its.group.peers.size() == group.peers.size())
    transport = std::move(local);
  else
    transport = std::make_unique<Network>(group, rank, std::move(local), Wire::get());
  auto out = std::make_shared<Communicator>(group, std::move(transport), options);
  out->await_all(until);
  return out;
}

std::shared_ptr<Communicator> joined(const Group& group, uint32_t rank, const Options& options, Deadline until) {
  check_soc_group(group);  // all ranks know the same group, so all of them refuse it
  try {
    return joined_here(group, rank, options, until);
  } catch (const Fault& reason) {
    tell_others(group, rank, reason);
    throw;
  }
}

}  // namespace

PortBlock meeting_ports() { return {base_port() == 0 ? kTablePort : checked_base_port(), kPorts}; }

void make_root_info(std::span<char, kRootInfoBytes> out) {
  check_variables();
  const uint16_t first = checked_base_port();
  const uint16_t ports = first == 0 ? uint16_t{1} : kPorts;
  const Place place = start_registrar({random_uid(), own_address(), first, ports}, deadline());
  RootInfo info{};
  std::memcpy(info.magic, kMagic, sizeof(kMagic));
  place.uid.copy(info.uid, sizeof(info.uid) - 1);
  place.address.copy(info.address, sizeof(info.address) - 1);
  info.port = place.port;
  std::ranges::fill(out, '\0');
  std::memcpy(out.data(), &info, sizeof(info));
}

std::shared_ptr<Communicator> join_root(std::span<const char, kRootInfoBytes> root, uint32_t size, uint32_t rank,
                                        const Options& options) {
  check_variables();
  check_size(size, rank);
  RootInfo info;
  std::memcpy(&info, root.data(), sizeof(info));
  if (std::memcmp(info.magic, kMagic, sizeof(kMagic)) != 0)
    fault(Result::kParameter,
          "EI0003: rootInfo is not what HcclGetRootInfo of this version made; pass its 4108 bytes to all ranks "
          "unchanged");
  const Deadline until = deadline();
  Place place{info.uid, info.address, info.port};
  place.listens = true;
  Group group = register_rank(place, size, this_rank(rank, device::current_device()), until);
  group.name = options.name.empty()
                   ? fmt::format("{}:{}_{}", info.address, info.port, std::string(info.uid).substr(0, 8))
                   : options.name;
  return joined(group, rank, options, until);
}

namespace {

/// Where the ranks of a table meet: those of one server on this host, whatever the table says of it; others at the
/// address of rank 0's.
std::string meeting_address(const RankTable& table, uint32_t rank, const std::string& path) {
  const TableRank& first = table.ranks[0];
  if (std::ranges::all_of(table.ranks, [&](const TableRank& each) { return each.server == first.server; }))
    return "127.0.0.1";
  const std::string address = first.address.empty() ? address_of_host(first.server) : first.address;
  if (rank == 0 && !is_own_address(address))
    fault(Result::kParameter,
          "EI0004: {}: rank 0 is on server '{}' ({}), which is no address of this machine ({} is one); correct host_ip "
          "or server_id, or give all ranks one server_id to run them on this host",
          path, first.server, address, own_address());
  return address;
}

/// What a table says of devices that contradicts this machine, or ASCEND_DEVICE_ID: told before anybody is waited for.
void check_devices(const RankTable& table, uint32_t rank, const std::string& path) {
  const int devices = device::all_devices();
  for (uint32_t i = 0; i < table.ranks.size(); ++i)
    if (table.ranks[i].device >= devices)
      fault(Result::kParameter,
            "EI0004: {}: device_id of rank {} is {}, but there are devices 0 to {}; correct it, or set "
            "ANYNPU_DEVICES={}",
            path, i, table.ranks[i].device, devices - 1, table.ranks[i].device + 1);
  // Among visible devices ASCEND_DEVICE_ID counts anew.
  const std::string own = own_device();
  if (own.empty() || device::device_count() != devices || own == std::to_string(table.ranks[rank].device)) return;
  fault(Result::kParameter, "EI0004: {}: device_id of rank {} is {}, but ASCEND_DEVICE_ID is '{}'; correct one of them",
        path, rank, table.ranks[rank].device, own);
}

/// Joins the ranks of `table`, which `path` names in texts.
std::shared_ptr<Communicator> join_ranks_of(const RankTable& table, const std::string& path, uint32_t rank,
                                            const Options& options) {
  const auto size = static_cast<uint32_t>(table.ranks.size());
  check_size(size, rank);
  check_devices(table, rank, path);
  const Deadline until = deadline();
  const auto [first, count] = meeting_ports();
  Place place{uid_of(words_of(table, options.name), rank), meeting_address(table, rank, path), first, count};
  place.job = job_of(options.name);
  place.told = fmt::format("{} ({} ranks)", path, size);
  for (const TableRank& each : table.ranks) place.devices.push_back(fmt::format("{}/{}", each.server, each.device));
  if (rank == 0) start_registrar(place, until);
  Group group = register_rank(place, size, this_rank(rank, device::current_device()), until);
  group.name = options.name.empty() ? fmt::format("table_{}", place.uid.substr(0, 8)) : options.name;
  return joined(group, rank, options, until);
}

}  // namespace

std::shared_ptr<Communicator> join_table(const std::string& path, uint32_t rank, const Options& options) {
  check_variables();
  return join_ranks_of(read_rank_table(path, connect_timeout()), path, rank, options);
}

namespace {

/// Whether the chief is on another host. The guide's addresses need not be this machine's: workers of the chief's host
/// meet on it.
bool chief_is_far(const RankSource& source) {
  return !source.worker.empty() && source.worker != source.chief && !is_own_address(source.chief);
}

/// What cannot be is not waited for: each rank of a host is on a device of its own.
void check_chief(const RankSource& source) {
  if (chief_is_far(source)) return;
  const int devices = device::all_devices();
  if (source.chief_device >= devices)
    fault(Result::kParameter, "EI0001: CM_CHIEF_DEVICE is {}, but there are devices 0 to {} (ANYNPU_DEVICES)",
          source.chief_device, devices - 1);
  const bool alone = is_loopback(source.chief) || !is_own_address(source.chief);
  if (alone && source.size > static_cast<uint32_t>(devices))
    fault(Result::kParameter,
          "EI0001: CM_WORKER_SIZE is {}, but there are {} devices, one for each rank; set ANYNPU_DEVICES={}",
          source.size, devices, source.size);
}

/// Where the processes of a launcher meet, or those that CM_CHIEF_IP names.
Place place_of(const RankSource& source, uint32_t rank) {
  const std::string uid = uid_of(source.meeting, rank);
  if (!source.chief.empty()) {
    const bool named = chief_is_far(source) || is_own_address(source.chief);
    return {uid, named ? source.chief : "127.0.0.1", source.port, 1};
  }
  const auto [first, count] = meeting_ports();
  if (source.hosts == 1) return {uid, "127.0.0.1", first, count};
  if (source.first_host.empty())
    fault(Result::kParameter,
          "EI0001: the launcher has started ranks on several hosts (after {}), but not said where rank 0 is; set "
          "MASTER_ADDR to its host's address or name (mpirun -x MASTER_ADDR=…)",
          source.name);
  return {uid, address_of_host(source.first_host), first, count};
}

/// A host's name may stand for its loopback, on that host.
Place at_all_addresses(Place place) {
  place.address = place.address.find(':') == std::string::npos ? "0.0.0.0" : "::";
  return place;
}

/// Addresses of hosts in their order as numbers.
std::string in_order(const std::string& address) {
  std::string out;
  std::istringstream parts(address);
  for (std::string part; std::getline(parts, part, '.');) out += fmt::format("{:0>5}.", part);
  return out;
}

std::shared_ptr<Communicator> join_launched(const RankSource& source, const Options& options) {
  if (!source.chief.empty()) check_chief(source);
  check_size(source.size, source.rank == kAnyRank ? 0 : source.rank);
  const int32_t device = device::current_device();
  const Deadline until = deadline();
  const Place place = place_of(source, source.rank);
  const bool gathers = source.chief.empty() ? source.rank == 0 : !chief_is_far(source) && device == source.chief_device;
  if (gathers) start_registrar(source.hosts > 1 ? at_all_addresses(place) : place, until);
  Group group = register_rank(place, source.size, this_rank(source.rank, device, in_order(source.worker)), until);
  group.name = options.name;
  const auto own = std::ranges::find_if(group.peers, [&](const Peer& each) {
    return each.process == HostService::get().process() && each.device == device;
  });
  return joined(group, own->rank, options, until);
}

}  // namespace

std::shared_ptr<Communicator> join_environment(const Options& options) {
  check_variables();
  const std::optional<RankSource> source = find_rank_source();
  if (!source)
    fault(Result::kNotFound,
          "the environment names no rank: set RANK_TABLE_FILE and RANK_ID, or CM_CHIEF_IP and what belongs to it, or "
          "start the script with anynpu launch, torchrun, mpirun or srun");
  std::shared_ptr<Communicator> out;
  if (source->table.empty()) {
    out = join_launched(*source, options);
  } else {
    RankTable table = read_rank_table(source->table, connect_timeout());
    take_ranks(table, source->rank_size, source->table);
    const uint32_t rank = rank_in(table, source->rank_id, device::current_device(), source->table);
    out = join_ranks_of(table, source->table, rank, options);
  }
  NPU_LOG(kInfo, "HCCL", "rank {} of {} on device {}, from {}", out->rank(), out->size(), out->device(), source->name);
  return out;
}

std::vector<std::shared_ptr<Communicator>> join_all(std::span<const int32_t> devices) {
  check_variables();
  const auto size = static_cast<uint32_t>(devices.size());
  check_size(size, 0);
  for (uint32_t i = 0; i < size; ++i) {
    device::check_device(devices[i]);
    if (std::ranges::count(devices, devices[i]) > 1)
      fault(Result::kParameter, "EI0003: devices[{}] is {}, which stands there twice; each rank has its own device", i,
            devices[i]);
  }
  Group group{random_uid(), "", {}};
  group.name = "all_" + group.uid.substr(0, 8);
  for (uint32_t i = 0; i < size; ++i) group.peers.push_back(this_rank(i, devices[i]));
  check_soc_group(group);
  const auto board = std::make_shared<Board>(size, size, group.uid);
  std::vector<std::shared_ptr<Communicator>> out;
  for (uint32_t i = 0; i < size; ++i)
    out.push_back(std::make_shared<Communicator>(
        group, std::make_unique<SharedMemory>(group, i, board, std::vector<std::shared_ptr<Link>>())));
  return out;
}

std::shared_ptr<Communicator> join_part(const Communicator& parent, std::span<const uint32_t> ranks, uint64_t id,
                                        uint32_t rank, const Options& options) {
  parent.check();
  check_size(static_cast<uint32_t>(ranks.size()), rank);
  Group group;
  group.name = options.name.empty() ? fmt::format("{}_sub_{}", parent.group().name, id) : options.name;
  std::set<uint32_t> met;
  for (const uint32_t each : ranks) {
    if (each >= parent.size() || !met.insert(each).second)
      fault(Result::kParameter, "EI0003: rankIds {} must be different ranks of a group of {}", fmt::join(ranks, ", "),
            parent.size());
    Peer peer = parent.peer(each);
    peer.rank = static_cast<uint32_t>(group.peers.size());
    group.peers.push_back(std::move(peer));
  }
  if (ranks[rank] != parent.rank())
    fault(Result::kParameter, "EI0003: subCommRankId is {}, and rankIds[{}] is {}, but this is rank {}", rank, rank,
          ranks[rank], parent.rank());
  // The same part may be made again, while the first one's board can still be had: each time has a name of its own.
  group.uid = uid_of(fmt::format("{}/{}/{}", parent.group().uid, id, fmt::join(ranks, ",")), parent.rank());
  return joined(group, rank, options, deadline());
}

}  // namespace npu::comm
