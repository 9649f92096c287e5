// SPDX-License-Identifier: Apache-2.0
// The first program: everything is made, and ended in the right order. A second aclInit is told, and harms nothing.
#include "client.h"

int main() {
  const Session session;
  REFUSED(aclInit(nullptr));
  aclrtContext current = nullptr;
  MUST(aclrtGetCurrentContext(&current));
  demand(current == session.context(), "the context that was made last is the thread's");
  std::printf("hello from %s\n", aclrtGetSocName());
  return 0;
}
