/* SPDX-License-Identifier: Apache-2.0 */
/* A C program linked with the vendor's library names, as any client is. It shows that the headers are C, that link
 * names, dlopen and dlsym all end in libanynpu.so, and that what is found there is the real function. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_add.h"

static int failures;

static void check(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "door client: %s\n", what);
  ++failures;
}

static void check_library(const char* library, const char* name) {
  void* handle = dlopen(library, RTLD_LAZY);
  check(handle != NULL, library);
  if (handle == NULL || name == NULL) return;
  void* found = dlsym(handle, name);
  Dl_info info;
  check(found != NULL && dladdr(found, &info) != 0 && strstr(info.dli_fname, "libanynpu.so") != NULL, name);
}

int main(void) {
  const int64_t shape[] = {2, 3};
  aclTensor* tensor = aclCreateTensor(shape, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, shape, 2, NULL);
  check(tensor != NULL, "aclCreateTensor returned NULL: the placeholder answered");
  check(aclDestroyTensor(tensor) == ACLNN_SUCCESS, "aclDestroyTensor failed");
  check(aclnnAdd(NULL, 0, NULL, NULL) == ACLNN_ERR_INNER_NULLPTR, "aclnnAdd took a null executor");

  check_library("libopapi.so", "aclnnAddGetWorkspaceSize");
  check_library("libnnopbase.so", "aclDestroyAclOpExecutor");
  check_library("libascendcl.so", NULL);
  check_library("libacl_op_compiler.so", NULL);
  check_library("libge_runner.so", NULL);
  check_library("libgraph.so", NULL);
  check_library("libhccl.so", NULL);
  check_library("libhcomm.so", NULL);
  check_library("libacl_tdt_channel.so", NULL);
  check(dlsym(RTLD_DEFAULT, "_ZN3npu4failE") == NULL, "an inner symbol is exported");
  if (failures == 0) puts("door client: all names reach libanynpu.so");
  return failures;
}
