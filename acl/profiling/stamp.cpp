// SPDX-License-Identifier: Apache-2.0
// Marks by the functions of acl_prof.h.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "acl/call.h"
#include "acl/include/acl/acl_prof.h"
#include "acl/profiling/mark.h"

struct aclprofStepInfo {
  uint64_t number;
};

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

namespace {

using device::trace::Mark;

struct Stamp {
  std::string message;
};

struct Stamps {
  std::mutex mutex;
  std::map<const void*, std::unique_ptr<Stamp>> live;
  std::map<const aclprofStepInfo*, std::unique_ptr<aclprofStepInfo>> steps;
  std::map<uint32_t, uint64_t> ranges;  ///< what clients have, and the range it stands for
};
// Never destroyed: clients may end ranges while the process ends.
Stamps& stamps() {
  static Stamps& instance = *new Stamps;
  return instance;
}

thread_local std::vector<uint64_t> pushed;

/// With the lock held.
Stamp& live(const void* stamp) {
  const auto found = stamps().live.find(given(stamp, "stamp"));
  if (found == stamps().live.end())
    fail(Code::kInvalidParam, "stamp is none, or has been destroyed; make one by aclprofCreateStamp");
  return *found->second;
}

std::string message_of(const void* stamp) {
  const std::lock_guard lock(stamps().mutex);
  return live(stamp).message;
}

std::string_view text_of(const char* text, size_t length, const char* name) {
  if (length == 0) fail(Code::kInvalidParam, "{} has length 0; give its bytes without the terminating null", name);
  return {given(text, name), length};
}

}  // namespace

void* aclprofCreateStamp() {
  return call_or<void*>("aclprofCreateStamp", nullptr, [&]() -> void* {
    auto stamp = std::make_unique<Stamp>();
    const std::lock_guard lock(stamps().mutex);
    void* const handle = stamp.get();
    stamps().live[handle] = std::move(stamp);
    return handle;
  });
}

void aclprofDestroyStamp(void* stamp) {
  call("aclprofDestroyStamp", [&] {
    const std::lock_guard lock(stamps().mutex);
    live(stamp);
    stamps().live.erase(stamp);
  });
}

aclError aclprofSetStampTraceMessage(void* stamp, const char* msg, uint32_t msgLen) {
  return call("aclprofSetStampTraceMessage", [&] {
    const std::string_view text = text_of(msg, msgLen, "msg");
    const std::lock_guard lock(stamps().mutex);
    live(stamp).message = text;
  });
}

aclError aclprofMark(void* stamp) {
  return call("aclprofMark", [&] { mark_moment({message_of(stamp)}, nullptr); });
}

aclError aclprofMarkEx(const char* msg, size_t msgLen, aclrtStream stream) {
  return call("aclprofMarkEx", [&] { mark_moment({text_of(msg, msgLen, "msg")}, given(stream, "stream")); });
}

aclError aclprofPush(void* stamp) {
  return call("aclprofPush", [&] { pushed.push_back(begin_range({message_of(stamp), "", Mark::kNested}, nullptr)); });
}

aclError aclprofPop() {
  return call("aclprofPop", [&] {
    if (pushed.empty()) fail(Code::kInvalidParam, "this thread has pushed nothing; call aclprofPush first, in it");
    end_range(pushed.back());
    pushed.pop_back();
  });
}

aclError aclprofRangeStart(void* stamp, uint32_t* rangeId) {
  return call("aclprofRangeStart", [&] {
    static uint32_t last = 0;
    uint32_t& place = result(rangeId, "rangeId");
    const uint64_t range = begin_range({message_of(stamp)}, nullptr);
    const std::lock_guard lock(stamps().mutex);
    stamps().ranges[place = ++last] = range;
  });
}

aclError aclprofRangeStop(uint32_t rangeId) {
  return call("aclprofRangeStop", [&] {
    const std::lock_guard lock(stamps().mutex);
    const auto found = stamps().ranges.find(rangeId);
    if (found == stamps().ranges.end())
      fail(Code::kInvalidParam, "rangeId {} is no open range; pass what aclprofRangeStart gave, once", rangeId);
    end_range(found->second);
    stamps().ranges.erase(found);
  });
}

aclprofStepInfo* aclprofCreateStepInfo() {
  return call_or<aclprofStepInfo*>("aclprofCreateStepInfo", nullptr, [&] {
    static std::atomic<uint64_t> last{0};
    auto step = std::make_unique<aclprofStepInfo>(++last);
    const std::lock_guard lock(stamps().mutex);
    aclprofStepInfo* const handle = step.get();
    stamps().steps[handle] = std::move(step);
    return handle;
  });
}

void aclprofDestroyStepInfo(aclprofStepInfo* stepinfo) {
  call("aclprofDestroyStepInfo", [&] {
    const std::lock_guard lock(stamps().mutex);
    if (stamps().steps.erase(given(stepinfo, "stepinfo")) == 0)
      fail(Code::kInvalidParam, "stepinfo is none, or has been destroyed; make one by aclprofCreateStepInfo");
  });
}

aclError aclprofGetStepTimestamp(aclprofStepInfo* stepInfo, aclprofStepTag tag, aclrtStream stream) {
  return call("aclprofGetStepTimestamp", [&] {
    uint64_t number = 0;
    {
      const std::lock_guard lock(stamps().mutex);
      const auto found = stamps().steps.find(given(stepInfo, "stepInfo"));
      if (found == stamps().steps.end())
        fail(Code::kInvalidParam, "stepInfo is none, or has been destroyed; make one by aclprofCreateStepInfo");
      number = found->second->number;
    }
    if (tag != ACL_STEP_START && tag != ACL_STEP_END)
      fail(Code::kInvalidParam, "tag is {}; pass ACL_STEP_START or ACL_STEP_END", static_cast<int>(tag));
    mark_step(tag == ACL_STEP_END, number, stream);
  });
}
