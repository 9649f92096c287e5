// SPDX-License-Identifier: Apache-2.0
#include "acl/tuning/asked.h"

#include <mutex>
#include <string>

#include "acl/notice.h"
#include "base/error.h"
#include "base/setting.h"
#include "ops/tuner/tuner.h"

namespace npu::acl {
namespace {

NPU_SETTING(std::string, aoe_mode, "AOE_MODE", "",
            "Tunes while a program runs, and keeps what wins for later ones: 1 graphs, 2 operators (docs/tuning.md).");

void begin(const std::string& mode) {
  int job = 0;
  if (mode.size() == 1) job = mode.front() - '0';
  check_job(job);
  ops::tuning::begin(static_cast<ops::tuning::Job>(job), {}, "");
}

}  // namespace

void check_job(int job) {
  if (job == 4)
    fail(Code::kFeatureUnsupported,
         "tuning job 4 (gradient segments) is not built: TensorFlow's collectives are not there yet; tune graphs (1) "
         "and "
         "operators (2)");
  if (job != 1 && job != 2)
    fail(Code::kInvalidParam, "{} is no job of tuning; there are 1 (graphs) and 2 (operators)", job);
}

void tune_as_asked() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (aoe_mode().empty() || ops::tuning::session() != nullptr) return;
    try {
      begin(aoe_mode());
    } catch (const Error& e) {
      tell_once("AOE_MODE=" + aoe_mode() + ": " + e.message() + "; nothing is tuned");
    }
  });
}

}  // namespace npu::acl
