// SPDX-License-Identifier: Apache-2.0
// Options of the operator compiler: kept as text and given back. One that clients act on says what is true of us before
// anybody sets it: nothing is compiled when it is first called. torch_npu then goes through aclnn on every SoC; where
// it reads anything else, an Ascend910A among them, it asks for operators by type, most of which are not known here.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string>

#include "acl/call.h"
#include "acl/include/acl/acl_op_compiler.h"
#include "base/log.h"

namespace npu::acl {
namespace {

struct Options {
  std::mutex mutex;
  std::array<std::string, ACL_OP_DEBUG_OPTION + 1> texts;
  Options() { texts[ACL_OP_JIT_COMPILE] = "disable"; }
};
// Never destroyed: clients ask while the process ends.
Options& options() {
  static Options& instance = *new Options;
  return instance;
}

constexpr int kWithoutEffect[] = {ACL_OP_DEBUG_LEVEL, ACL_DEBUG_DIR, ACL_OP_COMPILER_CACHE_MODE,
                                  ACL_OP_COMPILER_CACHE_DIR};

/// Once for each of them.
void tell_without_effect(int number) {
  static std::atomic<uint32_t> told = 0;
  const uint32_t bit = 1U << number;
  const bool listed =
      std::find(std::begin(kWithoutEffect), std::end(kWithoutEffect), number) != std::end(kWithoutEffect);
  if (listed && (told.fetch_or(bit) & bit) == 0)
    NPU_LOG(
        kWarning, "ASCENDCL",
        "aclSetCompileopt: option {} changes nothing: operators are called as they are, none is compiled. Functions "
        "of TensorFlow are: see op_compiler_cache_mode, op_debug_level and debug_dir of npu.global_options()",
        number);
}

// Under the lock of the caller, which reads or writes the text.
std::string& option(int number) {
  if (number < 0 || number > ACL_OP_DEBUG_OPTION)
    fail(Code::kInvalidParam, "opt is {}; options are numbered from 0 to {}", number,
         static_cast<int>(ACL_OP_DEBUG_OPTION));
  return options().texts[static_cast<size_t>(number)];
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclSetCompileopt(aclCompileOpt opt, const char* value) {
  return call("aclSetCompileopt", [&] {
    given(value, "value");
    const std::lock_guard lock(options().mutex);
    option(opt) = value;
    tell_without_effect(opt);
  });
}

size_t aclGetCompileoptSize(aclCompileOpt opt) {
  return call_or<size_t>("aclGetCompileoptSize", 0, [&] {
    const std::lock_guard lock(options().mutex);
    // With the terminating zero, which the client's buffer has to hold.
    return option(opt).size() + 1;
  });
}

aclError aclGetCompileopt(aclCompileOpt opt, char* value, size_t length) {
  return call("aclGetCompileopt", [&] {
    given(value, "value");
    const std::lock_guard lock(options().mutex);
    const std::string& text = option(opt);
    if (length <= text.size())
      fail(Code::kInvalidParam, "length is {}; the value needs {} bytes, see aclGetCompileoptSize", length,
           text.size() + 1);
    std::memcpy(value, text.c_str(), text.size() + 1);
  });
}
