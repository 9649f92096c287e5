// SPDX-License-Identifier: Apache-2.0
// Damaged model files: sections with bytes changed or cut off and the checksum made right again, so that what lies
// behind it is met. Each is refused with an Error, or read and run. Rounds as base/damage_fixture.h says.
#include <gtest/gtest.h>

#include <cstring>
#include <new>

#include "base/damage_fixture.h"
#include "graph/convert/convert.h"
#include "graph/convert/importer.h"
#include "graph/graph_fixture.h"
#include "graph/import/onnx/node_data_fixture.h"
#include "graph/ir/control_flow.h"
#include "graph/model/container.h"
#include "graph/run/executable.h"
#include "graph/run/library.h"

namespace npu::graph::convert {
namespace {

using model::Container;
using model::Model;
using model::SectionKind;
using Sections = std::vector<std::pair<SectionKind, std::string>>;

/// Bytes at a multiple of 64, as a mapping has them.
std::shared_ptr<std::byte> placed(std::string_view bytes) {
  auto* at = static_cast<std::byte*>(::operator new[](bytes.size() + 1, std::align_val_t(64)));
  std::memcpy(at, bytes.data(), bytes.size());
  return {at, [](std::byte* p) { ::operator delete[](p, std::align_val_t(64)); }};
}

Sections sections_of(const std::string& file) {
  const auto place = placed(file);
  const Container container({place.get(), file.size()});
  Sections out;
  for (const SectionKind kind :
       {SectionKind::kNote, SectionKind::kTexts, SectionKind::kFunctions, SectionKind::kData}) {
    const auto part = container.section(kind);
    out.emplace_back(kind, std::string(reinterpret_cast<const char*>(part.data()), part.size()));
  }
  return out;
}

/// y = x * [1, 2, 3, 4], in gears.
std::string with_gears() {
  TestFunction f("f");
  const Edge x = f.argument("x");
  Function& made = *f.function();
  made.arguments[0].value.shape = made.nodes[0].outputs[0].shape = {Dims{kUnknownDim, 4}};
  f.result(f.node("Mul", {x, f.constant<float>({4}, {1, 2, 3, 4})}));
  Imported imported;
  imported.program.add(f.function());
  imported.function = "f";
  return to_bytes(convert(std::move(imported), read_request({{"input_shape", "x:-1,4"},
                                                             {"dynamic_batch_size", "1,4,8"},
                                                             {"precision_mode", "must_keep_origin_dtype"}})));
}

/// A few of ONNX's node tests, where they are installed, and the model above.
std::vector<Sections> whole_models() {
  std::vector<Sections> out{sections_of(with_gears())};
  const std::vector<onnx::NodeCase> cases = onnx::node_cases();
  const Request request = read_request({{"precision_mode", "must_keep_origin_dtype"}});
  for (size_t i = 0; i < cases.size(); i += 9) {
    try {
      Imported imported = import_model(5, cases[i].model, request, cases[i].folder);
      out.push_back(sections_of(to_bytes(convert(std::move(imported), request))));
    } catch (const Error&) {
      // Some take sequences, which models do not.
    }
  }
  return out;
}

std::string damaged(Random& random, Sections sections) {
  for (size_t n = 1 + below(random, 3); n > 0; --n) {
    std::string& part = sections[below(random, sections.size())].second;
    if (part.empty()) continue;
    switch (below(random, 8)) {
      case 0: part.resize(below(random, part.size())); break;
      case 1: part.erase(below(random, part.size()), 1 + below(random, 3)); break;
      case 2: part.insert(below(random, part.size()), 1 + below(random, 3), static_cast<char>(random())); break;
      default:
        part[below(random, part.size())] = static_cast<char>(below(random, 4) == 0 ? random() : below(random, 64));
    }
  }
  std::string file = to_container(sections, model::Apart::kData);
  if (below(random, 16) == 0) file[below(random, file.size())] = static_cast<char>(random());
  return file;
}

/// A damaged loop may never end.
bool loops(const Program& program) {
  for (const auto& [name, function] : program.functions)
    for (const Node& node : function->nodes)
      if (const auto call = as_call(node); call && call->kind == Kind::kWhile) return true;
  return false;
}

/// Zeros of the sizes that the model says; nothing where that is too much for a test.
std::optional<std::vector<Value>> inputs_of(const Model& model) {
  std::vector<Value> out;
  for (const model::Port& port : model.inputs) {
    Dims shape = port.shape;
    for (size_t i = 0; i < shape.size(); ++i) shape[i] = shape[i] < 0 ? 4 : shape[i];
    const int64_t bytes = model::bytes_of(port.dtype, shape);
    if (bytes > int64_t{1} << 20) return std::nullopt;
    auto memory = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(bytes));
    out.push_back({make_tensor(memory->data(), port.dtype, shape), memory, nullptr});
  }
  return out;
}

void read_and_run(std::string_view file) {
  const auto at = placed(file);
  const Model model = model::read_model({at.get(), file.size()}, at);
  Library library(0);
  library.add_rewritten(model.compiled);
  const auto executable = library.get(model.function, Role::kRoot);
  if (loops(model.compiled)) return;
  if (auto inputs = inputs_of(model)) executable->run(std::move(*inputs));
}

TEST(FuzzModelFile, DamagedModelsAreRefusedOrRun) {
  const std::vector<Sections> models = whole_models();
  const Rounds rounds =
      fuzz(3000, [&](size_t round, Random& random) { read_and_run(damaged(random, models[round % models.size()])); });
  EXPECT_GT(rounds.refused, 100u);
  EXPECT_GT(rounds.accepted, 100u);
}

}  // namespace
}  // namespace npu::graph::convert
