// SPDX-License-Identifier: Apache-2.0
#include "anynpu/tuning.h"

#include <fmt/format.h>

#include <string>

#include "acl/call.h"
#include "acl/tuning/asked.h"
#include "base/error.h"
#include "base/json.h"
#include "device/process/soc.h"
#include "ops/tuner/tuner.h"
#include "ops/tuning/bank.h"
#include "ops/tuning/question.h"

namespace npu::acl {
namespace {

namespace tuning = ops::tuning;
using Visit = void (*)(const char* text, void* context);

tuning::Job job_of(int32_t job) {
  check_job(job);
  return static_cast<tuning::Job>(job);
}

std::string_view text_or_nothing(const char* text) { return text == nullptr ? "" : text; }

/// Why an entry is not used here; "" where it is.
std::string objection(const tuning::Bank::Key& key, const tuning::Entry& entry) {
  const tuning::Point* point = tuning::find_point(key.first);
  if (point == nullptr) return "this version has no such choice";
  if (!point->find(entry.way)) return fmt::format("this version has no way {}", entry.way);
  if (entry.product != tuning::product_version())
    return fmt::format("measured by version {}, this is {}; tune again", entry.product, tuning::product_version());
  return "";
}

void verify(const tuning::Bank& bank, Visit visit, void* context) {
  const auto say = [&](const std::string& text) { visit(text.c_str(), context); };
  if (bank.cpu != tuning::cpu_name())
    say(fmt::format("it is of CPU {}, this one is {}: nothing of it is used here", bank.cpu, tuning::cpu_name()));
  if (bank.soc != device::soc().name)
    say(fmt::format("it is of SoC {}, this process claims to be {}: nothing of it is used here", bank.soc,
                    device::soc().name));
  for (const auto& [key, entry] : bank.entries)
    if (const std::string reason = objection(key, entry); !reason.empty())
      say(fmt::format("{} for {}: {}", key.first, key.second, reason));
}

std::string way_of(const tuning::Entry& entry) {
  return entry.won ? fmt::format("{} ({:.2f}x)", entry.way, entry.ratio) : entry.usual + " (usual)";
}

void compare(const tuning::Bank& left, const tuning::Bank& right, Visit visit, void* context) {
  const auto say = [&](const tuning::Bank::Key& key, const std::string& a, const std::string& b) {
    if (a != b) visit(fmt::format("{} for {}: {} | {}", key.first, key.second, a, b).c_str(), context);
  };
  for (const auto& [key, entry] : left.entries) {
    const tuning::Entry* other = right.find(key.first, key.second);
    if (other == nullptr || other->won != entry.won || (entry.won && other->way != entry.way))
      say(key, way_of(entry), other == nullptr ? "not measured" : way_of(*other));
  }
  for (const auto& [key, entry] : right.entries)
    if (left.find(key.first, key.second) == nullptr) say(key, "not measured", way_of(entry));
}

}  // namespace
}  // namespace npu::acl

namespace tuning = npu::ops::tuning;
using npu::acl::given;

aclError anynpu_tuning_begin(int32_t job, const char* work_path, const char* config, npu::acl::Visit notice,
                             void* context) {
  return npu::acl::call("anynpu_tuning_begin", [&] {
    const tuning::Job wanted = npu::acl::job_of(job);
    tuning::Scope scope;
    if (config != nullptr)
      scope = tuning::read_scope(config, [&](std::string_view text) {
        if (notice != nullptr) notice(std::string(text).c_str(), context);
      });
    tuning::begin(wanted, std::move(scope), npu::acl::text_or_nothing(work_path));
  });
}

void anynpu_tuning_end(void) { tuning::end(); }

int32_t anynpu_tuning_running(void) {
  const auto session = tuning::session();
  return session == nullptr ? 0 : static_cast<int32_t>(session->job());
}

void anynpu_each_tuned(void (*visit)(const char* name, const char* purpose, const char* ways, void* context),
                       void* context) {
  for (const tuning::Point* point : tuning::points())
    visit(std::string(point->name).c_str(), std::string(point->purpose).c_str(),
          fmt::format("{}", fmt::join(point->ways, ",")).c_str(), context);
}

aclError anynpu_bank_file(int32_t job, npu::acl::Visit visit, void* context) {
  return npu::acl::call("anynpu_bank_file",
                        [&] { given(visit, "visit")(tuning::bank_file(npu::acl::job_of(job)).c_str(), context); });
}

aclError anynpu_bank_read(const char* file, npu::acl::Visit visit, void* context) {
  return npu::acl::call("anynpu_bank_read", [&] {
    given(visit, "visit");
    const tuning::Bank bank = tuning::read_bank(given(file, "file"));
    const auto all = npu::OrderedJson::parse(bank.text());
    for (const auto& entry : all.at("entries")) visit(entry.dump().c_str(), context);
  });
}

aclError anynpu_bank_verify(const char* file, npu::acl::Visit visit, void* context) {
  return npu::acl::call("anynpu_bank_verify", [&] {
    npu::acl::verify(tuning::read_bank(given(file, "file")), given(visit, "visit"), context);
  });
}

aclError anynpu_bank_merge(const char* into, const char* from, size_t* changed) {
  return npu::acl::call("anynpu_bank_merge", [&] {
    size_t& count = npu::acl::result(changed, "changed");
    const tuning::Bank bank = tuning::read_bank(given(from, "from"));
    count = tuning::add_to_bank(given(into, "into"), bank);
  });
}

aclError anynpu_bank_differences(const char* left, const char* right, npu::acl::Visit visit, void* context) {
  return npu::acl::call("anynpu_bank_differences", [&] {
    npu::acl::compare(tuning::read_bank(given(left, "left")), tuning::read_bank(given(right, "right")),
                      given(visit, "visit"), context);
  });
}
