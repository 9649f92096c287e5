/* SPDX-License-Identifier: Apache-2.0 */
/* A matrix product on one stream while the next operands travel on another. Events order the two and take the time; a
 * stream alone runs its work in the order it was given.
 *
 *     eval "$(anynpu env)"
 *     gcc matmul.c -lascendcl -lopapi -lm -o matmul && ./matmul
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_matmul.h"

#define CHECK(call)                                                            \
  do {                                                                         \
    const int code = (call);                                                   \
    if (code != 0) {                                                           \
      fprintf(stderr, "%s gives %d: %s\n", #call, code, aclGetRecentErrMsg()); \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

enum { kSize = 256, kRounds = 4 };
static const size_t kBytes = kSize * kSize * sizeof(float);

/* A square matrix: page-locked host memory, so that copies need not wait, and its place on the device. */
typedef struct {
  float* host;
  void* device;
  aclTensor* tensor;
  void* workspace; /* of the product that makes this matrix; NULL where none was asked for */
} Matrix;

static Matrix make_matrix(void) {
  const int64_t shape[] = {kSize, kSize}, strides[] = {kSize, 1};
  Matrix m = {0};
  CHECK(aclrtMallocHost((void**)&m.host, kBytes));
  CHECK(aclrtMalloc(&m.device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  m.tensor = aclCreateTensor(shape, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, shape, 2, m.device);
  return m;
}

static void free_matrix(Matrix* m) {
  aclDestroyTensor(m->tensor);
  if (m->workspace != NULL) CHECK(aclrtFree(m->workspace));
  CHECK(aclrtFree(m->device));
  CHECK(aclrtFreeHost(m->host));
}

static float element(int round, int i) { return (float)((i * 7 + round * 13) % 17 - 8) / 10; }

static void multiply(const Matrix* a, const Matrix* b, Matrix* out, aclrtStream stream) {
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  CHECK(aclnnMatmulGetWorkspaceSize(a->tensor, b->tensor, out->tensor, 0, &size, &executor));
  if (size > 0) CHECK(aclrtMalloc(&out->workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclnnMatmul(out->workspace, size, executor, stream));
}

/* The largest distance from the product in double. */
static double distance(const Matrix* a, const Matrix* b, const Matrix* out) {
  double worst = 0;
  for (int row = 0; row < kSize; ++row) {
    for (int col = 0; col < kSize; ++col) {
      double sum = 0;
      for (int k = 0; k < kSize; ++k) sum += (double)a->host[row * kSize + k] * b->host[k * kSize + col];
      worst = fmax(worst, fabs(sum - out->host[row * kSize + col]));
    }
  }
  return worst;
}

int main(void) {
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  aclrtStream copies = NULL, products = NULL;
  aclrtEvent arrived = NULL, begin = NULL, end = NULL;
  CHECK(aclrtCreateStream(&copies));
  CHECK(aclrtCreateStream(&products));
  CHECK(aclrtCreateEvent(&arrived));
  CHECK(aclrtCreateEventWithFlag(&begin, ACL_EVENT_TIME_LINE));
  CHECK(aclrtCreateEventWithFlag(&end, ACL_EVENT_TIME_LINE));

  Matrix a[kRounds], b = make_matrix(), out[kRounds];
  for (int i = 0; i < kSize * kSize; ++i) b.host[i] = element(99, i);
  CHECK(aclrtMemcpyAsync(b.device, kBytes, b.host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, copies));
  CHECK(aclrtRecordEvent(begin, products));
  for (int round = 0; round < kRounds; ++round) {
    a[round] = make_matrix(), out[round] = make_matrix();
    for (int i = 0; i < kSize * kSize; ++i) a[round].host[i] = element(round, i);
    CHECK(aclrtMemcpyAsync(a[round].device, kBytes, a[round].host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, copies));
    CHECK(aclrtRecordEvent(arrived, copies));
    CHECK(aclrtStreamWaitEvent(products, arrived)); /* this product starts after this copy; the next copy goes on */
    multiply(&a[round], &b, &out[round], products);
    CHECK(aclrtMemcpyAsync(out[round].host, kBytes, out[round].device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, products));
  }
  CHECK(aclrtRecordEvent(end, products));
  CHECK(aclrtSynchronizeStream(products));

  float ms = 0;
  CHECK(aclrtEventElapsedTime(&ms, begin, end));
  double worst = 0;
  for (int round = 0; round < kRounds; ++round) worst = fmax(worst, distance(&a[round], &b, &out[round]));
  printf("%d products of %d x %d in %.2f ms, at most %.1e from those in double\n", kRounds, kSize, kSize, ms, worst);

  for (int round = 0; round < kRounds; ++round) free_matrix(&a[round]), free_matrix(&out[round]);
  free_matrix(&b);
  CHECK(aclrtDestroyEvent(arrived));
  CHECK(aclrtDestroyEvent(begin));
  CHECK(aclrtDestroyEvent(end));
  CHECK(aclrtDestroyStream(copies));
  CHECK(aclrtDestroyStream(products));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return worst < 1e-4 ? 0 : 1;
}
