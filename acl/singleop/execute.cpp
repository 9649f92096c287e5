// SPDX-License-Identifier: Apache-2.0
// aclopCompileAndExecute: a call by operator type becomes a prepared operator in a stream.
// Everything is read now, from descriptions that the client may destroy when the call returns: the stream keeps the
// operator, copies of host values, and nothing of the client's but device memory.
#include <algorithm>
#include <memory>
#include <span>

#include "acl/aclnn/launch.h"
#include "acl/aclnn/recorded_memory.h"
#include "acl/call.h"
#include "acl/include/acl/acl_op_compiler.h"
#include "acl/singleop/blocked.h"
#include "acl/singleop/description.h"
#include "acl/singleop/function.h"
#include "acl/singleop/operator_type.h"
#include "acl/singleop/value.h"
#include "base/log.h"
#include "base/tensor.h"
#include "device/context/context.h"
#include "device/memory/memory.h"
#include "device/queue/capture.h"
#include "device/queue/stream.h"
#include "ops/soc_type.h"

namespace npu::acl {
namespace {

/// A prepared operator, and what must live as long: copies of the inputs that came as host memory, and the outputs,
/// whose final sizes the operator may write. Where an output continues an input but stands elsewhere, `before` copies;
/// blocked tensors are computed on in a plain form that lies aside, copied before and after.
struct Prepared {
  std::vector<std::unique_ptr<ops::Operator>> before, after;
  std::unique_ptr<ops::Operator> op;
  std::vector<std::vector<std::byte>> aside;
  std::vector<std::unique_ptr<Tensor>> outputs;  ///< one for each of the client's
  bool reads_nhwc = false;                       ///< the operator is told where the channels stand
  RecordedMemory recorded;                       ///< what a graph retains; empty for a call that runs once
};

/// One side (inputs or outputs) of the client's call.
struct Side {
  const char* word;  ///< "input" or "output"
  bool output;
  std::span<const aclTensorDesc* const> descs;
  std::span<const aclDataBuffer* const> buffers;
};

/// The client's values by the names of the table. Outputs come last, so that one that continues an input is found
/// behind it.
using Values = std::vector<NamedValue>;

/// Host bytes an input's values come from: a constant, or a buffer in host memory.
std::span<const std::byte> host_values(const aclTensorDesc& desc, const aclDataBuffer& buffer) {
  if (!desc.constant.empty()) return desc.constant;
  if (desc.placement != ACL_MEMTYPE_DEVICE) return {static_cast<const std::byte*>(buffer.data), buffer.size};
  return {};
}

void* memory_of(const aclTensorDesc& desc, const aclDataBuffer& buffer, size_t bytes, const std::string& argument,
                Prepared& call) {
  const std::span<const std::byte> host = host_values(desc, buffer);
  const size_t available = host.empty() ? buffer.size : host.size();
  // Also where nothing would be read beyond it: a description that is larger than its buffer is a mistake.
  if (available < bytes)
    fail(Code::kInvalidParam, "{} needs {} bytes, its buffer has {}; pass a larger buffer", argument, bytes, available);
  // Host values are set aside with the call: kernels read device memory and what the call owns.
  if (!host.empty()) {
    call.aside.emplace_back(host.begin(), host.begin() + static_cast<ptrdiff_t>(bytes));
    return call.aside.back().data();
  }
  device::check_live(buffer.data, bytes, device::kAnyDevice, argument.c_str());
  return device::resolve(buffer.data, bytes);
}

// A format of storage, where one is set, is the one that elements lie in.
int32_t format_of(const aclTensorDesc& desc) {
  return desc.storage_format == ACL_FORMAT_UNDEFINED ? desc.format : desc.storage_format;
}

// Other formats hold elements in another order, and padding; read as rows they would give wrong numbers silently.
// NHWC is a plain one, too, for operators that are told so: for others its sizes stand in another order.
void check_format(const aclTensorDesc& desc, const Slot& slot, const std::string& argument, bool reads_nhwc) {
  const int32_t format = format_of(desc);
  static constexpr int32_t kPlain[] = {ACL_FORMAT_UNDEFINED, ACL_FORMAT_NCHW, ACL_FORMAT_ND,
                                       ACL_FORMAT_NCDHW,     ACL_FORMAT_NC,   ACL_FORMAT_NCL};
  if (std::find(std::begin(kPlain), std::end(kPlain), format) != std::end(kPlain)) return;
  if (reads_nhwc && format == ACL_FORMAT_NHWC) return;
  // A view of memory counts the elements as they lie there.
  if (is_blocked(format) && !slot.memory) return;
  fail(Code::kInvalidParam,
       "{} has format {}; single operators take ND, NCHW, NCDHW, NC1HWC0, NDC1HWC0, FRACTAL_Z, FRACTAL_Z_3D and "
       "FRACTAL_NZ, and views of memory the first three: say torch.npu.config.allow_internal_format = False, or "
       "convert it",
       argument, format);
}

void add_copy(const Value& from, const Tensor& to, std::string_view what,
              std::vector<std::unique_ptr<ops::Operator>>& list) {
  // Looked up once: the table of operators does not change.
  static const ops::OperatorDef& copy = *ops::find_operator("copy");
  list.push_back(ops::create(copy));
  store(from, *copy.field("self"), *list.back(), what);
  store({.content = to}, *copy.field("out"), *list.back(), what);
  list.back()->prepare();
}

/// A plain tensor aside for the blocked one at `data`, and the copies between them.
void plan_copies(const Tensor& plain, void* data, const aclTensorDesc& desc, bool output, const std::string& argument,
                 Prepared& call) {
  const auto views = blocked_views(plain, data, format_of(desc), desc.storage_dims, argument);
  const Dims storage{std::span<const int64_t>(desc.storage_dims)};
  // What pads the blocks is zero, as others who read them expect.
  if (output && plain.count() < count_of(storage))
    add_copy({.content = TableText{"0"}}, make_tensor(data, plain.dtype, storage), argument, call.after);
  for (const BlockedView& view : views) {
    if (output)
      add_copy({.content = view.plain}, view.blocked, argument, call.after);
    else
      add_copy({.content = view.blocked}, view.plain, argument, call.before);
  }
}

/// Bytes that can be read or written from the start of a buffer: its own, as far as the memory block goes.
size_t reach_of(const aclTensorDesc& desc, const aclDataBuffer& buffer) {
  if (const auto host = host_values(desc, buffer); !host.empty()) return host.size();
  // The client's size may go beyond the memory block: views reach as far as both allow.
  const device::Block block = device::find_block(buffer.data);
  const auto offset = static_cast<size_t>(static_cast<const std::byte*>(buffer.data) - block.begin);
  return block.begin == nullptr ? buffer.size : std::min(buffer.size, block.bytes - std::min(offset, block.bytes));
}

/// The sizes of the description; or, where views of the memory are meant, one axis over all that can be reached.
Dims sizes_of(const aclTensorDesc& desc, const aclDataBuffer& buffer, const Slot& slot, const std::string& argument) {
  if (slot.memory) return {static_cast<int64_t>(reach_of(desc, buffer) / size_of(desc.dtype))};
  if (desc.count() < 0 || desc.dims.size() > kMaxRank)
    fail(Code::kInvalidParam, "{} has unknown sizes or more than {} dimensions; give its true sizes", argument,
         kMaxRank);
  return Dims(std::span<const int64_t>(desc.dims));
}

// `host` tells whether the elements can be read now, as Value::host does.
Tensor tensor_of(const Side& side, size_t i, const Slot& slot, Prepared& call, bool* host) {
  const std::string argument = fmt::format("{} {}", side.word, i);
  const aclTensorDesc& desc = described(side.descs[i], argument.c_str());
  if (desc.dtype == DType::kUndefined) return {};
  // Of what nobody reads or writes the order of elements does not matter: a mask that only goes back to us.
  if (slot.use != Slot::Use::kIgnored) check_format(desc, slot, argument, call.reads_nhwc);
  if (size_of(desc.dtype) == 0)
    fail(Code::kUnsupportedDataType, "{} has dataType {}, which no operator here computes", argument,
         static_cast<int>(desc.dtype));
  const aclDataBuffer& buffer = described(side.buffers[i], argument.c_str());
  const Dims sizes = sizes_of(desc, buffer, slot, argument);
  const bool blocked = slot.use != Slot::Use::kIgnored && is_blocked(format_of(desc));
  const Dims stored = blocked ? Dims(std::span<const int64_t>(desc.storage_dims)) : sizes;
  const size_t bytes = static_cast<size_t>(count_of(stored)) * size_of(desc.dtype);
  // An empty tensor has no elements to wait for.
  *host = !host_values(desc, buffer).empty() || bytes == 0;
  void* data = bytes == 0 ? buffer.data : memory_of(desc, buffer, bytes, argument, call);
  Tensor tensor = make_tensor(data, desc.dtype, sizes);
  tensor.format = desc.format;
  if (!blocked) return tensor;
  call.aside.emplace_back(static_cast<size_t>(tensor.count()) * size_of(desc.dtype));
  tensor.data = call.aside.back().data();
  plan_copies(tensor, data, desc, side.output, argument, call);
  return tensor;
}

// How many tensors each name takes: one, but the list takes what the others leave.
size_t list_length(const OperatorType& type, const std::vector<Slot>& slots, const Side& side) {
  const bool has_list = std::any_of(slots.begin(), slots.end(), [](const Slot& slot) { return slot.list; });
  const auto needed = static_cast<size_t>(
      std::count_if(slots.begin(), slots.end(), [](const Slot& slot) { return !slot.list && !slot.optional; }));
  const size_t others = slots.size() - (has_list ? 1 : 0), got = side.descs.size();
  // Optional tensors may be missing at the end altogether, so the number lies between two.
  if (got < needed || (!has_list && got > slots.size()))
    fail(Code::kInvalidParam, "{} takes {}{} {}s, got {}", type.type, needed,
         has_list ? " or more" : (needed == slots.size() ? "" : fmt::format(" to {}", slots.size())), side.word, got);
  return has_list && got > others ? got - others : 0;
}

Value read_slot(const OperatorType& type, const Slot& slot, const Side& side, size_t i, Prepared& call) {
  Value value;
  // Left out at the end.
  if (i >= side.descs.size()) return value;
  Tensor tensor = tensor_of(side, i, slot, call, &value.host);
  if (!tensor.defined()) {
    if (!slot.optional)
      fail(Code::kInvalidParam, "{} {} of {} ({}) has no data type; it must be given", side.word, i, type.type,
           slot.name);
    return value;
  }
  if (slot.use == Slot::Use::kRefused)
    fail(Code::kInvalidParam, "{} with {} {} is not built; leave it out", type.type, side.word, slot.name);
  value.content = std::move(tensor);
  value.blocked = is_blocked(format_of(*side.descs[i]));
  if (value.blocked) value.host = false;
  return value;
}

void read_side(const OperatorType& type, const std::vector<Slot>& slots, const Side& side, Prepared& call,
               Values& values) {
  const size_t length = list_length(type, slots, side);
  size_t at = 0;
  for (const Slot& slot : slots) {
    if (!slot.list) {
      values.push_back({slot.name, read_slot(type, slot, side, at++, call)});
      continue;
    }
    std::vector<Tensor> members;
    for (size_t i = 0; i < length; ++i) {
      const Value member = read_slot(type, slot, side, at++, call);
      if (member.tensor() != nullptr) members.push_back(*member.tensor());
    }
    values.push_back({slot.name, {.content = std::move(members)}});
  }
}

const AttributeRule* find_rule(const OperatorType& type, std::string_view name) {
  const auto found = std::find_if(type.attributes.begin(), type.attributes.end(),
                                  [&](const AttributeRule& rule) { return rule.name == name; });
  return found == type.attributes.end() ? nullptr : &*found;
}

// What the client asks for and would not get is refused. Names with an underscore are hints to the vendor's compiler.
void check_attributes(const OperatorType& type, const aclopAttr& attributes) {
  for (const auto& [name, value] : attributes.values) {
    const AttributeRule* rule = find_rule(type, name);
    if (rule == nullptr) {
      if (name.starts_with('_')) continue;
      fail(Code::kInvalidParam, "{} has no attribute {} that is known here; leave it out", type.type, name);
    }
    if (rule->fixed && !equals_text(value, rule->value))
      fail(Code::kInvalidParam, "attribute {} of {} must be {}; other values are not built", name, type.type,
           rule->value);
  }
}

void read_attributes(const OperatorType& type, const aclopAttr* attributes, Values& values) {
  if (attributes != nullptr) check_attributes(type, *attributes);
  for (const AttributeRule& rule : type.attributes) {
    Value value;
    // The table's default first; what the client gave replaces it.
    if (!rule.value.empty()) value.content = TableText{rule.value};
    if (attributes != nullptr)
      if (const auto found = attributes->values.find(rule.name); found != attributes->values.end())
        value.content = found->second;
    values.push_back({rule.name, std::move(value)});
  }
}

// The last of a name: an output stands behind the input that it continues.
Value value_of(const Values& values, std::string_view name) {
  const auto found =
      std::find_if(values.rbegin(), values.rend(), [&](const NamedValue& value) { return value.name == name; });
  if (found != values.rend()) return found->value;
  // No value has that name: it is a text of the table itself, such as an axis.
  return {.content = TableText{name}};
}

bool takes_tensors(const ops::Field& field) {
  return field.kind == ops::FieldKind::kTensor || field.kind == ops::FieldKind::kTensorList ||
         field.kind == ops::FieldKind::kOperand;
}

// A number that planning needs may be in device memory, written by work that is still queued.
// Awaited only where it must be: most inputs are read by kernels, in stream order.
void await_number(Value& value, device::Stream& stream) {
  if (value.tensor() == nullptr || value.host || value.blocked) return;
  stream.synchronize();
  value.host = true;
}

Value evaluate(const FieldSource& source, const Values& values, device::Stream& stream) {
  if (source.constant) return {.content = TableText{source.names.front()}};
  const bool of_tensors = takes_tensors(*source.field);
  std::vector<NamedValue> arguments;
  for (const std::string_view name : source.names) {
    arguments.push_back({name, value_of(values, name)});
    // Views are planned from shapes alone, so their tensors may be written until the work runs.
    const bool viewed = (of_tensors && arguments.size() == 1) || asks_sizes(source.function);
    if (!viewed) await_number(arguments.back().value, stream);
  }
  // A function without its first argument gives nothing: the field keeps its default.
  if (source.function.empty() || !arguments.front().value.given()) return arguments.front().value;
  return apply_function(source.function, arguments);
}

// Fields that are not given keep the operator's own default.
void fill(const OperatorType& type, const Values& values, device::Stream& stream, Prepared& call) {
  for (const FieldSource& source : type.fields) {
    const Value value = evaluate(source, values, stream);
    const std::string what = fmt::format("{} of {}", source.names.front(), type.type);
    if (value.given()) store(value, *source.field, *call.op, what);
  }
}

// An output named like an input is that input, changed. Where a client gives it another memory, it begins as a copy.
void continue_inputs(const OperatorType& type, const Values& values, Prepared& call) {
  for (size_t i = 0; i < type.outputs.size(); ++i) {
    const auto input = std::find_if(values.begin(), values.begin() + static_cast<ptrdiff_t>(type.inputs.size()),
                                    [&](const NamedValue& value) { return value.name == type.outputs[i].name; });
    if (input == values.begin() + static_cast<ptrdiff_t>(type.inputs.size())) continue;
    const Value& output = values[values.size() - type.outputs.size() + i].value;
    if (output.tensor() == nullptr || input->value.tensor() == nullptr) continue;
    // The same memory: the operator changes it in place, and there is nothing to copy.
    if (output.tensor()->data == input->value.tensor()->data) continue;
    add_copy(input->value, *output.tensor(), input->name, call.before);
  }
}

/// Operators on the state of a device are told which.
void assign_device(const ops::OperatorDef& def, int device, Prepared& call) {
  if (const ops::Field* field = def.field("device")) field->of<int64_t>(*call.op) = device;
}

/// Whether every attribute that the client gave is one of `type`, and has the value that is built.
bool agrees(const OperatorType& type, const aclopAttr& attributes) {
  return std::all_of(attributes.values.begin(), attributes.values.end(), [&](const auto& given) {
    const AttributeRule* rule = find_rule(type, given.first);
    return rule == nullptr ? given.first.starts_with('_') : !rule->fixed || equals_text(given.second, rule->value);
  });
}

const OperatorType& operator_type(const char* name, const aclopAttr* attributes) {
  const std::vector<const OperatorType*> rows = find_operator_type(given(name, "opType"));
  for (const OperatorType* type : rows)
    if (attributes == nullptr || agrees(*type, *attributes)) return *type;
  // None does what is asked: the text about the first says what is built.
  if (!rows.empty()) return *rows.front();
  fail(Code::kOpNotFound,
       "opType {} is not known as a single operator; use the aclnn function of the same purpose (in PyTorch: "
       "torch.npu.set_compile_mode(jit_compile=False)); {}",
       name, types_like(name));
}

// Operators whose result has a size that only the data say write it into the tensor's origin.
void keep_outputs(const OperatorType& type, Values& values, Prepared& call) {
  const size_t first = values.size() - type.outputs.size();
  for (size_t i = first; i < values.size(); ++i) {
    // A place for each output, also for those left out, so that numbers stay the client's.
    call.outputs.push_back(nullptr);
    auto* tensor = std::get_if<Tensor>(&values[i].value.content);
    if (tensor == nullptr) continue;
    call.outputs.back() = std::make_unique<Tensor>(*tensor);
    tensor->origin = call.outputs.back().get();
  }
}

std::shared_ptr<Prepared> prepare(const OperatorType& type, const Side& inputs, const Side& outputs,
                                  const aclopAttr* attributes, device::Stream& stream) {
  // Shared: the stream runs it, and a synchronous call reads the outputs' final sizes afterwards.
  auto prepared = std::make_shared<Prepared>();
  prepared->op = ops::create(*type.def);
  const AttributeRule* order = find_rule(type, "data_format");
  prepared->reads_nhwc = order != nullptr && !order->fixed;
  Values values;
  read_side(type, type.inputs, inputs, *prepared, values);
  read_attributes(type, attributes, values);
  read_side(type, type.outputs, outputs, *prepared, values);
  keep_outputs(type, values, *prepared);
  continue_inputs(type, values, *prepared);
  fill(type, values, stream, *prepared);
  assign_device(*type.def, stream.device(), *prepared);
  ops::check_soc_types(*prepared->op, type.type, Code::kUnsupportedDataType);
  prepared->op->prepare();
  return prepared;
}

/// Whether a result lies on another device: a copy between devices.
/// Such a task shows results to others (task.h): after a failure it is dropped in every mode.
bool leaves_device(const Side& outputs, int device) {
  for (size_t i = 0; i < outputs.buffers.size(); ++i) {
    if (outputs.descs[i]->dtype == DType::kUndefined) continue;  // left out: its buffer may be anything
    const device::Block block = device::find_block(outputs.buffers[i]->data);
    if (block && block.device != device) return true;
  }
  return false;
}

void enqueue(const OperatorType& type, uint32_t flags, std::shared_ptr<Prepared> call, device::Stream& stream) {
  device::Task task;
  task.name = type.type.data();  // a literal
  task.flags = flags;
  task.cost_ns = call->op->cost();
  for (const auto* copies : {&call->before, &call->after})
    for (const auto& copy : *copies) task.cost_ns += copy->cost();
  if (device::captured(stream)) [[unlikely]] {
    call->recorded.add(*call->op);
    for (const auto* copies : {&call->before, &call->after})
      for (const auto& copy : *copies) call->recorded.add(*copy);
  }
  task.body = [call = std::move(call), name = task.name, device = stream.device()] {
    call->recorded.check();
    // Copies run in the same task: nothing may come between them and the operator that goes on from there.
    for (const auto& copy : call->before) run_on_device(device, name, *copy);
    run_on_device(device, name, *call->op);
    for (const auto& copy : call->after) run_on_device(device, name, *copy);
  };
  launch_kernel(stream, std::move(task));
}

std::shared_ptr<Prepared> execute(const char* name, const Side& inputs, const Side& outputs, const aclopAttr* attr,
                                  device::Stream& stream) {
  // Alive, before anything of it is read.
  if (attr != nullptr) described(attr, "attr");
  NPU_LOG(kDebug, "OP", "called {}", name == nullptr ? "" : name);
  const OperatorType& type = operator_type(name, attr);
  std::shared_ptr<Prepared> prepared = prepare(type, inputs, outputs, attr, stream);
  const bool shows = leaves_device(outputs, stream.device());
  enqueue(type, shows ? device::kTaskShows : device::kTaskKernel, prepared, stream);
  return prepared;
}

Side side_of(bool output, int count, const aclTensorDesc* const* descs, const char* descs_name,
             const aclDataBuffer* const* buffers, const char* buffers_name) {
  return {output ? "output" : "input", output, span_of(count, descs, descs_name),
          span_of(count, buffers, buffers_name)};
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclopCompileAndExecute(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
                                const aclDataBuffer* const inputs[], int numOutputs,
                                const aclTensorDesc* const outputDesc[], aclDataBuffer* const outputs[],
                                const aclopAttr* attr, aclopEngineType, aclopCompileType, const char*,
                                aclrtStream stream) {
  return call("aclopCompileAndExecute", [&] {
    execute(opType, side_of(false, numInputs, inputDesc, "inputDesc", inputs, "inputs"),
            side_of(true, numOutputs, outputDesc, "outputDesc", outputs, "outputs"), attr,
            device::stream_from_handle(stream));
  });
}

aclError aclopCompileAndExecuteV2(const char* opType, int numInputs, aclTensorDesc* inputDesc[],
                                  aclDataBuffer* inputs[], int numOutputs, aclTensorDesc* outputDesc[],
                                  aclDataBuffer* outputs[], aclopAttr* attr, aclopEngineType, aclopCompileType,
                                  const char*, aclrtStream stream) {
  return call("aclopCompileAndExecuteV2", [&] {
    device::Stream& queue = device::stream_from_handle(stream);
    const std::shared_ptr<Prepared> done =
        execute(opType, side_of(false, numInputs, inputDesc, "inputDesc", inputs, "inputs"),
                side_of(true, numOutputs, outputDesc, "outputDesc", outputs, "outputs"), attr, queue);
    // The final sizes are known once the work has run, and this call promises them.
    queue.synchronize();
    for (size_t i = 0; i < done->outputs.size() && i < static_cast<size_t>(numOutputs); ++i)
      if (done->outputs[i] != nullptr)
        described(outputDesc[i], "outputDesc")
            .dims.assign(done->outputs[i]->shape.begin(), done->outputs[i]->shape.end());
  });
}

aclError aclopSetCompileFlag(aclOpCompileFlag flag) {
  return call("aclopSetCompileFlag", [&] {
    if (flag != ACL_OP_COMPILE_DEFAULT && flag != ACL_OP_COMPILE_FUZZ)
      fail(Code::kInvalidParam, "flag is {}; it is 0 (default) or 1 (fuzz)", static_cast<int>(flag));
  });
}
