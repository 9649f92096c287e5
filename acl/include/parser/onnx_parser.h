/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX models as graphs. Each function returns GRAPH_SUCCESS, or GRAPH_FAILED or GRAPH_PARAM_INVALID, and then
 * aclGetRecentErrMsg returns the reason. */
#ifndef ANYNPU_PARSER_ONNX_PARSER_H_
#define ANYNPU_PARSER_ONNX_PARSER_H_

#include <cstddef>

#include "ge/ge_api_types.h"
#include "graph/graph.h"

#pragma GCC visibility push(default)

namespace ge {

/** Parses the `size` bytes of an ONNX model; tensors in files of their own are not found. `parser_params` may hold
 * nothing that acts. */
graphStatus aclgrphParseONNXFromMem(const char* buffer, size_t size, const Options& parser_params, Graph& graph);
/** The same of a file; tensors in files of their own are read from its folder. */
graphStatus aclgrphParseONNX(const char* model_file, const Options& parser_params, Graph& graph);

}  // namespace ge

#pragma GCC visibility pop

#endif /* ANYNPU_PARSER_ONNX_PARSER_H_ */
