// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/report/launch.h"

namespace npu::migrate {
namespace {

constexpr const char* kScript = R"sh(#!/bin/bash
# Trains on several NPUs of this machine, one process each. Arguments are handed to the script:
#   ./run_distributed_npu.sh --epochs 10
# NPU_DEVICES="0 1" chooses the NPUs (all of them otherwise), MASTER_ADDR and MASTER_PORT where the processes meet,
# PYTHON the interpreter. On several machines, RANK_SIZE is the number of all processes, RANK_ID_START the first here.
# Each process writes output_npu_<device>.log here. The exit code is 0 if all ended well, else that of the first that
# failed; the others are then ended. So they are by Ctrl-C, with all that they started. They have STOP_SECONDS (10) to
# end by themselves.
cd "$(dirname "$(readlink -f "$0")")" || exit 2
set -m  # each process leads a group of its own, which can be ended as a whole
python=${PYTHON:-python3}
if [ -z "$NPU_DEVICES" ]; then
  count=$(set -o pipefail
    "$python" -c 'import torch, torch_npu; print(torch.npu.device_count())' | tail -n 1) || exit 2
  NPU_DEVICES=$(seq -s ' ' 0 $((count - 1)))
fi
read -r -a devices <<< "${NPU_DEVICES//,/ }"
[ ${#devices[@]} -gt 0 ] || { echo "no NPU: set NPU_DEVICES, as in NPU_DEVICES='0 1'" >&2; exit 2; }

export MASTER_ADDR=${MASTER_ADDR:-127.0.0.1} MASTER_PORT=${MASTER_PORT:-29688} HCCL_WHITELIST_DISABLE=1
export RANK_SIZE=${RANK_SIZE:-${#devices[@]}}
export WORLD_SIZE=$RANK_SIZE
started=()

send() {
  for group in "${started[@]}"; do kill "-$1" -- "-$group" && left=1; done
}
gone() {  # within so many tenths of a second
  for _ in $(seq "$1"); do
    left=0
    send 0
    [ $left -eq 1 ] || return 0
    sleep 0.1
  done
  return 1
}
stop() {  # politely, and after STOP_SECONDS for good
  trap '' INT TERM HUP
  exec 2> /dev/null  # not what the shell says of it
  send TERM
  gone $((${STOP_SECONDS:-10} * 10)) || { send KILL; gone 20; }
  wait
}
trap 'stop; exit 130' INT
trap 'stop; exit 143' TERM
trap 'stop; exit 129' HUP

for i in "${!devices[@]}"; do
  device=${devices[$i]}
  export RANK=$((${RANK_ID_START:-0} + i)) LOCAL_RANK=$i DEVICE_ID=$device
  export RANK_ID=$RANK
  (
    exec 3>&2 2> /dev/null
    trap 'stopped=1' TERM  # to be there as long as the process that it started
    "$python" -u @MAIN@ "$@" < /dev/null > "output_npu_$device.log" 2>&1 3>&-
    code=$?
    [ $code -eq 0 ] || [ -n "$stopped" ] ||
      echo "rank $RANK on NPU $device ended with $code; its log is output_npu_$device.log" >&3
    exit $code
  ) &
  started+=($!)
done

code=0
for _ in "${started[@]}"; do
  wait -n || { code=$?; break; }
done
[ $code -eq 0 ] || stop
exit $code
)sh";

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string launch_script(const std::string& main) {
  constexpr std::string_view kMark = "@MAIN@";
  std::string out = kScript;
  return out.replace(out.find(kMark), kMark.size(), quoted("./" + main));
}

}  // namespace npu::migrate
