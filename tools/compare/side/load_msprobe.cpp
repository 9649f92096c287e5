// SPDX-License-Identifier: Apache-2.0
// A dump.json of msprobe: calls ("Functional.linear.0.forward") and modules ("Module.head.Linear.forward.0"), in the
// order in which they were done.
#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "graph/dump/record/data_type.h"
#include "tools/compare/exit/refusal.h"
#include "tools/compare/side/load.h"

namespace npu::compare {
namespace {

namespace fs = std::filesystem;

/// "torch.float32", "Float32"
int32_t type_of(std::string word) {
  word = word.substr(word.rfind('.') == word.npos ? 0 : word.rfind('.') + 1);
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const auto& type : graph::record::data_types())
    if (type.word == word) return type.number;
  return 0;
}

std::optional<Statistics> statistics_of(const OrderedJson& tensor) {
  Statistics found;
  for (const auto& [name, into] :
       {std::pair{"Max", &found.most}, {"Min", &found.least}, {"Mean", &found.mean}, {"Norm", &found.norm}}) {
    if (!tensor.contains(name) || !tensor.at(name).is_number()) return std::nullopt;
    *into = tensor.at(name).get<double>();
  }
  return found;
}

class Reader {
 public:
  explicit Reader(fs::path data) : data_(std::move(data)) {}

  /// Tensors wherever they stand in lists and dictionaries.
  void collect(const OrderedJson& value, const std::string& label, std::vector<Port>& into) const {
    if (value.is_object() && value.contains("shape") && value.contains("dtype")) {
      into.push_back(port_of(value, label));
    } else if (value.is_array()) {
      size_t index = 0;
      for (const OrderedJson& member : value) collect(member, fmt::format("{} {}", label, index++), into);
    } else if (value.is_object()) {
      for (const auto& [key, member] : value.items())
        if (member.is_structured()) collect(member, fmt::format("{}.{}", label, key), into);
    }
  }

 private:
  Port port_of(const OrderedJson& tensor, const std::string& label) const {
    Port port;
    port.label = label;
    port.type = type_of(tensor.at("dtype").get<std::string>());
    port.shape = tensor.at("shape").get<Shape>();
    port.statistics = statistics_of(tensor);
    if (tensor.contains("data_name") && tensor.at("data_name").is_string())
      if (const fs::path file = data_ / tensor.at("data_name").get<std::string>(); fs::exists(file))
        port.source = Source{file.string(), false, 0};
    return port;
  }
  fs::path data_;
};

Operator operator_of(const std::string& name, const OrderedJson& call, const Reader& reader) {
  Operator op;
  op.name = name, op.ran = true;
  const size_t dot = name.find('.');
  op.type = name.substr(dot == name.npos ? 0 : dot + 1, name.find('.', dot + 1) - dot - 1);
  for (const auto& [key, value] : call.items()) {
    const bool input = key == "input" || key == "input_args" || key == "input_kwargs" || key == "parameters";
    const std::string label = key == "input_args" ? "input" : key;
    reader.collect(value, label, input ? op.inputs : op.outputs);
  }
  return op;
}

std::string replaced(std::string name, std::string_view what, std::string_view with) {
  const size_t at = name.rfind(what);
  return at == name.npos ? "" : name.replace(at, what.size(), with);
}

/// What runs backward reads what its forward had read and made, too.
void add_forward(Operator& op, const Run& run) {
  for (const char* word : {"backward", "parameters_grad"}) {
    const std::string forward = replaced(op.name, word, "forward");
    if (forward.empty()) continue;
    const Operator* made = run.find(forward);
    if (made == nullptr) continue;
    for (size_t i = 0; i < made->outputs.size(); ++i) {
      Port port = made->outputs[i];
      port.label = fmt::format("{} of {}", port.label, forward), port.maker = forward, port.output = i;
      op.inputs.push_back(std::move(port));
    }
    for (Port port : made->inputs) {
      port.label = fmt::format("{} of {}", port.label, forward);
      op.inputs.push_back(std::move(port));
    }
  }
}

}  // namespace

Run load_msprobe(const Place& place) {
  Run run;
  const std::string path = (fs::path(place.folder) / "dump.json").string();
  try {
    const OrderedJson dump = OrderedJson::parse(whole_file(path).value_or(""));
    const Reader reader(fs::path(place.folder) / "dump_tensor_data");
    for (const auto& [name, call] : dump.at("data").items()) {
      if (!call.is_object()) continue;
      Operator op = operator_of(name, call, reader);
      add_forward(op, run);
      run.add(std::move(op));
    }
  } catch (const JsonError& reason) {
    throw Refusal(Exit::kJson, fmt::format("{} is no dump of msprobe: {}", path, reason.what()));
  }
  return run;
}

}  // namespace npu::compare
