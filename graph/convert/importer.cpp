// SPDX-License-Identifier: Apache-2.0
#include "graph/convert/importer.h"

#include "graph/convert/convert.h"
#include "graph/convert/refusal.h"
#include "graph/import/onnx/reader.h"
#include "graph/import/tensorflow/frozen.h"
#include "graph/import/tensorflow/saved_model/saved_model.h"

namespace npu::graph::convert {
namespace {

enum Framework : int { kCaffe = 0, kMindSpore = 1, kTensorFlow = 3, kOnnx = 5 };

[[noreturn]] void refuse_framework(std::string_view name, std::string_view way) {
  refuse("E10001", "--framework: models of {} are not read here; {}, then atc --framework=5", name, way);
}

void refuse_signature(const std::string& asked) {
  if (!asked.empty())
    refuse("E10001", "--signature_def={}: the model has no signatures; SavedModels of TensorFlow have", asked);
}

Imported read_tensorflow(Bytes bytes, const ImportOptions& options) {
  if (tensorflow::is_saved_model(bytes)) return tensorflow::read_saved_model(bytes, options);
  refuse_signature(options.signature);
  return tensorflow::read_frozen(bytes, options);
}

/// An importer may refuse shapes of inputs that it does not find; what they are called here is told first.
template <class Read>
Imported read_with_shapes(Read&& read, ImportOptions options, const Request& request) {
  try {
    return read(options);
  } catch (const Error&) {
    if (options.input_shapes.empty()) throw;
    options.input_shapes.clear();
    Imported without;
    try {
      without = read(options);
    } catch (const Error&) {
    }
    if (!without.function.empty()) check_inputs(without, request);
    throw;
  }
}

}  // namespace

Imported import_model(int framework, std::string_view bytes, const Request& request,
                      const std::filesystem::path& folder) {
  ImportOptions options = import_options(request);
  options.folder = folder;
  if (bytes.empty()) refuse("E10041", "--model: the file is empty");
  switch (framework) {
    case kCaffe: refuse_framework("Caffe", "export the network to ONNX");
    case kMindSpore: refuse_framework("MindSpore (.air)", "export the network to ONNX (mindspore.export, ONNX)");
    case kOnnx:
      refuse_signature(options.signature);
      return read_with_shapes(
          [&](const ImportOptions& with) { return onnx::read_model({bytes.data(), bytes.size()}, with); }, options,
          request);
    case kTensorFlow:
      return read_with_shapes(
          [&](const ImportOptions& with) { return read_tensorflow({bytes.data(), bytes.size()}, with); }, options,
          request);
    default:
      refuse("E10001", "--framework={}: it is 3 (TensorFlow) or 5 (ONNX); 0 and 1 are Caffe and MindSpore", framework);
  }
}

}  // namespace npu::graph::convert
