/* SPDX-License-Identifier: Apache-2.0 */
/* One process, two NPUs: each has a vector, and after HcclAllReduce each has the sum of both. A thread drives each
 * device, since a collective is over only when all of its ranks have come.
 *
 *     eval "$(anynpu env)"
 *     gcc -pthread allreduce.c -lascendcl -lhccl -o allreduce && ./allreduce
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "hccl/hccl.h"

#define CHECK(call)                                                            \
  do {                                                                         \
    const int code = (int)(call);                                              \
    if (code != 0) {                                                           \
      fprintf(stderr, "%s gives %d: %s\n", #call, code, aclGetRecentErrMsg()); \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

enum { kRanks = 2, kCount = 1000 };

typedef struct {
  int device;
  HcclComm communicator;
  float result[kCount];
} Rank;

static void* work(void* argument) {
  Rank* rank = argument;
  const size_t bytes = sizeof rank->result;
  float values[kCount];
  for (int i = 0; i < kCount; ++i) values[i] = (float)(i + 1000 * rank->device);
  void* memory = NULL;
  aclrtStream stream = NULL;
  CHECK(aclrtSetDevice(rank->device));
  CHECK(aclrtCreateStream(&stream));
  CHECK(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMemcpy(memory, bytes, values, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  CHECK(HcclAllReduce(memory, memory, kCount, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, rank->communicator, stream));
  CHECK(aclrtSynchronizeStream(stream));
  CHECK(aclrtMemcpy(rank->result, bytes, memory, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  CHECK(aclrtFree(memory));
  CHECK(aclrtDestroyStream(stream));
  return NULL;
}

int main(void) {
  static Rank ranks[kRanks];
  int32_t devices[kRanks];
  HcclComm communicators[kRanks];
  pthread_t threads[kRanks];
  CHECK(aclInit(NULL));
  for (int i = 0; i < kRanks; ++i) devices[i] = i;
  CHECK(HcclCommInitAll(kRanks, devices, communicators));
  for (int i = 0; i < kRanks; ++i) {
    ranks[i].device = i;
    ranks[i].communicator = communicators[i];
    CHECK(pthread_create(&threads[i], NULL, work, &ranks[i]));
  }
  for (int i = 0; i < kRanks; ++i) CHECK(pthread_join(threads[i], NULL));

  int wrong = 0;
  for (int rank = 0; rank < kRanks; ++rank) {
    for (int i = 0; i < kCount; ++i) wrong += ranks[rank].result[i] != (float)(2 * i + 1000);
  }
  printf("%d ranks, %d numbers each: %d wrong, the last is %g\n", kRanks, kCount, wrong, ranks[0].result[kCount - 1]);
  for (int i = 0; i < kRanks; ++i) CHECK(HcclCommDestroy(communicators[i]));
  CHECK(aclFinalize());
  return wrong;
}
