// SPDX-License-Identifier: Apache-2.0
#include "graph/convert/importer.h"

#include "graph/convert/convert.h"
#include "graph/convert/refusal.h"
#include "graph/import/onnx/reader.h"

namespace npu::graph::convert {
namespace {

enum Framework : int { kCaffe = 0, kMindSpore = 1, kTensorFlow = 3, kOnnx = 5 };

[[noreturn]] void refuse_framework(std::string_view name, std::string_view way) {
  refuse("E10001", "--framework: models of {} are not read here; {}, then atc --framework=5", name, way);
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
    case kOnnx: return onnx::read_model({bytes.data(), bytes.size()}, options);
    case kTensorFlow:
      fail(Code::kFeatureUnsupported,
           "graphs of TensorFlow (.pb) are not read here yet; export the model to ONNX (tf2onnx), then atc "
           "--framework=5");
    default:
      refuse("E10001", "--framework={}: it is 3 (TensorFlow) or 5 (ONNX); 0 and 1 are Caffe and MindSpore", framework);
  }
}

}  // namespace npu::graph::convert
