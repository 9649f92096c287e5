// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "tools/compare/face/face.h"

int main(int count, char** values) { return npu::compare::dispatch({values + (count > 0 ? 1 : 0), values + count}); }
