// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/input/pipeline.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <protozero/pbf_reader.hpp>
#include <set>

#include "adapters/tensorflow/c_api/function_def.h"
#include "adapters/tensorflow/c_api/message.h"
#include "adapters/tensorflow/tensor/dtype.h"
#include "adapters/tensorflow/tensor/handle.h"

namespace npu::tensorflow {
namespace {

using Names = std::set<std::string, std::less<>>;

/// Data sets without state beside their iterators'. Caches, generators and those with files to write are not.
const Names& known_data_sets() {
  static const auto* const names = new Names{"BatchDataset",
                                             "BatchDatasetV2",
                                             "ConcatenateDataset",
                                             "FilterDataset",
                                             "FixedLengthRecordDataset",
                                             "FixedLengthRecordDatasetV2",
                                             "FlatMapDataset",
                                             "GroupByWindowDataset",
                                             "InterleaveDataset",
                                             "MapDataset",
                                             "OptionsDataset",
                                             "PaddedBatchDataset",
                                             "PaddedBatchDatasetV2",
                                             "ParallelBatchDataset",
                                             "ParallelInterleaveDatasetV2",
                                             "ParallelInterleaveDatasetV3",
                                             "ParallelInterleaveDatasetV4",
                                             "ParallelMapDataset",
                                             "ParallelMapDatasetV2",
                                             "PrefetchDataset",
                                             "RangeDataset",
                                             "RebatchDatasetV2",
                                             "RepeatDataset",
                                             "ScanDataset",
                                             "ShardDataset",
                                             "ShuffleDataset",
                                             "ShuffleDatasetV2",
                                             "ShuffleDatasetV3",
                                             "SkipDataset",
                                             "SparseTensorSliceDataset",
                                             "TFRecordDataset",
                                             "TFRecordDatasetV2",
                                             "TakeDataset",
                                             "TakeWhileDataset",
                                             "TensorDataset",
                                             "TensorSliceDataset",
                                             "TextLineDataset",
                                             "UnbatchDataset",
                                             "UniqueDataset",
                                             "WindowDataset",
                                             "ZipDataset"};
  return *names;
}

/// Stateful operators whose state is the iterator's own, or that only call others.
const Names& harmless() {
  static const auto* const names = new Names{"Assert",
                                             "Case",
                                             "If",
                                             "Multinomial",
                                             "ParameterizedTruncatedNormal",
                                             "RandomGamma",
                                             "RandomPoissonV2",
                                             "RandomShuffle",
                                             "RandomStandardNormal",
                                             "RandomUniform",
                                             "RandomUniformInt",
                                             "SampleDistortedBoundingBox",
                                             "SampleDistortedBoundingBoxV2",
                                             "StatefulPartitionedCall",
                                             "StatelessRandomGetAlg",
                                             "StatelessRandomGetKeyCounterAlg",
                                             "TruncatedNormal",
                                             "While"};
  return *names;
}

const Names& stateful() {
  static const auto* const names = [] {
    auto* out = new Names;
    const Buffer list(TF_GetAllOpList());
    each_stateful({static_cast<const char*>(list->data), list->length},
                  [&](const std::string& op) { out->insert(op); });
    return out;
  }();
  return *names;
}

bool read_silently(TFE_Context* context, const std::string& function, Names& seen) {
  if (!seen.insert(function).second) return true;
  if (TFE_ContextHasFunction(context, function.c_str()) == 0) return false;
  const Buffer buffer(TF_NewBuffer());
  checked(TFE_ContextGetFunctionDef, context, function.c_str(), buffer.get());
  const std::string_view bytes(static_cast<const char*>(buffer->data), buffer->length);
  bool silent = true;
  each_operator(bytes, [&](const std::string& op) {
    const bool own = harmless().contains(op) || known_data_sets().contains(op);
    if (!own && (stateful().contains(op) || TFE_ContextHasFunction(context, op.c_str()) != 0)) silent = false;
  });
  each_called(bytes, [&](const std::string& called) { silent = silent && read_silently(context, called, seen); });
  return silent;
}

/// Whether a function has no effect and depends on nothing but its arguments. Functions never change under a name.
bool silent_function(TFE_Context* context, const std::string& function) {
  static auto* const mutex = new std::mutex;
  static auto* const found = new std::map<std::string, bool>;
  {
    const std::lock_guard lock(*mutex);
    if (const auto at = found->find(function); at != found->end()) return at->second;
  }
  Names seen;
  const bool silent = read_silently(context, function, seen);
  const std::lock_guard lock(*mutex);
  return found->emplace(function, silent).first->second;
}

/// Whether an input of a data set is a value that stays as it is. Shuffling brings a resource that is its own.
bool is_plain(std::string_view op, anynpu_value* input) {
  const anynpu_value_view view = inspect(input);
  if (view.kind == ANYNPU_TENSOR || view.kind == ANYNPU_STRINGS) return true;
  const Object* object = object_of(input);
  if (object == nullptr) return false;
  const TF_DataType type = TFE_TensorHandleDataType(object->handle.get());
  return type == TF_STRING || (type == TF_RESOURCE && op.starts_with("ShuffleDataset"));
}

/// Makes iterators of its inputs while it runs, and not only when its own is made.
bool makes_iterators_late(std::string_view op, size_t input) {
  if (op == "RepeatDataset" || op == "ConcatenateDataset") return true;
  return input > 0 && op != "ZipDataset";
}

/// Elements of one shape; -1 when it is not known.
int64_t elements_of(protozero::pbf_reader shape) {
  int64_t count = 1;
  while (shape.next()) {
    if (shape.tag() == field::kDim) {
      protozero::pbf_reader dim = shape.get_message();
      int64_t size = 0;
      while (dim.next(field::kSize)) size = dim.get_int64();
      if (size < 0) return -1;
      count *= size;
    } else if (shape.tag() == field::kUnknownRank && shape.get_bool()) {
      return -1;
    } else if (shape.tag() != field::kUnknownRank) {
      shape.skip();
    }
  }
  return count;
}

struct Sample {
  std::vector<TF_DataType> types;
  std::vector<int64_t> counts;
};

Sample sample_of(std::span<const Attribute> attributes) {
  Sample sample;
  for (const auto& [name, bytes] : attributes) {
    if (name != "output_types" && name != "output_shapes") continue;
    protozero::pbf_reader value(bytes);
    while (value.next(field::kList)) {
      protozero::pbf_reader list = value.get_message();
      while (list.next()) {
        if (list.tag() == field::kListType && list.wire_type() == protozero::pbf_wire_type::length_delimited) {
          for (const auto type : list.get_packed_enum()) sample.types.push_back(static_cast<TF_DataType>(type));
        } else if (list.tag() == field::kListShape) {
          sample.counts.push_back(elements_of(list.get_message()));
        } else {
          list.skip();
        }
      }
    }
  }
  return sample;
}

}  // namespace

std::shared_ptr<const Pipeline> pipeline_of(TFE_Context* context, std::string_view op,
                                            std::span<const Attribute> attributes,
                                            std::span<anynpu_value* const> inputs) {
  if (!known_data_sets().contains(op)) return nullptr;
  Pipeline out{op.starts_with("ShuffleDataset")};
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Object* object = object_of(inputs[i]);
    if (object == nullptr || object->pipeline == nullptr) {
      if (!is_plain(op, inputs[i])) return nullptr;
      continue;
    }
    if (object->pipeline->shuffles && makes_iterators_late(op, i)) return nullptr;
    out.shuffles = out.shuffles || object->pipeline->shuffles;
  }
  bool silent = true;
  for (const auto& [name, bytes] : attributes)
    each_function(bytes, [&](const std::string& function) { silent = silent && silent_function(context, function); });
  return silent ? std::make_shared<const Pipeline>(out) : nullptr;
}

size_t depth_of(std::span<const Attribute> attributes) {
  const Sample sample = sample_of(attributes);
  if (std::ranges::count(sample.types, TF_STRING) > 0) return 64;
  size_t bytes = 0;
  for (size_t i = 0; i < sample.types.size(); ++i) {
    const size_t each = bytes_of(sample.types[i]);
    if (each == 0 || i >= sample.counts.size() || sample.counts[i] < 0) return 3;
    bytes += each * static_cast<size_t>(sample.counts[i]);
  }
  if (bytes == 0) return 2;
  return std::clamp<size_t>((size_t{2} << 30) / bytes, 2, 128);
}

}  // namespace npu::tensorflow
