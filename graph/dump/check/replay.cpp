// SPDX-License-Identifier: Apache-2.0
// Saved tasks: written, read, and run once more.
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>

#include "base/error.h"
#include "base/json.h"
#include "graph/dump/check/strided.h"
#include "graph/dump/check/task.h"
#include "graph/dump/record/data_type.h"
#include "graph/dump/record/dump_file.h"
#include "graph/dump/record/format.h"
#include "graph/dump/tensor/task_content.h"
#include "ops/runner/runner.h"

namespace npu::graph {
namespace {

namespace fs = std::filesystem;

constexpr const char* kText = "task.json";
constexpr const char* kTensors = "tensors";

DType dtype_of(const Json& name) {
  for (const record::DataType& type : record::data_types())
    if (type.dtype != DType::kUndefined && name_of(type.dtype) == name.get<std::string>()) return type.dtype;
  if (name == "unknown") return DType::kUndefined;
  fail(Code::kParseFile, "the task has a tensor of type {}, which is not known", name.dump());
}

Dims dims_of(const Json& sizes) {
  const auto all = sizes.get<std::vector<int64_t>>();
  return Dims(std::span<const int64_t>(all));
}

Tensor form_of(const Json& text) {
  Tensor tensor = make_tensor(nullptr, dtype_of(text.at("dtype")), dims_of(text.at("shape")));
  tensor.strides = dims_of(text.at("strides"));
  tensor.offset = text.value("offset", int64_t{0});
  return tensor;
}

/// What an operator does not write stays visible: no number.
constexpr int kUntouched = 0xFF;

/// Memory by number: that of a tensor, or of a place that several tensors see.
class Memory {
 public:
  std::byte* room(uint64_t number, const Tensor& view) {
    std::vector<std::byte>& bytes = all_[number];
    const auto need = static_cast<size_t>((view.offset + view.span()) * static_cast<int64_t>(size_of(view.dtype)));
    if (bytes.size() < need) bytes.resize(need, static_cast<std::byte>(kUntouched));
    return bytes.data();
  }

 private:
  std::map<uint64_t, std::vector<std::byte>> all_;
};

double number_of(const Json& value) {
  if (!value.is_string()) return value.get<double>();
  return value == "nan" ? std::nan("") : value == "inf" ? HUGE_VAL : -HUGE_VAL;
}

Scalar scalar_of(const Json& value) {
  if (value.is_null()) return {};
  const DType dtype = dtype_of(value.at("dtype"));
  if (is_complex(dtype)) return Complex128(number_of(value.at("number")), number_of(value.at("imaginary")));
  if (dtype == DType::kBool) return value.at("number").get<bool>();
  if (is_integer(dtype)) return value.at("number").get<int64_t>();
  return number_of(value.at("number"));
}

/// Fills a field from its text; `tensor` finds what the text of a tensor stands for.
class FieldFill {
 public:
  FieldFill(const Json& value, const std::function<Tensor(const Json&)>& tensor) : value_(value), tensor_(tensor) {}

  void operator()(Tensor* to) const {
    if (!value_.is_null()) *to = tensor_(value_);
  }
  void operator()(ops::Operand* to) const {
    if (value_.contains("number"))
      to->scalar = scalar_of(value_);
    else if (!value_.is_null())
      to->tensor = tensor_(value_);
  }
  void operator()(Scalar* to) const { *to = scalar_of(value_); }
  void operator()(double* to) const { *to = number_of(value_); }
  void operator()(float* to) const { *to = static_cast<float>(number_of(value_)); }
  void operator()(DType* to) const { *to = dtype_of(value_); }
  void operator()(std::shared_ptr<const ops::ChainProgram>* /*to*/) const {
    if (!value_.is_null())
      fail(Code::kFeatureUnsupported, "a chain of operators is not run again; its node's parts are");
  }
  template <class T>
  void operator()(T* to) const {
    *to = value_.get<T>();
  }
  template <class T>
  void operator()(std::vector<T>* to) const {
    for (const Json& one : value_) {
      T element{};
      FieldFill(one, tensor_)(&element);
      to->push_back(std::move(element));
    }
  }

 private:
  const Json& value_;
  const std::function<Tensor(const Json&)>& tensor_;
};

void run_call(const Json& call, const std::function<Tensor(const Json&)>& tensor, int device) {
  const auto name = call.at("op").get<std::string>();
  const ops::OperatorDef* def = ops::find_operator(name);
  if (def == nullptr) fail(Code::kParseFile, "there is no operator {}; the task was saved by another version", name);
  const auto op = ops::create(*def);
  for (const ops::Field& field : def->fields) {
    const auto at = call.at("fields").find(std::string(field.name));
    if (at == call.at("fields").end()) continue;
    std::visit([&](auto* member) { FieldFill(*at, tensor)(member); }, field.locate(*op));
  }
  op->prepare();
  ops::run_on(device, op.get(), {[](const void*, device::TaskName&) {}, nullptr}, [&] { op->run(); });
}

void run_calls(const Json& text, Memory& memory, const Task& task, int device) {
  const auto tensor = [&](const Json& value) {
    const auto number = value.at("tensor").get<size_t>();
    const Json& from = text.at("tensors").at(number);
    Tensor out = form_of(from);
    out.data = memory.room(number, out);
    if (!from.at("before").is_null()) scatter(task.blobs.at(from.at("before").get<size_t>()).bytes.get(), out);
    return out;
  };
  for (const Json& call : text.at("calls")) run_call(call, tensor, device);
}

Tensor placed(const Json& value, Memory& memory) {
  Tensor out = form_of(value);
  out.data = memory.room(value.at("place").get<uint64_t>(), out);
  return out;
}

/// Rooms grow to their widest view before anybody holds an address.
void reserve(const Json& value, Memory& memory) {
  if (value.is_object() && value.contains("place") && value.at("place").is_number()) placed(value, memory);
  if (value.is_structured())
    for (const Json& one : value) reserve(one, memory);
}

void run_parts(const Json& text, Memory& memory, const Task& task, int device) {
  const Json& parts = text.at("parts");
  reserve(parts, memory);
  for (const Json& one : parts.at("given")) {
    const Json& from = text.at("tensors").at(one.at("tensor").get<size_t>());
    scatter(task.blobs.at(from.at("before").get<size_t>()).bytes.get(), placed(one.at("place"), memory));
  }
  for (const Json& call : parts.at("calls"))
    run_call(call, [&](const Json& value) { return placed(value, memory); }, device);
}

std::vector<std::pair<size_t, Tensor>> results_of(const Json& text, Memory& memory) {
  std::vector<std::pair<size_t, Tensor>> out;
  if (text.contains("parts")) {
    for (const Json& one : text.at("parts").at("results"))
      out.emplace_back(one.at("tensor").get<size_t>(), placed(one.at("place"), memory));
    return out;
  }
  for (size_t i = 0; i < text.at("tensors").size(); ++i) {
    if (text.at("tensors")[i].at("after").is_null()) continue;
    Tensor tensor = form_of(text.at("tensors")[i]);
    tensor.data = memory.room(i, tensor);
    out.emplace_back(i, tensor);
  }
  return out;
}

void write(const fs::path& path, const std::string& head, const std::vector<Blob>& blobs) {
  std::ofstream to(path, std::ios::binary);
  to.write(head.data(), static_cast<std::streamsize>(head.size()));
  for (const Blob& blob : blobs)
    to.write(reinterpret_cast<const char*>(blob.bytes.get()), static_cast<std::streamsize>(blob.size));
  if (!to.flush()) fail(Code::kInvalidFile, "{} cannot be written; choose a folder that can", path.string());
}

record::DumpTensor described(const Json& tensor, size_t bytes) {
  record::DumpTensor out;
  out.data_type = record::data_type_of(dtype_of(tensor.at("dtype")));
  out.format = record::kNd;
  for (const int64_t size : tensor.at("shape").get<std::vector<int64_t>>())
    out.shape.push_back(static_cast<uint64_t>(size));
  out.original_shape = out.shape;
  out.size = bytes;
  return out;
}

/// What a changed or cut case says wrongly is told by the name of the case.
template <class Read>
void as_saved(const std::string& folder, Read&& read) {
  const auto refuse = [&](const std::string& reason) {
    fail(Code::kParseFile, "{}/{}: {}: it was changed after it was saved; run the script with --self-check again",
         folder, kText, reason);
  };
  try {
    read();
  } catch (const JsonError& reason) {
    refuse(reason.what());
  } catch (const Error& reason) {
    refuse(reason.message());
  }
}

void check_blob(size_t tensor, const Json& number, const Tensor& form, const std::vector<Blob>& blobs) {
  if (number.is_null()) return;
  const auto at = number.get<size_t>();
  if (at >= blobs.size()) fail(Code::kParseFile, "tensor {} is blob {} of {}", tensor, at, blobs.size());
  if (const auto need = static_cast<size_t>(bytes_of(form)); blobs[at].size != need)
    fail(Code::kParseFile, "tensor {} has {} bytes in the file, by its shape {}", tensor, blobs[at].size, need);
}

void check_tensors(const Json& text, const std::vector<Blob>& blobs) {
  text.at("calls"), text.at("node");
  const Json& all = text.at("tensors");
  for (size_t i = 0; i < all.size(); ++i) {
    const Tensor form = form_of(all[i]);
    if (form.strides.size() != form.shape.size())
      fail(Code::kParseFile, "tensor {} has {} sizes and {} strides", i, form.shape.size(), form.strides.size());
    for (const char* side : {"before", "after"}) check_blob(i, all[i].at(side), form, blobs);
  }
}

}  // namespace

void save_task(const Task& task, const std::string& folder, const std::string& told) {
  Json text = Json::parse(task.text);
  text["told"] = Json::parse(told);
  std::error_code reason;
  fs::create_directories(folder, reason);
  if (reason)
    fail(Code::kInvalidFile, "folder {} cannot be made: {}; choose another for cases", folder, reason.message());
  // Blobs of what was read lie before those of what was written.
  record::DumpData data;
  data.dump_time = unique_now(), data.op_name = text.at("node").get<std::string>();
  for (const char* side : {"before", "after"})
    for (const Json& tensor : text.at("tensors"))
      if (!tensor.at(side).is_null())
        (side == std::string_view("before") ? data.inputs : data.outputs)
            .push_back(described(tensor, task.blobs.at(tensor.at(side).get<size_t>()).size));
  for (const Json& call : text.at("calls"))
    for (const auto& [name, value] : call.at("fields").items())
      if (!value.is_object() && !value.is_null()) data.attrs.push_back({name, value.dump()});
  write(fs::path(folder) / kTensors, record::encode_header(data), task.blobs);
  write(fs::path(folder) / kText, text.dump(1, InvalidUtf8::kReplace), {});
}

Task load_task(const std::string& folder) {
  const record::MappedFile text((fs::path(folder) / kText).string());
  const record::DumpFile file((fs::path(folder) / kTensors).string());
  Task task{std::string(text.text()), {}};
  for (const auto* side : {&file.blobs().inputs, &file.blobs().outputs})
    for (const auto& bytes : *side) {
      Blob& blob = task.blobs.emplace_back(bytes.size());
      std::memcpy(blob.bytes.get(), bytes.data(), bytes.size());
    }
  as_saved(folder, [&] { check_tensors(Json::parse(task.text), task.blobs); });
  return task;
}

Task run_again(const Task& task, int device) {
  const Json text = Json::parse(task.text);
  Memory memory;
  Task again{task.text, {}};
  for (const Blob& blob : task.blobs) {
    Blob& copy = again.blobs.emplace_back(blob.size);
    std::memcpy(copy.bytes.get(), blob.bytes.get(), blob.size);
  }
  if (text.contains("parts"))
    run_parts(text, memory, task, device);
  else
    run_calls(text, memory, task, device);
  for (const auto& [index, tensor] : results_of(text, memory))
    gather(tensor, again.blobs.at(text.at("tensors").at(index).at("after").get<size_t>()).bytes.get());
  return again;
}

}  // namespace npu::graph
