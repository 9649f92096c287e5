// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/folder/dump_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "base/error.h"
#include "graph/dump/record/dump_name.h"
#include "graph/dump/record/mapping.h"
#include "tools/compare/exit/refusal.h"
#include "tools/compare/tensor/npy.h"

namespace npu::compare {
namespace {

namespace fs = std::filesystem;
namespace record = graph::record;

constexpr std::string_view kFailures = "convert_failed_file_list.txt";

/// How operators stand in names of files.
std::string key_of(std::string_view op_name) {
  std::string key(op_name);
  std::ranges::replace_if(key, [](char c) { return c == '/' || c == '.'; }, '_');
  return key;
}

bool all_digits(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == text.npos; }

/// The last field of a name, which is taken off it; nothing where there is no number.
std::optional<uint64_t> take_number(std::string_view& name) {
  const size_t dot = name.rfind('.');
  uint64_t value = 0;
  if (dot == name.npos || dot == 0 || !all_digits(name.substr(dot + 1))) return std::nullopt;
  std::from_chars(name.data() + dot + 1, name.data() + name.size(), value);
  name = name.substr(0, dot);
  return value;
}

bool names_quantisation(std::string_view op_name) {
  constexpr std::array<std::string_view, 6> kWords = {"_quant",    "AscendQuant", "AscendWeightQuant",
                                                      "AntiQuant", "_dequant",    "AscendDequant"};
  return std::ranges::any_of(kWords, [&](auto word) { return op_name.find(word) != op_name.npos; }) ||
         op_name.find("_anti_quant") != op_name.npos || op_name.find("_weight_quant") != op_name.npos;
}

}  // namespace

DumpFolder::DumpFolder(std::string path) : path_(std::move(path)) {
  if (!fs::is_directory(path_)) throw Refusal(Exit::kPath, fmt::format("{} is no folder.", path_));
  const record::Mapping mapping = record::read_mapping(path_);
  std::string foreign;
  for (const auto& entry : fs::directory_iterator(path_)) {
    const std::string file = entry.path().filename();
    if (file == record::kMappingFile || file == kFailures || !entry.is_regular_file()) continue;
    has_npy_ |= file.ends_with(".npy");
    for (const char* ending : {".pt", ".pth", ".h5", ".hdf5"})
      if (file.ends_with(ending)) foreign = entry.path();
    const auto at = mapping.find(file);
    if (at != mapping.end() || !all_digits(entry.path().stem().native()))
      add(entry.path(), at == mapping.end() ? file : at->second);
  }
  if (!kind_ && !foreign.empty())
    throw Refusal(Exit::kDumpFile,
                  fmt::format("{}: files of PyTorch and HDF5 are not read; write each tensor as a file of NumPy, "
                              "numpy.save(\"{{operator}}.{{output}}.{{microseconds}}.npy\", tensor.numpy()).",
                              foreign));
  if (!kind_) throw Refusal(Exit::kDumpFile, fmt::format("There is no dump file in {}.", path_));
  if (kind_ == Kind::kNpy) origin_ = quantized_ ? Origin::kQuantized : Origin::kStandard;
  if (kind_ == Kind::kPb) origin_ = Origin::kStandard;
  if (kind_ == Kind::kQuant) origin_ = Origin::kQuantized;
}

void DumpFolder::add(const std::string& path, const std::string& name) {
  for (const auto& [ending, kind] :
       {std::pair{".npy", Kind::kNpy}, std::pair{".pb", Kind::kPb}, std::pair{".quant", Kind::kQuant}}) {
    if (!name.ends_with(ending)) continue;
    std::string_view rest = std::string_view(name).substr(0, name.rfind('.'));
    const auto timestamp = take_number(rest);
    const auto output = timestamp ? take_number(rest) : std::nullopt;
    if (!output) return;
    return keep(fmt::format("{}.{}", key_of(rest), *output), kind, {path, name, *timestamp});
  }
  const auto parsed = record::parse_name(name);
  if (!parsed) return;
  const std::string op = record::without_slice(parsed->op_name);
  slices_[op].insert(fmt::format("{}.{}", parsed->op_name, parsed->slice ? parsed->slice->thread : 0));
  keep(op, Kind::kDump, {path, name, parsed->timestamp});
}

void DumpFolder::keep(const std::string& key, Kind kind, FoundFile file) {
  settle(kind, file.path);
  quantized_ |= names_quantisation(key);
  const auto [at, added] = newest_.try_emplace(key, file);
  const auto age = [](const FoundFile& f) { return std::tie(f.timestamp, f.path); };
  if (!added && age(at->second) < age(file)) at->second = std::move(file);
}

void DumpFolder::settle(Kind kind, const std::string& file) {
  if (kind_ && *kind_ != kind)
    throw Refusal(Exit::kDumpFile, fmt::format("Not all files in {} are of one kind, as {}.", path_, file));
  kind_ = kind;
}

const FoundFile* DumpFolder::find(std::string_view op_name, size_t output) const {
  std::string key = key_of(op_name);
  if (origin_ != Origin::kDevice) key += fmt::format(".{}", output);
  const auto at = newest_.find(key);
  return at == newest_.end() ? nullptr : &at->second;
}

std::vector<std::string> DumpFolder::operators() const {
  std::vector<std::string> names;
  for (const auto& [name, file] : newest_) names.push_back(name);
  std::ranges::stable_sort(names, {}, [&](const std::string& name) { return newest_.at(name).timestamp; });
  return names;
}

std::vector<std::string> DumpFolder::sliced() const {
  std::vector<std::string> names;
  for (const auto& [name, slices] : slices_)
    if (slices.size() > 1) names.push_back(name);
  return names;
}

Opened::Opened(const FoundFile& file) : path_(file.path) {
  try {
    if (path_.ends_with(".npy")) {
      array_.emplace(path_);
      outputs_.push_back(parse_npy(array_->bytes(), path_));
      outputs_[0].mapped = true;
      return;
    }
    dump_.emplace(path_);
    const auto tensors = [](const auto& facts, const auto& blobs, std::vector<Tensor>& into) {
      for (size_t i = 0; i < facts.size(); ++i) into.push_back({facts[i], blobs[i], true});
    };
    tensors(dump_->data().inputs, dump_->blobs().inputs, inputs_);
    tensors(dump_->data().outputs, dump_->blobs().outputs, outputs_);
  } catch (const Error& reason) {
    throw Refusal(reason.code() == Code::kParseFile ? Exit::kDamaged : Exit::kOpen, reason.message());
  }
}

std::string op_type_of(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return std::string(name.substr(0, name.find('.')));
}

}  // namespace npu::compare
