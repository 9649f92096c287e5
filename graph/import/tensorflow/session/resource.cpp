// SPDX-License-Identifier: Apache-2.0
#include "graph/import/tensorflow/session/resource.h"

#include <algorithm>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <span>

#include "graph/import/tensorflow/dataflow/closure.h"
#include "graph/import/tensorflow/dialect.h"
#include "graph/import/tensorflow/model_graph.h"
#include "graph/import/tensorflow/proto.h"
#include "graph/import/tensorflow/value.h"
#include "graph/ir/declared_shape.h"

namespace npu::graph::tensorflow {
namespace {

/// An operator on references and the one that does the same with handles.
struct Twin {
  std::string_view reference, handle;
};
constexpr Twin kTwins[] = {
    {"Assign", "AssignVariableOp"},
    {"AssignAdd", "AssignAddVariableOp"},
    {"AssignSub", "AssignSubVariableOp"},
    {"IsVariableInitialized", "VarIsInitializedOp"},
};
/// Those that give the reference itself on.
constexpr Twin kPassing[] = {
    {"RefEnter", "Enter"}, {"RefExit", "Exit"},     {"RefIdentity", "Identity"}, {"RefNextIteration", "NextIteration"},
    {"RefMerge", "Merge"}, {"RefSwitch", "Switch"},
};

const Twin* find(std::span<const Twin> twins, std::string_view op) {
  const auto at = std::ranges::find(twins, op, &Twin::reference);
  return at == twins.end() ? nullptr : &*at;
}

std::string text_attribute(const Node& node, std::string_view name) {
  const auto* found = node.attributes.find<std::string>(name);
  return found == nullptr ? std::string() : *found;
}

void set(Node& node, std::string name, const Attribute& value) {
  std::string raw = write_attribute(value);
  node.attributes.set(std::move(name), value, std::move(raw));
}

/// Whether the session has it once: it is made from nothing, and found by name.
bool lasts(const Node& node) {
  return node.stateful && node.inputs.empty() && node.outputs.size() == 1 &&
         node.outputs.front().type.kind == ValueKind::kResource && node.attributes.has("shared_name") &&
         node.attributes.has("container");
}

std::string key_of(const Node& node) {
  const std::string shared = text_attribute(node, "shared_name");
  return text_attribute(node, "container") + "/" + (shared.empty() ? node.client_name : shared);
}

/// Iterators that get a name cannot call functions of other devices any more, or take none.
bool keeps_its_name(std::string_view op) { return op.find("Iterator") != std::string_view::npos; }
PartialShape declared_by(const Node& variable) {
  const auto* shape = variable.attributes.find<PartialShape>("shape");
  return shape == nullptr ? PartialShape::unknown() : *shape;
}

void set_declared(Node& assign, const PartialShape& shape) {
  if (shape.known()) assign.attributes.set(std::string(kDeclaredShape), shape);
}

/// Names of containers may have few signs.
std::string container_of(std::string_view name) {
  std::string out;
  for (const char sign : name) out += fmt::format("{:02x}", static_cast<unsigned char>(sign));
  return out;
}

std::string node_def_of(const Node& node) {
  std::string bytes;
  protozero::pbf_writer out(bytes);
  out.add_string(field::kName, node.client_name);
  out.add_string(field::kOp, node.op);
  for (const auto& [name, entry] : node.attributes.entries()) {
    if (name.starts_with('_') || entry.raw.empty()) continue;
    protozero::pbf_writer attribute(out, field::kAttr);
    attribute.add_string(field::kKey, name);
    attribute.add_message(field::kValue, entry.raw);
  }
  return bytes;
}

/// A variable as a node gives it on: where the handle is, and what has to have been done to it.
struct Reference {
  Edge handle;
  std::vector<NodeId> after;
  ValueType type;
  PartialShape declared = {};
};

Node read(std::string name, const Reference& reference, std::vector<NodeId> after) {
  Node node{.name = std::move(name),
            .kind = Kind::kRead,
            .inputs = {reference.handle},
            .after = std::move(after),
            .outputs = {{reference.type, {}}}};
  set(node, "dtype", reference.type);
  node.stateful = true;
  return node;
}

class Taking {
 public:
  Taking(const Function& from, const Catalogue& catalogue, const std::string& scope)
      : from_(from), catalogue_(catalogue), scope_(scope), out_(from.name, *from.dialect) {}

  void run() {
    for (const Argument& argument : from_.arguments)
      values_[{argument.node, 0}] = {out_.add_argument(argument.name, argument.value), 0};
    const std::vector<NodeId> order = from_.order();
    for (const NodeId id : order)  // arguments stand in front
      if (makes_variable(from_[id].op) || lasts(from_[id])) take(id);
    for (const NodeId id : order) {
      const Node& node = from_[id];
      if (node.kind == Kind::kArgument || values_.contains({id, 0}) || references_.contains({id, 0})) continue;
      at(node, [&] { translate(id); });
    }
    for (const Result& result : from_.results) give(result);
    for (const NodeId id : from_.control_results) out_.control_results.push_back(nodes_.at(id));
  }

  Function function() { return std::move(out_); }
  Taken taken() { return {std::move(resources_), std::move(variables_)}; }

 private:
  template <class Work>
  void at(const Node& node, Work&& work) {
    try {
      work();
    } catch (const Error& e) {
      throw Error(e.code(), fmt::format("{} ({}): {}", node.name, node.op, e.message()), e.place());
    }
  }

  void take(NodeId id) {
    const Node& node = from_[id];
    const bool variable = makes_variable(node.op);
    const std::string key = key_of(node);
    const auto [argument, fresh] = arguments_.try_emplace(key, -1);
    if (fresh) {
      argument->second = out_.add_argument(node.name, {ValueType::resource(), PartialShape{Dims()}});
      Node named = node;
      if (keeps_its_name(node.op))
        set(named, "container", container_of(scope_ + key));
      else
        set(named, "shared_name", scope_ + key);
      resources_.push_back({key, node.client_name, variable, variable ? std::string() : node_def_of(named)});
    }
    nodes_[id] = argument->second;
    const Edge handle{argument->second, 0};
    if (node.outputs.front().type.kind == ValueKind::kResource)
      values_[{id, 0}] = handle;
    else
      references_[{id, 0}] = {handle, {}, node.outputs.front().type, declared_by(node)};
  }

  /// Whether the operator takes its input `i` by reference.
  std::vector<bool> by_reference(const Node& node) const {
    std::vector<bool> out;
    const Signature* signature = catalogue_.find(node.op);
    if (signature == nullptr) return std::vector<bool>(node.inputs.size());
    for (const Formal& formal : signature->inputs)
      out.insert(out.end(), types_of(formal, node.attributes).size(), formal.reference);
    out.resize(node.inputs.size());
    return out;
  }

  void translate(NodeId id) {
    const Node& node = from_[id];
    const std::vector<bool> references = by_reference(node);
    if (std::ranges::none_of(references, std::identity())) return keep(id);
    const Twin* const passing = find(kPassing, node.op);
    passing != nullptr ? pass(id, *passing) : work_on_handles(id, references);
  }

  /// A node that takes values: those of variables are read for it.
  void keep(NodeId id) {
    const Node& node = from_[id];
    if (node.kind == Kind::kIdentity && references_.contains(node.inputs.front())) return look_at(id);
    Node copy = node;
    copy.after = waits(node);
    for (size_t i = 0; i < node.inputs.size(); ++i) copy.inputs[i] = value(node, i, copy.after);
    if (const auto* name = copy.attributes.find<std::string>("shared_name"); name != nullptr && node.stateful)
      set(copy, "shared_name", scope_ + key_of(node));
    add(id, std::move(copy));
  }

  /// An Identity of a variable. TensorFlow's gives the variable's own memory, so that whoever waits for a write sees
  /// what was written; one that waits itself is a read.
  void look_at(NodeId id) {
    const Node& node = from_[id];
    const Reference& reference = references_.at(node.inputs.front());
    std::vector<NodeId> after = waits(node);
    after.insert(after.end(), reference.after.begin(), reference.after.end());
    if (!after.empty()) {
      add(id, read(node.name, reference, std::move(after)));
      return;
    }
    nodes_[id] = reference.handle.node;
    references_[{id, 0}] = reference;
  }

  /// The value of input `i` for a node that waits for `after`.
  Edge value(const Node& node, size_t i, const std::vector<NodeId>& after) {
    const auto at = references_.find(node.inputs[i]);
    if (at == references_.end()) return values_.at(node.inputs[i]);
    std::vector<NodeId> all = after;
    all.insert(all.end(), at->second.after.begin(), at->second.after.end());
    // No client has a name with this sign.
    Node added = read(fmt::format("{}:{}", node.name, i), at->second, std::move(all));
    added.client_name = out_[at->second.handle.node].client_name;  // what is wrong is wrong with the variable
    return {out_.add(std::move(added)), 0};
  }

  std::vector<NodeId> waits(const Node& node) const {
    std::vector<NodeId> out;
    for (const NodeId before : node.after) out.push_back(nodes_.at(before));
    return out;
  }

  const Reference& reference(const Node& node, size_t i) const {
    const auto at = references_.find(node.inputs[i]);
    require(at != references_.end(), "input {} is no variable", i);
    return at->second;
  }

  /// Switch, Enter and the like: the handle goes through them instead.
  void pass(NodeId id, const Twin& twin) {
    const Node& node = from_[id];
    Node copy = node;
    copy.op = twin.handle, copy.kind = dialect().kind_of(copy.op);
    copy.after = waits(node);
    const ValueType type = reference(node, 0).type;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!references_.contains(node.inputs[i])) {
        copy.inputs[i] = values_.at(node.inputs[i]);
        continue;
      }
      const Reference& passed = reference(node, i);
      copy.inputs[i] = passed.handle;
      copy.after.insert(copy.after.end(), passed.after.begin(), passed.after.end());
    }
    set(copy, "T", ValueType::resource());
    for (Output& output : copy.outputs)
      if (output.type == type) output.type = ValueType::resource();
    const NodeId added = add(id, std::move(copy));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Edge edge{id, static_cast<int32_t>(i)};
      if (out_[added].outputs[i].type.kind != ValueKind::kResource) continue;
      values_.erase(edge);
      references_[edge] = {{added, static_cast<int32_t>(i)}, {}, type};
    }
  }

  void work_on_handles(NodeId id, const std::vector<bool>& references) {
    const Node& node = from_[id];
    Node copy = node;
    copy.op = handle_operator(node.op), copy.kind = dialect().kind_of(copy.op);
    copy.after = waits(node);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!references[i]) continue;
      const Reference& written = reference(node, i);
      copy.inputs[i] = written.handle;
      copy.after.insert(copy.after.end(), written.after.begin(), written.after.end());
    }
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (!references[i]) copy.inputs[i] = value(node, i, copy.after);
    copy.attributes = attributes_of(node, copy.op);
    if (copy.kind == Kind::kAssign) set_declared(copy, reference(node, 0).declared);
    const Signature* signature = catalogue_.find(node.op);
    const bool gives = !signature->outputs.empty() && signature->outputs.front().reference;
    if (gives) copy.outputs.clear();
    copy.stateful = true;
    const NodeId added = add(id, std::move(copy));
    if (gives)
      references_[{id, 0}] = {reference(node, 0).handle, {added}, reference(node, 0).type, reference(node, 0).declared};
  }

  /// Those of the node that an operator on handles takes; the type of the variable is called T or dtype there.
  Attributes attributes_of(const Node& node, const std::string& op) const {
    const Signature* signature = catalogue_.find(op);
    if (signature == nullptr) fail(Code::kOpNotFound, "the library does not know {}", op);
    Attributes out;
    for (const auto& [name, entry] : node.attributes.entries())
      if (signature->attributes.contains(name) || name.starts_with('_')) out.set(name, entry.value, entry.raw);
    if (signature->attributes.contains("dtype")) copy_attribute(node.attributes, "T", out, "dtype");
    return out;
  }

  std::string handle_operator(const std::string& op) const {
    if (const Twin* const twin = find(kTwins, op); twin != nullptr) return std::string(twin->handle);
    std::string handle = "Resource" + op;
    if (catalogue_.find(handle) == nullptr)
      fail(Code::kOpNotFound,
           "it works on a variable by reference and has no form for handles; use resource variables "
           "(tf.compat.v1.enable_resource_variables())");
    return handle;
  }

  NodeId add(NodeId id, Node node) {
    const NodeId added = out_.add(std::move(node));
    nodes_[id] = added;
    for (size_t i = 0; i < out_[added].outputs.size(); ++i)
      values_[{id, static_cast<int32_t>(i)}] = {added, static_cast<int32_t>(i)};
    return added;
  }

  void give(const Result& result) {
    const auto at = references_.find(result.value);
    if (at == references_.end()) {
      out_.results.push_back({result.name, values_.at(result.value)});
    } else if (at->second.after.empty()) {
      variables_[out_.results.size()] = at->second.type;
      out_.results.push_back({result.name, at->second.handle});
    } else {
      out_.results.push_back({result.name, {out_.add(read(result.name, at->second, at->second.after)), 0}});
    }
  }

  const Function& from_;
  const Catalogue& catalogue_;
  const std::string& scope_;
  Function out_;
  std::vector<SessionResource> resources_;
  std::map<size_t, ValueType> variables_;
  std::map<std::string, NodeId> arguments_;  ///< by key
  std::map<Edge, Edge> values_;
  std::map<Edge, Reference> references_;
  std::map<NodeId, NodeId> nodes_;
};

}  // namespace

Taken take_resources(Function& f, const Catalogue& catalogue, const std::string& scope) {
  Taking taking(f, catalogue, scope);
  taking.run();
  f = taking.function();
  return taking.taken();
}

void read_at_the_end(Function& f, const std::map<size_t, ValueType>& variables) {
  for (const auto& [at, type] : variables) {
    Result& result = f.results[at];
    std::vector<NodeId> users;
    for (size_t i = 0; i < f.nodes.size(); ++i)
      if (std::ranges::find(f.nodes[i].inputs, result.value) != f.nodes[i].inputs.end() &&
          f.nodes[i].kind != Kind::kRead)
        users.push_back(static_cast<NodeId>(i));
    Node last = read(result.name, {result.value, {}, type}, std::move(users));
    last.client_name = f[result.value.node].client_name;
    result.value = {f.add(std::move(last)), 0};
  }
}

}  // namespace npu::graph::tensorflow
