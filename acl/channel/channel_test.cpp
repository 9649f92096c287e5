// SPDX-License-Identifier: Apache-2.0
// Channels of tensors, as clients use them.
#include <algorithm>
#include <cstring>
#include <thread>

#include "acl/include/acl/acl_tdt.h"
#include "acl/runtime/runtime_fixture.h"

namespace npu::acl {
namespace {

struct Channel {
  acltdtChannelHandle* get;
  explicit Channel(const char* name, size_t capacity = 128) : get(acltdtCreateChannelWithCapacity(0, name, capacity)) {
    EXPECT_NE(get, nullptr) << aclGetRecentErrMsg();
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() { EXPECT_OK(acltdtDestroyChannel(get)); }
};

struct Dataset {
  acltdtDataset* get = acltdtCreateDataset();
  Dataset() { EXPECT_NE(get, nullptr); }
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;
  ~Dataset() { EXPECT_OK(acltdtDestroyDataset(get)); }
};

/// Sends one tensor of one number.
int send(const Channel& channel, int32_t number, int32_t timeout = -1) {
  const int64_t dims[] = {1};
  const Dataset set;
  acltdtDataItem* item = acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims, 1, ACL_INT32, &number, sizeof(number));
  EXPECT_OK(acltdtAddDataItem(set.get, item));
  const int code = acltdtSendTensor(channel.get, set.get, timeout);
  EXPECT_OK(acltdtDestroyDataItem(item));
  return code;
}

int32_t received(const Channel& channel) {
  const Dataset set;
  EXPECT_OK(acltdtReceiveTensor(channel.get, set.get, -1));
  int32_t number = -1;
  std::memcpy(&number, acltdtGetDataAddrFromItem(acltdtGetDataItem(set.get, 0)), sizeof(number));
  return number;
}

TEST(TensorChannel, BringsCopiesInOrder) {
  const Channel in("order"), out("order");
  const int64_t dims[] = {2, 3};
  std::vector<float> data{1, 2, 3, 4, 5, 6};
  acltdtDataItem* tensor = acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims, 2, ACL_FLOAT, data.data(), 24);
  acltdtDataItem* end = acltdtCreateDataItem(ACL_TENSOR_DATA_END_OF_SEQUENCE, nullptr, 0, ACL_DT_UNDEFINED, nullptr, 0);
  {
    const Dataset sent;
    EXPECT_OK(acltdtAddDataItem(sent.get, tensor));
    EXPECT_OK(acltdtAddDataItem(sent.get, end));
    EXPECT_EQ(acltdtGetDatasetSize(sent.get), 2U);
    EXPECT_OK(acltdtSendTensor(in.get, sent.get, -1));
  }
  EXPECT_OK(send(in, 7));
  std::fill(data.begin(), data.end(), 0.0f);
  EXPECT_OK(acltdtDestroyDataItem(tensor));
  EXPECT_OK(acltdtDestroyDataItem(end));
  size_t size = 0;
  EXPECT_OK(acltdtQueryChannelSize(out.get, &size));
  EXPECT_EQ(size, 2U);

  const Dataset set;
  EXPECT_OK(acltdtReceiveTensor(out.get, set.get, -1));
  ASSERT_EQ(acltdtGetDatasetSize(set.get), 2U);
  const acltdtDataItem* first = acltdtGetDataItem(set.get, 0);
  EXPECT_EQ(acltdtGetTensorTypeFromItem(first), ACL_TENSOR_DATA_TENSOR);
  EXPECT_EQ(acltdtGetDataTypeFromItem(first), ACL_FLOAT);
  EXPECT_EQ(acltdtGetDataSizeFromItem(first), 24U);
  ASSERT_EQ(acltdtGetDimNumFromItem(first), 2U);
  int64_t got[2] = {};
  EXPECT_OK(acltdtGetDimsFromItem(first, got, 2));
  EXPECT_EQ(got[1], 3);
  EXPECT_EQ(static_cast<const float*>(acltdtGetDataAddrFromItem(first))[5], 6.0f);
  EXPECT_EQ(acltdtGetTensorTypeFromItem(acltdtGetDataItem(set.get, 1)), ACL_TENSOR_DATA_END_OF_SEQUENCE);
  // The same set again: what it held ends.
  EXPECT_OK(acltdtReceiveTensor(out.get, set.get, 0));
  EXPECT_EQ(acltdtGetDatasetSize(set.get), 1U);
}

TEST(TensorChannel, FullAndEmptyHaveCodesOfTheirOwn) {
  const Channel channel("limits", 2);
  const Dataset set;
  EXPECT_EQ(acltdtReceiveTensor(channel.get, set.get, 0), 207013);
  EXPECT_EQ(acltdtReceiveTensor(channel.get, set.get, 5), 207013);
  EXPECT_OK(send(channel, 1, 0));
  EXPECT_OK(send(channel, 2, 0));
  EXPECT_EQ(send(channel, 3, 0), 207014);
  EXPECT_EQ(send(channel, 3, 5), 207014);
  EXPECT_EQ(received(channel), 1);
  EXPECT_OK(send(channel, 3, 0));
  EXPECT_OK(acltdtCleanChannel(channel.get));
  EXPECT_EQ(acltdtReceiveTensor(channel.get, set.get, 0), 207013);
}

TEST(TensorChannel, WaitsForRoomAndForData) {
  const Channel in("pipe", 2), out("pipe", 2);
  std::thread producer([&] {
    for (int32_t i = 0; i < 200; ++i) EXPECT_OK(send(in, i));
  });
  for (int32_t i = 0; i < 200; ++i) EXPECT_EQ(received(out), i);
  producer.join();
}

TEST(TensorChannel, StoppingWakesWhoeverWaits) {
  const Channel in("stopped"), out("stopped");
  std::thread consumer([&] {
    const Dataset set;
    EXPECT_EQ(acltdtReceiveTensor(out.get, set.get, -1), 500001);
  });
  EXPECT_OK(acltdtStopChannel(in.get));
  consumer.join();
  EXPECT_EQ(send(in, 1), 500001);
}

TEST(TensorChannel, WhatWasSentBeforeAStopIsReceived) {
  const Channel channel("rest");
  EXPECT_OK(send(channel, 5));
  EXPECT_OK(acltdtStopChannel(channel.get));
  EXPECT_EQ(received(channel), 5);
}

TEST(TensorChannel, EndsWithItsLastHandle) {
  {
    const Channel first("life");
    EXPECT_OK(send(first, 1));
  }
  const Channel second("life");
  const Dataset set;
  EXPECT_EQ(acltdtReceiveTensor(second.get, set.get, 0), 207013);
}

TEST(TensorChannel, RefusesWrongCalls) {
  EXPECT_EQ(acltdtCreateChannel(99, "x"), nullptr);
  EXPECT_EQ(acltdtCreateChannel(0, nullptr), nullptr);
  EXPECT_EQ(acltdtCreateChannel(0, ""), nullptr);
  EXPECT_EQ(acltdtCreateChannelWithCapacity(0, "x", 1), nullptr);
  EXPECT_EQ(acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, nullptr, 1, ACL_FLOAT, nullptr, 0), nullptr);
  EXPECT_EQ(acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, nullptr, 0, ACL_FLOAT, nullptr, 4), nullptr);
  EXPECT_EQ(acltdtCreateDataItem(ACL_TENSOR_DATA_UNDEFINED, nullptr, 0, ACL_FLOAT, nullptr, 0), nullptr);
  const int64_t negative[] = {-1};
  EXPECT_EQ(acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, negative, 1, ACL_FLOAT, nullptr, 0), nullptr);
  const Channel channel("wrong");
  const Dataset set;
  EXPECT_EQ(acltdtSendTensor(channel.get, set.get, -1), 100000);  // no item
  EXPECT_EQ(acltdtSendTensor(nullptr, set.get, -1), 100000);
  EXPECT_EQ(acltdtReceiveTensor(channel.get, nullptr, 0), 100000);
  EXPECT_EQ(acltdtReceiveTensor(channel.get, set.get, -2), 107000);
  EXPECT_EQ(acltdtGetDataItem(set.get, 0), nullptr);
  EXPECT_EQ(acltdtGetDataAddrFromItem(nullptr), nullptr);
  EXPECT_EQ(acltdtGetTensorTypeFromItem(nullptr), ACL_TENSOR_DATA_UNDEFINED);
  EXPECT_EQ(acltdtAddDataItem(set.get, nullptr), 100000);
  EXPECT_OK(send(channel, 1));
  EXPECT_OK(acltdtReceiveTensor(channel.get, set.get, 0));
  acltdtDataItem* item = acltdtGetDataItem(set.get, 0);
  EXPECT_EQ(acltdtDestroyDataItem(item), 100000);
  EXPECT_EQ(acltdtAddDataItem(set.get, item), 100000);
  int64_t dims[1];
  EXPECT_EQ(acltdtGetDimsFromItem(item, dims, 0), 100000);
  acltdtChannelHandle* gone = acltdtCreateChannel(0, "gone");
  EXPECT_OK(acltdtDestroyChannel(gone));
  EXPECT_EQ(acltdtDestroyChannel(gone), 100000);
}

}  // namespace
}  // namespace npu::acl
