// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/reader.h"

#include <algorithm>
#include <set>

#include "graph/import/tensorflow/dialect.h"
#include "graph/import/tensorflow/frame_words.h"
#include "graph/import/tensorflow/value.h"

namespace npu::graph::tensorflow {
namespace {

/// A NodeDef as it stands in the message.
struct NodeMessage {
  std::string name, op, device;
  std::vector<std::string> inputs;
  Attributes attributes;
};

/// Large constants are never handed back to the client, so only their value is kept.
bool keeps_raw(std::string_view op) { return dialect().kind_of(op) != Kind::kConstant; }

NodeMessage read_node(Bytes node_def) {
  NodeMessage node;
  std::vector<Bytes> attributes;
  each_field(node_def, [&](Field f) {
    switch (f.number()) {
      case field::kName: node.name = f.text(); break;
      case field::kOp: node.op = f.text(); break;
      case field::kInput: node.inputs.push_back(f.text()); break;
      case field::kDevice: node.device = f.text(); break;
      case field::kAttr: attributes.push_back(f.bytes()); break;
      default: break;
    }
  });
  for (const Bytes entry : attributes) {
    map_entry(entry, [&](std::string key, Bytes value) {
      node.attributes.set(std::move(key), read_attribute(value), keeps_raw(node.op) ? text(value) : std::string());
    });
  }
  return node;
}

/// Builds one function: nodes first, then the edges between them, because a message may name a node before it comes.
class Builder {
 public:
  Builder(std::string name, const Catalogue& catalogue, const Program& program)
      : function_(std::make_shared<Function>(std::move(name), dialect())), catalogue_(catalogue), program_(program) {}

  void add_argument(const std::string& name, ValueType type, PartialShape shape) {
    at(name, [&] { named(function_->add_argument(name, {type, std::move(shape)}), name); });
    outputs_.emplace_back();
  }

  void add_node(Bytes node_def) { add_message(read_node(node_def)); }

  void add_message(NodeMessage message) {
    const std::string name = message.name;
    at(name, [&] { add(std::move(message)); });
  }

  void connect() {
    for (const Open& open : open_) {
      Node& node = (*function_)[open.id];
      at(node.name, [&] {
        for (const std::string& input : open.inputs) connect(node, input);
        if (open.signature != nullptr) check_inputs(*open.signature, node);
      });
    }
  }

  void add_result(std::string name, const std::string& source) {
    at(name, [&] { function_->results.push_back({name, edge(spell(source))}); });
  }
  void add_control_result(const std::string& node) {
    at(node, [&] { function_->control_results.push_back(node_named(node)); });
  }

  /// All outputs of `node` become results, and it runs in any case.
  void give_all(const std::string& node) {
    const NodeId id = node_named(node);
    for (size_t i = 0; i < (*function_)[id].outputs.size(); ++i)
      function_->results.push_back({fmt::format("output{}", i), {id, static_cast<int32_t>(i)}});
    function_->control_results.push_back(id);
  }

  std::shared_ptr<Function> finish() {
    function_->order();  // refuses cycles
    // They stand in a map, whose order is another in every process.
    std::sort(function_->control_results.begin(), function_->control_results.end());
    return std::move(function_);
  }

 private:
  /// A node whose inputs are known by name only.
  struct Open {
    NodeId id;
    const Signature* signature;  ///< null for a call of a function
    std::vector<std::string> inputs;
  };
  /// Where an output argument's tensors start among a node's outputs.
  using OutputStarts = std::vector<std::pair<std::string, int32_t>>;

  void named(NodeId id, const std::string& name) {
    // A name that comes twice would make edges mean either.
    require((*function_)[id].name == name, "two nodes have this name");
  }

  template <class Work>
  void at(const std::string& node, Work&& work) {
    try {
      work();
    } catch (const Error& e) {
      throw Error(e.code(), fmt::format("function {}, node {}: {}", function_->name, node, e.message()), e.place());
    }
  }

  void add(NodeMessage message) {
    Node node{.name = message.name, .op = std::move(message.op), .attributes = std::move(message.attributes)};
    OutputStarts starts;
    const Signature* signature = catalogue_.find(node.op);
    if (signature != nullptr) {
      for (const auto& [name, value] : signature->defaults)
        if (!node.attributes.has(name)) node.attributes.set(name, read_attribute(value), value);
      check_attributes(*signature, node.attributes);
      node.stateful = signature->stateful;
      for (const Formal& formal : signature->outputs) {
        starts.emplace_back(formal.name, static_cast<int32_t>(node.outputs.size()));
        for (const ValueType type : types_of(formal, node.attributes)) node.outputs.push_back({type, {}});
      }
    } else {
      add_call(node, starts);
    }
    node.kind = dialect().kind_of(node.op);
    if (is_collective(node.kind)) set_shapes(node);
    const NodeId id = function_->add(std::move(node));
    named(id, message.name);
    open_.push_back({id, signature, std::move(message.inputs)});
    outputs_.push_back(std::move(starts));
  }

  /// What the client knows of a node's results, where it says so. Of other nodes it may be out of date: models are
  /// converted for other sizes than they were frozen with.
  static void set_shapes(Node& node) {
    const auto* shapes = node.attributes.find<std::vector<PartialShape>>("_output_shapes");
    if (shapes == nullptr || shapes->size() != node.outputs.size()) return;
    for (size_t i = 0; i < shapes->size(); ++i) node.outputs[i].shape = (*shapes)[i];
  }

  /// An operator that is the name of a function of the program.
  void add_call(Node& node, OutputStarts& starts) const {
    const auto at = program_.functions.find(node.op);
    if (at == program_.functions.end()) fail(Code::kOpNotFound, "there is no operator or function {}", node.op);
    for (const Result& result : at->second->results) {
      starts.emplace_back(result.name, static_cast<int32_t>(node.outputs.size()));
      node.outputs.push_back(at->second->output(result.value));
    }
    node.stateful = true;
    node.attributes.set("f", FunctionName{node.op});
    node.op = dialect().spelling(Kind::kCall);
  }

  NodeId node_named(std::string_view name) const {
    const NodeId id = function_->find(name);
    require(id >= 0, "there is no node {}", name);
    return id;
  }

  Edge edge(const Spelling& s) const {
    const NodeId id = node_named(s.node);
    int32_t output = s.index;
    if (!s.output.empty()) {
      const OutputStarts& starts = outputs_[static_cast<size_t>(id)];
      const auto start = std::find_if(starts.begin(), starts.end(), [&](const auto& o) { return o.first == s.output; });
      require(start != starts.end(), "node {} ({}) has no output {}", s.node, (*function_)[id].op, s.output);
      output += start->second;
    }
    const auto count = static_cast<int32_t>((*function_)[id].outputs.size());
    require(output >= 0 && output < count, "node {} ({}) has {} outputs; number {} is asked for", s.node,
            (*function_)[id].op, count, output);
    return {id, output};
  }

  void connect(Node& node, const std::string& input) {
    const Spelling s = spell(input);
    if (s.control)
      node.after.push_back(node_named(s.node));
    else if (turns_back(node, s.node))
      turn_back(node, s);
    else
      node.inputs.push_back(edge(s));
  }

  static void turn_back(Node& node, const Spelling& s) {
    require(!node.attributes.has(kTurnsBack), "it takes two values of the turn before");
    require(s.index == 0 && s.output.empty(), "node {} has one output", s.node);
    node.attributes.set(std::string(kTurnsBack), std::string(s.node));
  }

  /// The edge that closes a loop of a frame.
  bool turns_back(const Node& node, std::string_view source) const {
    return is_merge(node.op) && is_next_iteration((*function_)[node_named(source)].op);
  }

  void check_inputs(const Signature& signature, const Node& node) const {
    if (node.attributes.has(kTurnsBack)) return;  // one of its inputs is told by the attribute
    const std::vector<ValueType> wanted = types_of(signature.inputs, node.attributes);
    require(node.inputs.size() == wanted.size(), "{} takes {} inputs; there are {}", node.op, wanted.size(),
            node.inputs.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      const ValueType& got = function_->output(node.inputs[i]).type;
      // Operators called on their own come with one kind of handle for everything that holds no numbers.
      require(got == wanted[i] || (is_object(got) && is_object(wanted[i])), "input {} is {}; {} takes {}", i,
              to_string(got), node.op, to_string(wanted[i]));
    }
  }

  std::shared_ptr<Function> function_;
  const Catalogue& catalogue_;
  const Program& program_;
  std::vector<Open> open_;
  std::vector<OutputStarts> outputs_;  ///< by node
};

/// A FunctionDef taken apart; the views point into the message.
struct FunctionMessage {
  Signature signature;
  std::vector<Bytes> nodes;
  std::map<std::string, std::string> results;
  std::vector<std::string> control_results;
  std::map<int64_t, PartialShape> argument_shapes;
};

/// An entry of arg_attr: map<uint32, ArgAttrs>.
void read_argument_shape(Bytes entry, std::map<int64_t, PartialShape>& shapes) {
  int64_t index = 0;
  Bytes attributes;
  each_field(entry, [&](Field f) {
    if (f.number() == field::kKey) index = f.integer();
    if (f.number() == field::kValue) attributes = f.bytes();
  });
  each_field(attributes, [&](Field f) {
    if (f.number() != field::kArgAttrsAttr) return;
    map_entry(f.bytes(), [&](const std::string& key, Bytes value) {
      if (key != "_output_shapes") return;
      const Attribute read = read_attribute(value);
      const auto* list = std::get_if<std::vector<PartialShape>>(&read);
      if (list != nullptr && !list->empty()) shapes[index] = list->front();
    });
  });
}

FunctionMessage read_message(Bytes function_def) {
  FunctionMessage m;
  each_field(function_def, [&](Field f) {
    switch (f.number()) {
      case field::kSignature: m.signature = read_signature(f.bytes()); break;
      case field::kNodeDef: m.nodes.push_back(f.bytes()); break;
      case field::kRet:
        map_entry(f.bytes(), [&](std::string key, Bytes value) { m.results[std::move(key)] = text(value); });
        break;
      case field::kControlRet:
        map_entry(f.bytes(), [&](const std::string&, Bytes value) { m.control_results.push_back(text(value)); });
        break;
      case field::kArgAttr: read_argument_shape(f.bytes(), m.argument_shapes); break;
      default: break;
    }
  });
  return m;
}

std::shared_ptr<Function> build(const FunctionMessage& m, const Catalogue& catalogue, const Program& program) {
  Builder builder(m.signature.name, catalogue, program);
  for (size_t i = 0; i < m.signature.inputs.size(); ++i) {
    const Formal& formal = m.signature.inputs[i];
    require(formal.type.has_value(), "function {}: argument {} has no type", m.signature.name, formal.name);
    const auto shape = m.argument_shapes.find(static_cast<int64_t>(i));
    builder.add_argument(formal.name, *formal.type, shape == m.argument_shapes.end() ? PartialShape() : shape->second);
  }
  for (const Bytes node : m.nodes) builder.add_node(node);
  builder.connect();
  for (const Formal& formal : m.signature.outputs) {
    const auto source = m.results.find(formal.name);
    require(source != m.results.end(), "function {}: result {} comes from no node", m.signature.name, formal.name);
    builder.add_result(formal.name, source->second);
  }
  for (const std::string& node : m.control_results) builder.add_control_result(node);
  return builder.finish();
}

}  // namespace

std::shared_ptr<Function> read_function(Bytes function_def, const Catalogue& catalogue, const Program& program) {
  return parsed("a FunctionDef", [&] { return build(read_message(function_def), catalogue, program); });
}

std::shared_ptr<Function> read_operator(Bytes node_def, std::string_view name, std::span<const ValueType> inputs,
                                        const Catalogue& catalogue) {
  return parsed("a NodeDef", [&] {
    NodeMessage message = read_node(node_def);
    if (message.name.empty()) message.name = message.op;
    const std::string node = message.name;
    const Program none;
    Builder builder(std::string(name), catalogue, none);
    for (size_t i = 0; i < inputs.size(); ++i) {
      message.inputs.push_back(fmt::format("input{}", i));
      builder.add_argument(message.inputs.back(), inputs[i], {});
    }
    builder.add_message(std::move(message));
    builder.connect();
    builder.give_all(node);
    return builder.finish();
  });
}

std::shared_ptr<Function> read_graph(Bytes graph_def, std::string_view name, const Catalogue& catalogue,
                                     Program& program) {
  return read_graph(GraphMessage(graph_def).whole(), {}, name, catalogue, program);
}

std::shared_ptr<Function> read_graph(const Reached& parts, std::span<const Fed> fed, std::string_view name,
                                     const Catalogue& catalogue, Program& program) {
  return parsed("a GraphDef", [&] {
    for (const FunctionLink* function : parts.functions)
      program.add(read_function(function->bytes, catalogue, program));
    Builder builder(std::string(name), catalogue, program);
    std::set<std::string_view> arguments;
    for (const Fed& one : fed) {
      builder.add_argument(one.node, one.value.type, one.value.shape);
      arguments.insert(one.node);
    }
    for (const NodeLink* node : parts.nodes)
      if (!arguments.contains(node->name)) builder.add_node(node->bytes);
    builder.connect();
    return builder.finish();
  });
}

}  // namespace npu::graph::tensorflow
