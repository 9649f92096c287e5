// SPDX-License-Identifier: Apache-2.0
#include "comm/rendezvous/rank_source.h"

#include <fmt/format.h>

#include <charconv>

#include "base/setting.h"
#include "comm/core/fault.h"
#include "comm/rendezvous/network.h"

namespace npu::comm {
namespace {

NPU_SETTING(std::string, rank_table_file, "RANK_TABLE_FILE", "", "The rank table of the job, with RANK_ID.");
NPU_SETTING(std::string, rank_id, "RANK_ID", "", "This process's rank in the table; in template 2 its pod_name.");
NPU_SETTING(std::string, chief_ip, "CM_CHIEF_IP", "",
            "Without a rank table: address of the host that gathers the ranks.");
NPU_SETTING(std::string, chief_port, "CM_CHIEF_PORT", "", "The port at which it listens, 0 to 65520.");
NPU_SETTING(std::string, chief_device, "CM_CHIEF_DEVICE", "", "The device of the process that gathers the ranks.");
NPU_SETTING(std::string, worker_size, "CM_WORKER_SIZE", "", "Number of ranks, 1 to 4096.");
NPU_SETTING(std::string, worker_ip, "CM_WORKER_IP", "", "The address of this process's host.");
NPU_SETTING(std::string, torch_rank, "RANK", "", "This process's rank, set by torchrun and anynpu launch.");
NPU_SETTING(std::string, torch_size, "WORLD_SIZE", "", "Number of ranks, set by torchrun and anynpu launch.");
NPU_SETTING(std::string, master_address, "MASTER_ADDR", "", "torchrun's store; tells its jobs apart.");
NPU_SETTING(std::string, master_port, "MASTER_PORT", "", "torchrun's store; tells its jobs apart.");
NPU_SETTING(std::string, mpi_rank, "OMPI_COMM_WORLD_RANK", "", "This process's rank, set by mpirun.");
NPU_SETTING(std::string, mpi_size, "OMPI_COMM_WORLD_SIZE", "", "Number of ranks, set by mpirun.");
NPU_SETTING(std::string, mpi_job, "OMPI_MCA_ess_base_jobid", "", "mpirun's job; tells its jobs apart.");
NPU_SETTING(std::string, slurm_rank, "SLURM_PROCID", "", "This process's rank, set by srun.");
NPU_SETTING(std::string, slurm_size, "SLURM_NTASKS", "", "Number of ranks, set by srun.");
NPU_SETTING(std::string, slurm_hosts, "SLURM_NNODES", "", "Number of hosts, set by srun.");
NPU_SETTING(std::string, slurm_list, "SLURM_JOB_NODELIST", "",
            "The hosts, set by srun: ranks meet at the first one unless MASTER_ADDR is set.");
NPU_SETTING(std::string, slurm_step_list, "SLURM_STEP_NODELIST", "", "Those of the step, which count first.");
NPU_SETTING(std::string, slurm_step, "SLURM_STEP_ID", "", "Slurm's step; tells those of one job apart.");
NPU_SETTING(std::string, slurm_job, "SLURM_JOB_ID", "", "Slurm's job; tells its jobs apart.");

using Get = std::function<std::string(std::string_view)>;

uint32_t number(const Get& get, std::string_view variable, uint32_t most) {
  const std::string text = get(variable);
  uint32_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || out > most)
    fault(Result::kParameter, "EI0001: {} is '{}'; it is a number from 0 to {}", variable, text, most);
  return out;
}

RankSource chief(const Get& get) {
  RankSource out;
  out.name = "CM_CHIEF_IP";
  out.chief = get("CM_CHIEF_IP");
  out.port = static_cast<uint16_t>(number(get, "CM_CHIEF_PORT", 65520));
  out.chief_device = static_cast<int32_t>(number(get, "CM_CHIEF_DEVICE", 1023));
  out.size = number(get, "CM_WORKER_SIZE", 4096);
  if (out.size == 0) fault(Result::kParameter, "EI0001: CM_WORKER_SIZE is 0; it is the number of ranks, 1 to 4096");
  out.worker = get("CM_WORKER_IP");
  out.meeting = fmt::format("cm {}:{}", out.chief, out.port);
  return out;
}

struct Launcher {
  const char *rank, *size, *first_mark, *second_mark;
  const char* local_size;  // ranks on this host; null: see SLURM_NNODES
};
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "LOCAL_WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_MCA_ess_base_jobid", "JOB_ID", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID", "SLURM_STEP_ID", nullptr},
};

/// Whether there are ranks on other hosts. A launcher that does not say how many are here has said on how many hosts
/// they are, or where rank 0 is.
bool on_several_hosts(const Get& get, const Launcher& launcher, uint32_t size) {
  if (launcher.local_size == nullptr) return !get("SLURM_NNODES").empty() && number(get, "SLURM_NNODES", 4096) > 1;
  const std::string here = get(launcher.local_size), master = get("MASTER_ADDR");
  if (!here.empty() && here != "0") return number(get, launcher.local_size, 4096) < size;
  return !master.empty() && master != "localhost" && !is_loopback(master);
}

}  // namespace

std::string first_of_list(std::string_view list) {
  const size_t open = list.find('['), comma = list.find(',');
  if (open == std::string_view::npos || comma < open) return std::string(list.substr(0, comma));
  const std::string_view numbers = list.substr(open + 1);
  const size_t end = numbers.find_first_of(",-]"), close = numbers.find(']');
  if (close == std::string_view::npos)
    fault(Result::kParameter, "EI0001: SLURM_JOB_NODELIST is '{}'; a bracket is not closed. Set MASTER_ADDR", list);
  const std::string_view rest = numbers.substr(close + 1);
  return std::string(list.substr(0, open)) + std::string(numbers.substr(0, end)) +
         std::string(rest.substr(0, rest.find(',')));
}

std::optional<RankSource> find_rank_source(const Get& get) {
  RankSource out;
  if (const std::string table = get("RANK_TABLE_FILE"); !table.empty()) {
    if (!get("CM_CHIEF_IP").empty())
      fault(Result::kParameter, "EI0001: RANK_TABLE_FILE and CM_CHIEF_IP are both set; unset one of them");
    out.name = "RANK_TABLE_FILE";
    if (!get("RANK_SIZE").empty()) out.rank_size = number(get, "RANK_SIZE", 4096);
    out.table = table;
    out.rank_id = get("RANK_ID");
    if (out.rank_id.empty())
      fault(Result::kParameter,
            "EI0001: RANK_TABLE_FILE is set, but RANK_ID is not; it says which rank of the table this is");
    return out;
  }
  if (!get("CM_CHIEF_IP").empty()) return chief(get);
  for (const Launcher& each : kLaunchers) {
    if (get(each.rank).empty() || get(each.size).empty()) continue;
    out.name = each.rank;
    out.size = number(get, each.size, 4096);
    out.rank = number(get, each.rank, 4095);
    if (out.rank >= out.size)
      fault(Result::kParameter, "EI0001: {} is {}, but {} is {}", each.rank, out.rank, each.size, out.size);
    out.meeting = fmt::format("{} {}:{}", each.rank, get(each.first_mark), get(each.second_mark));
    if (on_several_hosts(get, each, out.size)) {
      out.hosts = 2;
      out.first_host = get("MASTER_ADDR");
      if (out.first_host.empty() && each.local_size == nullptr)
        out.first_host =
            first_of_list(get(get("SLURM_STEP_NODELIST").empty() ? "SLURM_JOB_NODELIST" : "SLURM_STEP_NODELIST"));
    }
    return out;
  }
  return std::nullopt;
}

std::optional<RankSource> find_rank_source() {
  return find_rank_source([](std::string_view variable) { return setting_text(variable); });
}

}  // namespace npu::comm
