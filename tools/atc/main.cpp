// SPDX-License-Identifier: Apache-2.0
#include "tools/atc/command.h"

int main(int count, char** values) { return npu::atc::run({values + (count > 0 ? 1 : 0), values + count}); }
