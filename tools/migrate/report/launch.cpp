// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/report/launch.h"

namespace npu::migrate {
namespace {

constexpr const char* kScript = R"sh(#!/bin/bash
# Trains on several NPUs of this machine, one process each. Arguments are handed to the script:
#   ./run_distributed_npu.sh --epochs 10
# NPU_DEVICES="0 1" chooses the NPUs (all of them otherwise), MASTER_PORT the port they meet at, PYTHON the interpreter.
# Each process writes output_npu_<device>.log here. The exit code is 0 if all ended well, else that of the first that
# failed; the others are then ended.
cd "$(dirname "$(readlink -f "$0")")" || exit 2
python=${PYTHON:-python3}
if [ -z "$NPU_DEVICES" ]; then
  count=$("$python" -c 'import torch, torch_npu; print(torch.npu.device_count())') || exit 2
  NPU_DEVICES=$(seq -s ' ' 0 $((count - 1)))
fi
read -r -a devices <<< "$NPU_DEVICES"
[ ${#devices[@]} -gt 0 ] || { echo "no NPU: set NPU_DEVICES, as in NPU_DEVICES='0 1'" >&2; exit 2; }

export MASTER_ADDR=${MASTER_ADDR:-127.0.0.1} MASTER_PORT=${MASTER_PORT:-29688} HCCL_WHITELIST_DISABLE=1
export RANK_SIZE=${#devices[@]} WORLD_SIZE=${#devices[@]}
started=()
stop() { kill "${started[@]}" 2>/dev/null; wait; }
trap 'stop; exit 130' INT TERM
for rank in "${!devices[@]}"; do
  device=${devices[$rank]}
  RANK_ID=$rank RANK=$rank LOCAL_RANK=$rank DEVICE_ID=$device \
    "$python" -u @MAIN@ "$@" > "output_npu_$device.log" 2>&1 &
  started+=($!)
done

code=0
for _ in "${started[@]}"; do
  wait -n || { code=$?; break; }
done
if [ $code -ne 0 ]; then
  echo "a process ended with $code; the logs are output_npu_*.log here" >&2
  stop
fi
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
