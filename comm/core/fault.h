// SPDX-License-Identifier: Apache-2.0
// What goes wrong between ranks. A fault carries the number that HCCL's functions return beside the text; texts begin
// with the vendor's code where there is one ("EI0005: …"), so that users find it in the vendor's tables, too.
#pragma once

#include "base/error.h"

namespace npu::comm {

/// HcclResult: numbers of the C interface, as the vendor's page on result codes has them.
enum class Result : int32_t {
  kParameter = 1,
  kNull = 2,
  kMemory = 3,
  kInternal = 4,
  kUnsupported = 5,
  kNotFound = 6,
  kUnavailable = 7,
  kSystemCall = 8,
  kTimeout = 9,
  kOpenFile = 10,
  kConnect = 11,
  kNetwork = 19,
  kRemote = 21,
};

class Fault : public Error {
 public:
  Fault(Result result, std::string text, std::source_location place = std::source_location::current())
      : Error(result == Result::kParameter ? Code::kInvalidParam : Code::kRtInternal, std::move(text), place),
        result_(result) {}
  Result result() const { return result_; }

 private:
  Result result_;
};

template <class... Args>
[[noreturn]] void fault(Result result, Format<std::type_identity_t<Args>...> format, Args&&... args) {
  throw Fault(result, fmt::format(format.text, std::forward<Args>(args)...), format.place);
}

}  // namespace npu::comm
