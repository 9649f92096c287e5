/* SPDX-License-Identifier: Apache-2.0 */
/* A client that is not linked with anything and opens one library by name: errors must come back as codes. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** arguments) {
  void* handle = dlopen(count > 1 ? arguments[1] : "libopapi.so", RTLD_NOW);
  if (handle == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  int (*add)(void*, unsigned long, void*, void*) =
      (int (*)(void*, unsigned long, void*, void*))dlsym(handle, "aclnnAdd");
  const int code = add == NULL ? -1 : add(NULL, 0, NULL, NULL);
  printf("aclnnAdd without executor: %d\n", code);
  return code == 561103 ? 0 : 1;
}
