// SPDX-License-Identifier: Apache-2.0
#include "acl/profiling/option.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>

#include "acl/call.h"
#include "acl/include/acl/acl_prof.h"
#include "acl/include/anynpu/profile.h"
#include "acl/notice.h"
#include "acl/profiling/mark.h"
#include "acl/profiling/session.h"
#include "base/json.h"
#include "base/json_text.h"
#include "base/setting.h"
#include "base/text.h"

namespace npu::acl {
namespace {

NPU_SETTING(
    std::string, profiling_mode, "PROFILING_MODE", "false",
    "true: record the whole process into a folder PROF_*, by PROFILING_OPTIONS; dynamic: when msprof --dynamic=on "
    "asks for it (docs/profile.md).");
NPU_SETTING(std::string, profiling_options, "PROFILING_OPTIONS", "{}",
            "What PROFILING_MODE records and where, as JSON: {\"output\": \"/tmp/profile\"} (docs/profile.md).");

// What is taken as it is: recorded anyway, or read by the tools from the collection.
constexpr std::array<std::string_view, 10> kAnyway{"training_trace", "task_trace", "hccl",     "aicpu",
                                                   "runtime_api",    "ge_api",     "fp_point", "bp_point",
                                                   "ascendcl",       "switch"};
// What options begin with that ask for counters of the chip, or samples of it and of the machine.
constexpr std::array<std::string_view, 10> kHardware{"aic",  "aiv",  "ai_",   "l2",       "llc",
                                                     "sys_", "dvpp", "instr", "host_sys", "model_execution"};

bool is_of_hardware(std::string_view key) {
  return std::ranges::any_of(kHardware, [&](std::string_view begin) { return key.starts_with(begin); });
}

class Reader {
 public:
  Reader(const Json& options, const std::string& origin) : options_(options), origin_(origin) {}

  ProfilingOptions read() {
    ProfilingOptions out;
    for (const auto& [key, value] : options_.items()) take(key, value, out);
    if (!hardware_.empty())
      tell_once(
          fmt::format("{}: {} ask for counters of the chip or samples of the machine, which are not recorded; "
                      "times, shapes and memory are",
                      origin_, fmt::join(hardware_, ", ")));
    out.kinds = kCollectCalls | (shapes_ ? kCollectShapes : 0) | (marks_ ? kCollectMarks : 0);
    out.text = options_.dump();
    return out;
  }

 private:
  void take(const std::string& key, const Json& value, ProfilingOptions& out) {
    if (key == "output") {
      out.output = text(key, value);
      if (out.output.empty()) fail(Code::kInvalidParam, "{}: output is empty; give a folder", origin_);
    } else if (key == "task_time") {
      take_task_time(text(key, value));
    } else if (key == "msproftx") {
      marks_ = text(key, value) == "on";
    } else if (key == "storage_limit") {
      tell_once(
          fmt::format("{}: storage_limit changes nothing; recording ends with a line when the disk is full", origin_));
    } else if (std::ranges::find(kAnyway, key) != kAnyway.end()) {
      return;
    } else if (is_of_hardware(key)) {
      if (!value.is_string() || (value != "" && value != "off")) hardware_.insert(key);
    } else {
      fail(Code::kInvalidParam, "{}: '{}' is no option of profiling; docs/profile.md lists them", origin_, key);
    }
  }

  void take_task_time(const std::string& level) {
    constexpr std::array<std::string_view, 4> kLevels{"on", "off", "l0", "l1"};
    if (std::ranges::find(kLevels, level) == kLevels.end())
      fail(Code::kInvalidParam, "{}: task_time is '{}'; write on, off, l0 or l1", origin_, level);
    shapes_ = level == "on" || level == "l1";
  }

  std::string text(const std::string& key, const Json& value) const {
    if (!value.is_string())
      fail(Code::kInvalidParam, "{}: {} is {}; write a text in quotes", origin_, key, value.dump());
    return value.get<std::string>();
  }

  const Json& options_;
  const std::string& origin_;
  std::set<std::string> hardware_;
  bool shapes_ = true, marks_ = false;
};

std::atomic<bool> later_devices_join{false};

/// What aclInit's file or the environment asks for.
struct Request {
  std::mutex mutex;
  std::optional<ProfilingOptions> options;
  bool asked_environment = false;
};
Request& request() {
  static Request& instance = *new Request;
  return instance;
}

std::optional<ProfilingOptions> from_environment(int device) {
  const std::string mode = lowered(profiling_mode());
  if (mode == "true") return parse_profiling_options(profiling_options(), "PROFILING_OPTIONS");
  if (mode == "dynamic") listen_for_control(controlled(device));
  if (mode != "false" && mode != "dynamic" && !mode.empty())
    tell_once(
        fmt::format("PROFILING_MODE is '{}'; write true, false or dynamic. Nothing is recorded", profiling_mode()));
  return {};
}

std::optional<ProfilingOptions> asked_for(int device) {
  Request& asked = request();
  const std::lock_guard lock(asked.mutex);
  if (!asked.options && !std::exchange(asked.asked_environment, true)) asked.options = from_environment(device);
  return asked.options;
}

/// What is asked for beside the program; where that cannot be, it costs the records, not the program.
void profile_as_asked(int device) noexcept {
  try {
    if (const std::optional<ProfilingOptions> options = asked_for(device)) profile_by(*options, device);
  } catch (const std::exception& e) {
    tell_once(fmt::format("nothing is recorded: {}", e.what()));
  }
}

}  // namespace

ProfilingOptions parse_profiling_options(std::string_view text, const std::string& origin) {
  const Json options = Json::try_parse(strict_json(text)).value_or(nullptr);
  if (!options.is_object())
    fail(Code::kParseFile, "{} is no JSON object, such as {{\"output\": \"/tmp/profile\"}}: '{}'", origin, text);
  return Reader(options, origin).read();
}

void keep_profiler_section(const Json& section, const std::string& name) {
  if (!section.is_object() || section.value("switch", Json("off")) != "on") return;
  ProfilingOptions options = parse_profiling_options(section.dump(), fmt::format("configPath {}: profiler", name));
  const std::lock_guard lock(request().mutex);
  request().options = std::move(options);
}

void profile_by(const ProfilingOptions& options, int device) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (join_collection(device)) return;
  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  open_profiling(options.output);
  try {
    start_collection({{device}, options.kinds, options.text});
  } catch (...) {
    close_profiling();
    throw;
  }
  [[maybe_unused]] static const int hooked = std::atexit(end_profiling);
  print_once("profiling", fmt::format("profiling: records go to {0}\n"
                                      "profiling: afterwards, msprof --export=on --output={0} makes tables of them",
                                      collection_folder()));
}

void profile_device(int device) {
  static std::atomic<uint64_t> seen{0};  // devices; there are 64 at most
  const uint64_t bit = uint64_t{1} << (device & 63);
  if ((seen.fetch_or(bit, std::memory_order_relaxed) & bit) != 0) return;
  profile_as_asked(device);
  if (later_devices_join.load(std::memory_order_relaxed)) join_collection(device);
}

Controlled controlled(int device) {
  return {[device](std::string_view options) {
            if (join_collection(device))
              fail(Code::kProfAlreadyRun, "a collection runs, in {}; stop it first", collection_folder());
            profile_by(parse_profiling_options(options, "start"), device);
            return collection_folder();
          },
          [] {
            close_profiling();
            return collection_folder();
          }};
}

void let_later_devices_join() { later_devices_join = true; }

}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError anynpu_profile_start(const char* options, int32_t deviceId) {
  return call("anynpu_profile_start", [&] {
    if (options == nullptr) return profile_device(deviceId);
    profile_by(parse_profiling_options(options, "profiling_options"), deviceId);
  });
}

aclError anynpu_profile_stop() { return call("anynpu_profile_stop", close_profiling); }
int32_t anynpu_profile_running() { return is_collecting() ? 1 : 0; }

aclError anynpu_profile_module(const char* path, int32_t phase) {
  using device::trace::Phase;
  return ask("anynpu_profile_module", Code::kInvalidParam, [&] {
    if (phase < 0 || phase > static_cast<int32_t>(Phase::kStep))
      fail(Code::kInvalidParam, "phase is {}; give 0 (forward), 1 (gradient) or 2 (step of an optimizer)", phase);
    mark_module(given(path, "path"), static_cast<Phase>(phase));
  });
}

void anynpu_profile_folder(void (*visit)(const char* folder, void* context), void* context) {
  call("anynpu_profile_folder", [&] {
    given(visit, "visit");
    if (const std::string folder = collection_folder(); !folder.empty()) visit(folder.c_str(), context);
  });
}
