// SPDX-License-Identifier: Apache-2.0
#include "comm/transport/transport.h"

#include "comm/core/fault.h"

namespace npu::comm {

void Transport::raise() const {
  const Reason why = reason();
  throw Fault(static_cast<Result>(why.result), why.text);
}

// Asked only of those that have hosts().
void Transport::pass(uint32_t, uint32_t, const std::byte*, uint64_t) {
  fault(Result::kInternal, "all ranks share memory, and yet one passes data");
}
void Transport::expect(uint32_t, uint32_t, std::byte*, uint64_t, const Merge*) {
  fault(Result::kInternal, "all ranks share memory, and yet one expects data");
}
uint64_t Transport::await_passed(uint32_t, uint32_t, Watch&) {
  fault(Result::kInternal, "all ranks share memory, and yet one waits for data");
}
void Transport::await_sent(uint32_t, uint32_t) {}

}  // namespace npu::comm
