// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "tools/migrate/face/face.h"

int main(int count, char** values) {
  return npu::migrate::dispatch(count > 0 ? values[0] : "", {values + (count > 0 ? 1 : 0), values + count});
}
