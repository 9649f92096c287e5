// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "tools/profile/report/command.h"

int main(int count, char** values) { return npu::profile::report({values + (count > 0 ? 1 : 0), values + count}); }
