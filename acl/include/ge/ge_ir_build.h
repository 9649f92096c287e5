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

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#pragma GCC visibility push(default)

namespace ge {

using graphStatus = uint32_t;
constexpr graphStatus GRAPH_SUCCESS = 0;
constexpr graphStatus GRAPH_FAILED = 0xFFFFFFFF;
constexpr graphStatus GRAPH_PARAM_INVALID = 50331649;

/** Text that crosses library borders. */
class AscendString {
 public:
  AscendString() = default;
  /** A copy of `name`; null gives one that holds nothing. */
  AscendString(const char* name);  // NOLINT: texts are given where one is taken
  /** Null when it holds nothing. */
  const char* GetString() const;
  /** In the order of their bytes; one that holds nothing stands first. */
  bool operator<(const AscendString& other) const;
  bool operator==(const AscendString& other) const;

 private:
  std::shared_ptr<std::string> name_;
};

class GraphImpl;

/** A graph as it was parsed. Copies share it. */
class Graph {
 public:
  Graph() = default;
  explicit Graph(const char* name);
  /** Its implementation, for the functions below. */
  const std::shared_ptr<GraphImpl>& Impl() const { return impl_; }

 private:
  std::shared_ptr<GraphImpl> impl_;
};

/** A model as the bytes of its file. */
struct ModelBufferData {
  std::shared_ptr<uint8_t> data = nullptr;
  uint64_t length = 0;
};

using Options = std::map<AscendString, AscendString>;

/** Keys of options; the values are those of atc's flags. */
namespace ir_option {
constexpr const char* INPUT_SHAPE = "input_shape";
constexpr const char* INPUT_FORMAT = "input_format";
constexpr const char* OUTPUT_TYPE = "output_type";
constexpr const char* DYNAMIC_BATCH_SIZE = "dynamic_batch_size";
constexpr const char* DYNAMIC_IMAGE_SIZE = "dynamic_image_size";
constexpr const char* DYNAMIC_DIMS = "dynamic_dims";
constexpr const char* INSERT_OP_FILE = "insert_op_conf";
constexpr const char* SOC_VERSION = "ge.socVersion";
constexpr const char* PRECISION_MODE = "ge.exec.precision_mode";
constexpr const char* OP_SELECT_IMPL_MODE = "ge.opSelectImplmode";
constexpr const char* OPTYPELIST_FOR_IMPLMODE = "ge.optypelistForImplmode";
}  // namespace ir_option

/** Parses the `size` bytes of an ONNX model; tensors in files of their own are not found. `parser_params` may hold
 * nothing that acts. */
graphStatus aclgrphParseONNXFromMem(const char* buffer, size_t size, const Options& parser_params, Graph& graph);
/** The same of a file; tensors in files of their own lie beside it. */
graphStatus aclgrphParseONNX(const char* model_file, const Options& parser_params, Graph& graph);
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
