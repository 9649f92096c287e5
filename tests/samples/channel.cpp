// SPDX-License-Identifier: Apache-2.0
// channel COUNT: one thread sends COUNT tensors and the end of them through a channel, another receives them in order.
#include <thread>

#include "acl/acl_tdt.h"
#include "client.h"

namespace {

void send(const acltdtChannelHandle* channel, acltdtTensorType type, std::vector<float> values) {
  const int64_t sizes[] = {static_cast<int64_t>(values.size())};
  acltdtDataset* set = acltdtCreateDataset();
  acltdtDataItem* item = acltdtCreateDataItem(type, type == ACL_TENSOR_DATA_TENSOR ? sizes : nullptr,
                                              type == ACL_TENSOR_DATA_TENSOR ? 1 : 0, ACL_FLOAT, values.data(),
                                              values.size() * sizeof(float));
  demand(item != nullptr, aclGetRecentErrMsg());
  MUST(acltdtAddDataItem(set, item));
  MUST(acltdtSendTensor(channel, set, -1));
  MUST(acltdtDestroyDataItem(item));
  MUST(acltdtDestroyDataset(set));
}

int receive_all(const acltdtChannelHandle* channel) {
  int count = 0;
  for (bool more = true; more;) {
    acltdtDataset* set = acltdtCreateDataset();
    MUST(acltdtReceiveTensor(channel, set, -1));
    const acltdtDataItem* item = acltdtGetDataItem(set, 0);
    more = acltdtGetTensorTypeFromItem(item) == ACL_TENSOR_DATA_TENSOR;
    if (more) {
      int64_t sizes[1] = {};
      MUST(acltdtGetDimsFromItem(item, sizes, acltdtGetDimNumFromItem(item)));
      const float* values = static_cast<const float*>(acltdtGetDataAddrFromItem(item));
      demand(sizes[0] == count + 1 && values[count] == static_cast<float>(count), "tensors come as they were sent");
      ++count;
    }
    MUST(acltdtDestroyDataset(set));
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  demand(argc == 2, "channel COUNT");
  const Session session;
  acltdtChannelHandle* from = acltdtCreateChannelWithCapacity(0, "pictures", 2);
  acltdtChannelHandle* to = acltdtCreateChannelWithCapacity(0, "pictures", 2);
  demand(from != nullptr && to != nullptr, "no channel");
  std::thread sender([&] {
    for (int i = 0; i < std::atoi(argv[1]); ++i)
      send(from, ACL_TENSOR_DATA_TENSOR, std::vector<float>(static_cast<size_t>(i) + 1, static_cast<float>(i)));
    send(from, ACL_TENSOR_DATA_END_OF_SEQUENCE, {});
  });
  std::printf("%d tensors\n", receive_all(to));
  sender.join();
  MUST(acltdtStopChannel(from));
  MUST(acltdtDestroyChannel(to));
  MUST(acltdtDestroyChannel(from));
  return 0;
}
