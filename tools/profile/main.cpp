// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "tools/profile/face/face.h"

int main(int count, char** values) { return npu::profile::dispatch({values + (count > 0 ? 1 : 0), values + count}); }
