/* SPDX-License-Identifier: Apache-2.0 */
/* Models built by C++ programs in memory: the bytes of an ONNX file become a graph, the graph a model, the model a
 * buffer for aclmdlLoadFromMem or a file. Graphs put together operator by operator are not built: the classes here have
 * the members that inference clients call (onnxruntime's provider is the measure).
 *
 * Layout and names follow the public headers of mindspore-ai/graphengine and Ascend/metadef (Apache-2.0). Each function
 * gives GRAPH_SUCCESS, or GRAPH_FAILED or GRAPH_PARAM_INVALID, and then aclGetRecentErrMsg tells why.
 */
#ifndef ANYNPU_GE_GE_IR_BUILD_H_
#define ANYNPU_GE_GE_IR_BUILD_H_

#include <cstdint>
#include <memory>

#include "ge/ge_api_types.h"
#include "graph/graph.h"
#include "parser/onnx_parser.h"

#pragma GCC visibility push(default)

namespace ge {

/** A model as the bytes of its file. */
struct ModelBufferData {
  std::shared_ptr<uint8_t> data = nullptr;
  uint64_t length = 0;
};

/** Options of all models that are built until aclgrphBuildFinalize. */
graphStatus aclgrphBuildInitialize(Options& global_options);
void aclgrphBuildFinalize();
/** Converts a parsed graph; options of the model come before those of all. */
graphStatus aclgrphBuildModel(const Graph& graph, const Options& build_options, ModelBufferData& model);
/** Writes `<output_file>.om`. */
graphStatus aclgrphSaveModel(const char* output_file, const ModelBufferData& model);

}  // namespace ge

#pragma GCC visibility pop

#endif /* ANYNPU_GE_GE_IR_BUILD_H_ */
