/* SPDX-License-Identifier: Apache-2.0 */
/* A caller of aclnnMaskedScale compiled for one of its two prototypes: NUMBER is float, as the vendor's documentation
 * declares the scale, or double, as the vendor's PyTorch plug-in passes it. Both get the product. */
#include <stdio.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

aclnnStatus aclnnMaskedScaleGetWorkspaceSize(const aclTensor* self, const aclTensor* mask, NUMBER scale,
                                             const aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
aclnnStatus aclnnMaskedScale(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);

enum { kCount = 4 };
static const float kSelf[kCount] = {1.5f, -2.0f, 3.0f, 0.25f};
static const unsigned char kMask[kCount] = {1, 0, 1, 1};
static aclTensor *self, *mask, *out;
static void* result;
static int failures;

static void must(int code, const char* what) {
  if (code == 0) return;
  fprintf(stderr, "%s: %d %s\n", what, code, aclGetRecentErrMsg());
  ++failures;
}

static aclTensor* on_device(const void* values, size_t bytes, aclDataType type, void** memory) {
  const int64_t shape[] = {kCount};
  must(aclrtMalloc(memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  must(aclrtMemcpy(*memory, bytes, values, bytes, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
  return aclCreateTensor(shape, 1, type, NULL, 0, ACL_FORMAT_ND, shape, 1, *memory);
}

static void check(const char* source, double scale) {
  float got[kCount];
  must(aclrtMemcpy(got, sizeof(got), result, sizeof(got), ACL_MEMCPY_DEVICE_TO_HOST), "aclrtMemcpy");
  for (int i = 0; i < kCount; ++i) {
    const float want = kMask[i] ? (float)(kSelf[i] * (float)scale) : 0.0f;
    if (got[i] == want) continue;
    fprintf(stderr, "%s, scale %g: element %d is %g, expected %g\n", source, scale, i, got[i], want);
    ++failures;
  }
}

#define RUN(source, expression, expected)                                                             \
  do {                                                                                                \
    uint64_t size = 0;                                                                                \
    aclOpExecutor* executor = NULL;                                                                   \
    must(aclnnMaskedScaleGetWorkspaceSize(self, mask, expression, out, &size, &executor), "phase 1"); \
    must(aclnnMaskedScale(NULL, size, executor, NULL), "phase 2");                                    \
    must(aclrtSynchronizeStream(NULL), "aclrtSynchronizeStream");                                     \
    check(source, expected);                                                                          \
  } while (0)

/* Read from memory, where the compiler cannot know it. */
static volatile NUMBER stored[] = {2.5, -0.3, 0.0, 1e-30, 3e30, 0.1};

/* Busies the registers with doubles before the call. */
static double busy(double x) { return x * 1.000000001 + 1e300; }

int main(void) {
  void *self_memory, *mask_memory;
  const float zeros[kCount] = {0};
  must(aclInit(NULL), "aclInit");
  must(aclrtSetDevice(0), "aclrtSetDevice");
  self = on_device(kSelf, sizeof(kSelf), ACL_FLOAT, &self_memory);
  mask = on_device(kMask, sizeof(kMask), ACL_BOOL, &mask_memory);
  out = on_device(zeros, sizeof(zeros), ACL_FLOAT, &result);

  RUN("literal", 2.5, 2.5);
  RUN("literal", -0.3, -0.3);
  volatile double sink = 1;
  for (size_t i = 0; i < sizeof(stored) / sizeof(*stored); ++i) {
    sink = busy(sink);
    RUN("variable", stored[i], (double)stored[i]);
    sink = busy(sink);
    RUN("sum", stored[i] + stored[0], (double)(NUMBER)(stored[i] + stored[0]));
  }
  aclDestroyTensor(self);
  aclDestroyTensor(mask);
  aclDestroyTensor(out);
  if (failures == 0) puts("masked scale: both prototypes give the product");
  return failures != 0;
}
