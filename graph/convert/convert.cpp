// SPDX-License-Identifier: Apache-2.0
#include "graph/convert/convert.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/json.h"
#include "device/process/soc.h"
#include "graph/cache/key.h"
#include "graph/convert/gear.h"
#include "graph/convert/refusal.h"
#include "graph/convert/retype.h"
#include "graph/ir/verify.h"
#include "graph/passes/pass.h"
#include "graph/plan/planner.h"
#include "graph/plan/refusal.h"
#include "graph/run/library.h"

namespace npu::graph::convert {
namespace {

using model::Gear;
using model::Model;
using model::Port;

constexpr int kDevice = 0;  // of whom nothing is asked but how it rounds
constexpr int32_t kNchw = 0, kNhwc = 1, kNd = 2;

Port port_of(const std::string& name, const Output& value, int32_t format) {
  if (!value.type.is_tensor() || size_of(value.type.dtype) == 0)
    refuse("E11009", "{} is of {}; models take and give tensors of numbers", name, to_string(value.type));
  Port out{name, value.type.dtype, format, {}};
  if (value.shape.dims) out.shape = *value.shape.dims;
  return out;
}

/// --input_format. Without it, the axes of image sizes and of AIPP are in the order of the framework: TensorFlow has
/// channels last, ONNX channels first.
int32_t format_of(const Request& request, const Imported& imported) {
  if (request.input_format) return *request.input_format;
  if (request.gear_kind != model::GearKind::kImage && request.aipp.empty()) return kNd;
  if (imported.format.starts_with("TensorFlow")) return kNhwc;
  return imported.format.starts_with("ONNX") ? kNchw : kNd;
}

const InputShape* shape_of(const Request& request, const std::string& name) {
  const auto at = std::ranges::find(request.shapes, name, &InputShape::name);
  return at == request.shapes.end() ? nullptr : &*at;
}

std::vector<Port> inputs_of(const Function& f, const Request& request, int32_t format) {
  std::vector<Port> out;
  for (const Argument& argument : f.arguments) {
    const InputShape* asked = shape_of(request, argument.name);
    // Formats say what the axes of images are; other inputs are ND.
    Port port = port_of(argument.name, argument.value, kNd);
    if (asked == nullptr && !argument.value.shape.rank_known())
      refuse("E10001", "the model does not tell the shape of input {}; write it in --input_shape", argument.name);
    if (asked != nullptr) {
      if (argument.value.shape.rank_known() && port.shape.size() != asked->dims.size())
        refuse("E10049", "--input_shape: input {} has {} sizes in the model, {}, and {} here", argument.name,
               port.shape.size(), port.shape, asked->dims.size());
      port.shape = asked->dims;
      port.range = asked->range;
    }
    if (port.shape.size() >= 4) port.format = format;
    out.push_back(std::move(port));
  }
  return out;
}

/// Inputs as they are after AIPP and changed types, with the ranges that were asked for.
std::vector<Port> ports_of(const Function& f, const std::vector<Port>& asked, int32_t format) {
  std::vector<Port> out;
  for (size_t i = 0; i < f.arguments.size(); ++i) {
    out.push_back(port_of(f.arguments[i].name, f.arguments[i].value, kNd));
    if (out[i].shape.size() >= 4) out[i].format = format;
    if (i < asked.size() && asked[i].shape == out[i].shape) out[i].range = asked[i].range;
  }
  return out;
}

std::vector<Port> outputs_of(const Function& f) {
  std::vector<Port> out;
  for (const Result& result : f.results) out.push_back(port_of(result.name, f.output(result.value), kNd));
  return out;
}

/// The functions that the model reaches, each after the passes; what passes make of others goes with them.
Program rewritten(const Program& original, const std::string& root, const Request& request) {
  PassOptions options;
  options.skip = request.passes_off;
  for (const auto& [option, value] : request.precision) options.precision.set(option, value);
  Program all = original, out;
  std::vector<std::string> waiting = {root};
  while (!waiting.empty()) {
    const std::string name = std::move(waiting.back());
    waiting.pop_back();
    if (out.functions.contains(name)) continue;
    auto function = std::make_shared<Function>(all.get(name));
    run_passes(*function, all, options);
    function->compact();
    out.add(function);
    for (const auto& one : cache::reached_from(*function, all)) waiting.push_back(one->name);
  }
  return out;
}

/// Functions nobody reaches stay out of the file.
Program reached(const Program& program, const std::string& root) {
  Program out;
  out.add(program.functions.at(root));
  for (const auto& one : cache::reached_from(*out.functions.at(root), program)) out.add(one);
  return out;
}

/// What running the model with inputs of these shapes takes.
struct Planning {
  std::vector<Dims> outputs;  ///< kUnknownDim where only a run tells
  int64_t work_bytes = 0;
};

std::vector<Dims> declared(const Function& f) {
  std::vector<Dims> out;
  for (const Result& result : f.results) out.push_back(f.output(result.value).shape.dims.value_or(Dims{kUnknownDim}));
  return out;
}

Planning planned(Library& library, const Model& model, const std::vector<Dims>& shapes) {
  const Function& f = model.compiled.get(model.function);
  std::vector<ArgumentTraits> traits;
  for (size_t i = 0; i < shapes.size(); ++i)
    traits.push_back({ValueType::tensor(model.inputs[i].dtype), make_tensor(nullptr, model.inputs[i].dtype, shapes[i]),
                      nullptr, nullptr});
  Planning out{declared(f)};
  try {
    const Plan plan = Planner(f, library, traits).make();
    out.work_bytes = plan.arena_bytes;
    if (plan.rest) return out;
    for (size_t i = 0; i < plan.results.size(); ++i)
      if (!plan.results[i].dynamic) out.outputs[i] = plan.results[i].shape();
  } catch (const NeedsArgumentValue&) {
    // Sizes depend on what an input holds, so only a run tells them.
  }
  return out;
}

bool known(const Dims& shape) { return std::ranges::find(shape, kUnknownDim) == shape.end(); }

/// Shapes of outputs and the memory of a run, in every gear.
void plan(Model& model) {
  Library library(kDevice);
  library.add_rewritten(model.compiled);
  for (Gear& gear : model.gears) {
    Planning found = planned(library, model, gear.inputs);
    gear.outputs = std::move(found.outputs);
    model.work_bytes = std::max(model.work_bytes, found.work_bytes);
  }
  if (!model.gears.empty()) return;
  const Function& f = model.compiled.get(model.function);
  std::vector<Dims> shapes;
  for (const Port& port : model.inputs) shapes.push_back(port.shape);
  Planning found{declared(f)};
  if (std::ranges::all_of(shapes, known)) found = planned(library, model, shapes);
  model.work_bytes = found.work_bytes;
  for (size_t i = 0; i < model.outputs.size(); ++i) model.outputs[i].shape = found.outputs[i];
}

/// The position of the input that a configuration is for.
size_t input_of(const Function& f, const model::Aipp& aipp) {
  if (aipp.related_input_name.empty()) return static_cast<size_t>(aipp.related_input_rank);
  return static_cast<size_t>(std::ranges::find(f.arguments, aipp.related_input_name, &Argument::name) -
                             f.arguments.begin());
}

/// Pictures of bytes in front of the model.
std::vector<model::Aipp> insert_aipp(Function& f, const Request& request, int32_t format) {
  if (request.aipp.empty()) return {};
  std::vector<model::Aipp> done = model::insert_aipp(f, request.aipp, format == kNhwc);
  for (const model::Aipp& aipp : done) {
    const std::string& name = f.arguments[input_of(f, aipp)].name;
    if (request.gear_kind == model::GearKind::kImage && aipp.input_format == "YUV420SP_U8")
      refuse("E10052",
             "input {} comes as YUV420SP_U8, whose planes have no height of a gear; leave out "
             "--dynamic_image_size, or choose another input_format",
             name);
    if (std::ranges::find(request.half_inputs, name) != request.half_inputs.end())
      refuse("E10034", "--input_fp16_nodes: input {} takes pictures of bytes (AIPP), not float16", name);
  }
  return done;
}

/// What AIPP made of inputs.
void describe_aipp(std::vector<Port>& inputs, const Function& f, const std::vector<model::Aipp>& done) {
  for (const model::Aipp& aipp : done) {
    Port& port = inputs[input_of(f, aipp)];
    port.aipp = to_json(aipp).dump();
    port.format = port.shape.size() == 4 ? kNhwc : kNd;
  }
}

void set_shapes(Function& f, const std::vector<Port>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    Argument& argument = f.arguments[i];
    argument.value.shape = {inputs[i].shape};
    f[argument.node].outputs[0].shape = argument.value.shape;
  }
}

}  // namespace

void check_inputs(const Imported& imported, const Request& request) {
  const Function& f = imported.program.get(imported.function);
  for (const InputShape& shape : request.shapes) {
    if (std::ranges::find(f.arguments, shape.name, &Argument::name) != f.arguments.end()) continue;
    std::vector<std::string> names;
    for (const Argument& argument : f.arguments) names.push_back(argument.name);
    refuse("E10016", "--input_shape: the model has no input {}; its inputs are {}", shape.name, fmt::join(names, ", "));
  }
}

ImportOptions import_options(const Request& request) {
  ImportOptions out;
  for (const InputShape& shape : request.shapes) out.input_shapes.emplace(shape.name, shape.dims);
  out.out_nodes = request.out_nodes;
  out.signature = request.signature;
  return out;
}

Model convert(Imported imported, const Request& request) {
  check_inputs(imported, request);
  Function& f = imported.program.get(imported.function);
  const int32_t format = format_of(request, imported);
  const std::vector<Port> asked = inputs_of(f, request, format);
  set_shapes(f, asked);
  const std::vector<model::Aipp> aipp = insert_aipp(f, request, format);
  retype(imported, request);
  Model out;
  out.name = request.name.empty() ? imported.function : request.name;
  out.function = imported.function;
  out.inputs = ports_of(f, asked, format);
  describe_aipp(out.inputs, f, aipp);
  out.outputs = outputs_of(f);
  out.gear_kind = request.gear_kind;
  out.gears = make_gears(request, out.inputs);
  out.precision = request.precision;
  out.passes_off = request.passes_off;
  out.facts = request.facts;
  out.facts["framework"] = imported.format;
  out.facts["producer"] = imported.producer;
  out.facts["compiler"] = cache::build();
  if (!out.facts.contains("soc")) out.facts["soc"] = device::soc().name;
  out.original = reached(imported.program, out.function);
  verify(out.original);
  out.compiled = rewritten(out.original, out.function, request);
  plan(out);
  return out;
}

}  // namespace npu::graph::convert
