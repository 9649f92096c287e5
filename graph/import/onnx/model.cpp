// SPDX-License-Identifier: Apache-2.0
#include "graph/import/onnx/model.h"

#include "graph/import/onnx/proto.h"
#include "graph/import/onnx/tensor.h"

namespace npu::graph::onnx {
namespace {

/// ONNX's own domain has two spellings.
std::string domain_of(std::string text) { return text == "ai.onnx" ? std::string() : text; }

struct AttributeParts {
  std::string name, reference;
  int64_t type = 0;
  Attribute value;
  std::vector<int64_t> ints;
  std::vector<double> floats;
  std::vector<std::string> strings;
  Bytes tensor, sparse, graph, value_type;
};

/// AttributeProto.AttributeType.
enum AttributeType : int64_t {
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraphType = 5,
  kFloatList = 6,
  kIntList = 7,
  kStringList = 8,
  kSparseTensor = 11,
  kValueTypeOf = 13
};

void read_attribute_field(AttributeParts& a, Field f) {
  switch (f.number()) {
    case field::kAttrName: a.name = f.text(); break;
    case field::kAttrType: a.type = f.integer(); break;
    case field::kReference: a.reference = f.text(); break;
    case field::kF: a.value = static_cast<double>(f.real()); break;
    case field::kI: a.value = f.integer(); break;
    case field::kS: a.value = f.text(); break;
    case field::kT: a.tensor = f.bytes(); break;
    case field::kG: a.graph = f.bytes(); break;
    case field::kSparse: a.sparse = f.bytes(); break;
    case field::kTypeOf: a.value_type = f.bytes(); break;
    case field::kFloats: f.floats([&](float v) { a.floats.push_back(v); }); break;
    case field::kInts: f.integers([&](int64_t v) { a.ints.push_back(v); }); break;
    case field::kStrings: a.strings.push_back(f.text()); break;
    default: break;
  }
}

/// Zero is not written, so the type tells which of them was meant.
Attribute value_of(AttributeParts& a) {
  switch (a.type) {
    case kFloat: return std::holds_alternative<double>(a.value) ? a.value : Attribute(0.0);
    case kInt: return std::holds_alternative<int64_t>(a.value) ? a.value : Attribute(int64_t{0});
    case kString: return std::holds_alternative<std::string>(a.value) ? a.value : Attribute(std::string());
    case kFloatList: return std::move(a.floats);
    case kIntList: return std::move(a.ints);
    case kStringList: return std::move(a.strings);
    default: break;
  }
  // Files of the first versions carry no type.
  if (!a.floats.empty()) return std::move(a.floats);
  if (!a.ints.empty()) return std::move(a.ints);
  if (!a.strings.empty()) return std::move(a.strings);
  return std::move(a.value);
}

void add_attribute(NodeView& node, Bytes attribute) {
  AttributeParts a;
  each_field(attribute, [&](Field f) { read_attribute_field(a, f); });
  if (!a.reference.empty())
    node.references[a.name] = a.reference;
  else if (a.type == kGraphType || a.graph.data() != nullptr)
    node.graphs[a.name] = a.graph;
  else if (a.type == kTensor || a.tensor.data() != nullptr)
    node.tensors[a.name] = a.tensor;
  else if (a.type == kSparseTensor || a.sparse.data() != nullptr)
    node.sparse_tensors[a.name] = a.sparse;
  else if (a.type == kValueTypeOf || a.value_type.data() != nullptr)
    node.types[a.name] = a.value_type;
  else
    node.attributes.set(a.name, value_of(a));
}

NodeView read_node(Bytes bytes) {
  NodeView node;
  each_field(bytes, [&](Field f) {
    switch (f.number()) {
      case field::kIn: node.inputs.push_back(f.text()); break;
      case field::kOut: node.outputs.push_back(f.text()); break;
      case field::kNodeName: node.name = f.text(); break;
      case field::kOpType: node.op = f.text(); break;
      case field::kDomain: node.domain = domain_of(f.text()); break;
      case field::kAttribute: add_attribute(node, f.bytes()); break;
      default: break;
    }
  });
  return node;
}

void read_shape(ValueView& value, Bytes shape) {
  Dims dims;
  each_field(shape, [&](Field f) {
    if (f.number() != field::kDim) return;
    int64_t size = kUnknownDim;
    std::string symbol;
    each_field(f.bytes(), [&](Field dim) {
      if (dim.number() == field::kSize) size = dim.integer();
      if (dim.number() == field::kSymbol) symbol = dim.text();
    });
    // Some exporters write a free dimension as 0 or a negative number.
    dims.push_back(size < 0 ? kUnknownDim : size);
    value.symbols.push_back(size < 0 ? symbol : std::string());
  });
  value.shape = {dims};
}

void read_tensor_type(ValueView& value, Bytes type) {
  each_field(type, [&](Field f) {
    if (f.number() == field::kElement) value.element = f.integer();
    if (f.number() == field::kShape) read_shape(value, f.bytes());
  });
  value.type = ValueType::tensor(element_type(value.element));
}

void read_type(ValueView& value, Bytes type, int depth = 0);

/// Sequences and optionals hold types; a file may nest them as deep as it likes.
constexpr int kDeepestType = 16;

/// A sequence is known by what it holds.
void read_sequence_type(ValueView& value, Bytes type, int depth) {
  each_field(type, [&](Field f) {
    if (f.number() == field::kElement) read_type(value, f.bytes(), depth + 1);
  });
  value.type = ValueType::variant();
  value.shape = PartialShape::unknown();
}

/// An optional is known by what it holds.
void read_optional_type(ValueView& value, Bytes type, int depth) {
  each_field(type, [&](Field f) {
    if (f.number() == field::kElement) read_type(value, f.bytes(), depth + 1);
  });
  value.held = value.type;
  value.type = ValueType::variant();
  value.shape = PartialShape::unknown();
}

void read_type(ValueView& value, Bytes type, int depth) {
  require(depth <= kDeepestType, "types lie more than {} deep in each other", kDeepestType);
  each_field(type, [&](Field f) {
    switch (f.number()) {
      case field::kTensorType: read_tensor_type(value, f.bytes()); break;
      case field::kSequenceType: read_sequence_type(value, f.bytes(), depth); break;
      case field::kOptionalType: read_optional_type(value, f.bytes(), depth); break;
      case field::kMapType:
      case field::kSparseType: value.type = ValueType::variant(); break;
      default: break;
    }
  });
}

ValueView read_value(Bytes bytes) {
  ValueView value;
  each_field(bytes, [&](Field f) {
    if (f.number() == field::kValueName) value.name = f.text();
    if (f.number() == field::kValueType) read_type(value, f.bytes());
  });
  return value;
}

void read_opset(Opsets& opsets, Bytes bytes) {
  std::string domain;
  int64_t version = 0;
  each_field(bytes, [&](Field f) {
    if (f.number() == field::kSetDomain) domain = domain_of(f.text());
    if (f.number() == field::kSetVersion) version = f.integer();
  });
  opsets[domain] = version;
}

void read_function(ModelView& model, Bytes bytes) {
  FunctionView function;
  NodeView defaults;
  std::string name, domain;
  each_field(bytes, [&](Field f) {
    switch (f.number()) {
      case field::kFunctionName: name = f.text(); break;
      case field::kFunctionDomain: domain = domain_of(f.text()); break;
      case field::kFormalIn: function.inputs.push_back(f.text()); break;
      case field::kFormalOut: function.outputs.push_back(f.text()); break;
      case field::kFunctionNode: function.nodes.push_back(read_node(f.bytes())); break;
      case field::kFunctionOpset: read_opset(function.opsets, f.bytes()); break;
      case field::kDefaultAttribute: add_attribute(defaults, f.bytes()); break;
      default: break;
    }
  });
  function.defaults = std::move(defaults.attributes);
  model.functions[{domain, name}] = std::move(function);
}

}  // namespace

ModelView read_parts(Bytes bytes) {
  return parsed("an ONNX model", [&] {
    ModelView model;
    each_field(bytes, [&](Field f) {
      switch (f.number()) {
        case field::kIrVersion: model.ir_version = f.integer(); break;
        case field::kProducer: model.producer = f.text(); break;
        case field::kProducerVersion: model.producer_version = f.text(); break;
        case field::kGraph: model.graph = f.bytes(); break;
        case field::kOpsetImport: read_opset(model.opsets, f.bytes()); break;
        case field::kFunctions: read_function(model, f.bytes()); break;
        default: break;
      }
    });
    return model;
  });
}

ValueView read_value_type(Bytes bytes) {
  return parsed("a type of an ONNX model", [&] {
    ValueView value;
    read_type(value, bytes);
    return value;
  });
}

GraphView read_graph(Bytes bytes) {
  return parsed("a graph of an ONNX model", [&] {
    GraphView graph;
    each_field(bytes, [&](Field f) {
      switch (f.number()) {
        case field::kNode: graph.nodes.push_back(read_node(f.bytes())); break;
        case field::kGraphName: graph.name = f.text(); break;
        case field::kInput: graph.inputs.push_back(read_value(f.bytes())); break;
        case field::kOutput: graph.outputs.push_back(read_value(f.bytes())); break;
        case field::kValueInfo: graph.values.push_back(read_value(f.bytes())); break;
        case field::kInitializer: {
          const Bytes tensor = f.bytes();
          graph.initializers.emplace_back(tensor_name(tensor), tensor);
          break;
        }
        case field::kSparseInitializer: {
          const Bytes tensor = f.bytes();
          graph.sparse_initializers.emplace_back(sparse_name(tensor), tensor);
          break;
        }
        default: break;
      }
    });
    return graph;
  });
}

}  // namespace npu::graph::onnx
