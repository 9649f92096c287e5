/* SPDX-License-Identifier: Apache-2.0 */
/* Hello, NPU: two vectors are added by aclnnAdd. Every function of this kind is called in two phases: the first checks
 * the arguments and says how much working memory the second needs; the second queues the work on a stream.
 *
 *     eval "$(anynpu env)"
 *     gcc hello.c -lascendcl -lopapi -o hello && ./hello
 */
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_add.h"

/* Ends the program with the reason when a call fails. */
#define CHECK(call)                                                            \
  do {                                                                         \
    const int code = (call);                                                   \
    if (code != 0) {                                                           \
      fprintf(stderr, "%s gives %d: %s\n", #call, code, aclGetRecentErrMsg()); \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

enum { kCount = 4 };
static const int64_t kShape[] = {kCount};
static const int64_t kStrides[] = {1};

/* Device memory with `values` in it; the tensor describes it. */
static aclTensor* make_vector(const float* values, void** memory) {
  const size_t bytes = kCount * sizeof(float);
  CHECK(aclrtMalloc(memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMemcpy(*memory, bytes, values, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  return aclCreateTensor(kShape, 1, ACL_FLOAT, kStrides, 0, ACL_FORMAT_ND, kShape, 1, *memory);
}

int main(void) {
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  aclrtStream stream = NULL;
  CHECK(aclrtCreateStream(&stream));

  const float left[kCount] = {1, 2, 3, 4}, right[kCount] = {10, 20, 30, 40}, nothing[kCount] = {0};
  float result[kCount];
  void *a_memory, *b_memory, *out_memory, *workspace = NULL;
  aclTensor* a = make_vector(left, &a_memory);
  aclTensor* b = make_vector(right, &b_memory);
  aclTensor* out = make_vector(nothing, &out_memory);
  float one = 1;
  aclScalar* alpha = aclCreateScalar(&one, ACL_FLOAT); /* out = a + alpha * b */

  uint64_t workspace_size = 0;
  aclOpExecutor* executor = NULL;
  CHECK(aclnnAddGetWorkspaceSize(a, b, alpha, out, &workspace_size, &executor));
  if (workspace_size > 0) CHECK(aclrtMalloc(&workspace, workspace_size, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclnnAdd(workspace, workspace_size, executor, stream));
  CHECK(aclrtSynchronizeStream(stream)); /* the result is there now, and not before */

  CHECK(aclrtMemcpy(result, sizeof result, out_memory, sizeof result, ACL_MEMCPY_DEVICE_TO_HOST));
  printf("hello from %s:", aclrtGetSocName());
  for (int i = 0; i < kCount; ++i) printf(" %g", result[i]);
  printf("\n");

  aclDestroyTensor(a), aclDestroyTensor(b), aclDestroyTensor(out), aclDestroyScalar(alpha);
  CHECK(aclrtFree(a_memory));
  CHECK(aclrtFree(b_memory));
  CHECK(aclrtFree(out_memory));
  if (workspace != NULL) CHECK(aclrtFree(workspace));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  return aclFinalize();
}
