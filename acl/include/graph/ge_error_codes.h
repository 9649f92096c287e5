/* SPDX-License-Identifier: Apache-2.0 */
/* What functions on graphs return. */
#ifndef ANYNPU_GRAPH_GE_ERROR_CODES_H_
#define ANYNPU_GRAPH_GE_ERROR_CODES_H_

#include <cstdint>

#pragma GCC visibility push(default)

namespace ge {

using graphStatus = uint32_t;
constexpr graphStatus GRAPH_SUCCESS = 0;
constexpr graphStatus GRAPH_FAILED = 0xFFFFFFFF;
constexpr graphStatus GRAPH_PARAM_INVALID = 50331649;

}  // namespace ge

#pragma GCC visibility pop

#endif /* ANYNPU_GRAPH_GE_ERROR_CODES_H_ */
