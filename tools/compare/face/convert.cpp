// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/face/convert.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "base/json.h"
#include "base/thread_pool.h"
#include "graph/dump/record/format.h"
#include "graph/dump/record/mapping.h"
#include "tools/compare/exit/refusal.h"
#include "tools/compare/face/arguments.h"
#include "tools/compare/face/face.h"
#include "tools/compare/folder/dump_folder.h"
#include "tools/compare/overflow/record.h"
#include "tools/compare/report/csv.h"
#include "tools/compare/tensor/array_file.h"

namespace npu::compare {
namespace {

namespace fs = std::filesystem;
namespace record = graph::record;

std::mutex mapping_file;  // files are converted on all threads

/// A name that is too long becomes a number, which mapping.csv explains.
std::string path_for(const std::string& folder, const std::string& name) {
  const record::StoredName stored = record::stored_name(name);
  if (stored.line.empty()) return fs::path(folder) / name;
  const std::string ending = name.substr(name.rfind('.'));
  const std::lock_guard lock(mapping_file);
  std::ofstream(fs::path(folder) / record::kMappingFile, std::ios::app) << stored.file << ending << ',' << name << '\n';
  return fs::path(folder) / (stored.file + ending);
}

/// A tensor of a file that is being converted.
struct Item {
  const std::string& file;
  const record::DumpData& data;
  const char* kind;
  size_t index;
  const Tensor& tensor;
};

View view_in(const Tensor& tensor, const Conversion& c, int32_t& format) {
  const record::DumpTensor& facts = tensor.facts;
  const bool four = facts.format == record::kNchw || facts.format == record::kNhwc || facts.format == record::kHwcn;
  const int32_t source = four && facts.shape.size() != 4 ? static_cast<int32_t>(record::kNd) : facts.format;
  format = facts.format;
  if (!c.format || source == *c.format) return plain_view(tensor);
  const Shape& shape = c.shape.empty() ? facts.original_shape : c.shape;
  View view = converted_view(tensor, source, *c.format, shape);
  format = *c.format;
  if (!shape.empty() && !crop(view, shape))
    warn(fmt::format("What has the shape {} cannot be cut to {}.", shape_text(view.shape), shape_text(shape)));
  return view;
}

std::string msnpy_name(const Item& item, int32_t format) {
  std::string name = fs::path(item.file).filename();
  const auto first = name.find('.'), second = name.find('.', first + 1);
  if (std::ranges::count(name, '.') == 4 && !item.data.op_name.empty())
    name = name.substr(0, first + 1) + item.data.op_name.substr(item.data.op_name.rfind('/') + 1) + name.substr(second);
  return fmt::format("{}.{}.{}.{}.npy", name, item.kind, item.index, record::format_name(format));
}

std::string name_for(const Item& item, const Conversion& c, const View& view, int32_t format) {
  const std::string base = fmt::format("{}.{}.{}", fs::path(item.file).filename().string(), item.kind, item.index);
  if (c.type == "msnpy") return msnpy_name(item, format);
  if (c.type == "bin") {
    const Shape shape = c.format ? view.shape : Shape{view.count};
    return fmt::format("{}.{}.{}.{}.bin", base, fmt::join(shape, "_"), view.type->word, record::format_name(format));
  }
  const std::string ending = c.type == "pt" ? ".pt" : ".npy";
  return c.format ? fmt::format("{}.{}{}", base, fmt::join(view.shape, "x"), ending) : base + ending;
}

void convert_tensor(const Item& item, const Conversion& c) {
  int32_t format = 0;
  const View view = view_in(item.tensor, c, format);
  const std::string path = path_for(c.output, name_for(item, c, view, format));
  const auto write = c.type == "bin" ? write_bin : c.type == "pt" ? write_pt : write_npy;
  write(path, view);
}

int convert_kind(const std::string& file, const record::DumpData& data, const char* kind,
                 const std::vector<Tensor>& tensors, const std::optional<size_t>& only, const Conversion& c) {
  int code = 0;
  if (only && *only >= tensors.size())
    throw Refusal(Exit::kIndex, fmt::format("The {} index ({}) is out of range [0, {}). Please check the index.", kind,
                                            *only, tensors.size()));
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (only && i != *only) continue;
    try {
      convert_tensor({file, data, kind, i, tensors[i]}, c);
    } catch (const Refusal& reason) {
      say("ERROR", fmt::format("{}:{} of {}: {}", kind, i, file, reason.what()));
      code = static_cast<int>(reason.code());
    }
  }
  return code;
}

void write_bytes(const std::string& file, std::string_view kind, const std::vector<Bytes>& blobs, const Conversion& c) {
  for (size_t i = 0; i < blobs.size(); ++i)
    write_file(path_for(c.output, fmt::format("{}.{}.{}.bin", fs::path(file).filename().string(), kind, i)),
               {reinterpret_cast<const char*>(blobs[i].data()), blobs[i].size()});
}

int convert_overflow(const Opened& opened, const Conversion& c) {
  for (size_t i = 0; i < opened.outputs().size(); ++i)
    write_file(path_for(c.output, fmt::format("{}.output.{}.json", fs::path(opened.path()).filename().string(), i)),
               decode_overflow(opened.outputs()[i].bytes).dump(4));
  return 0;
}

Shape shape_of(const std::string& text) {
  Shape shape;
  for (size_t at = 0; !text.empty() && at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    uint64_t size = 0;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, size);
    if (error != std::errc{} || stop != text.data() + end || size == 0)
      throw Refusal(Exit::kShape,
                    fmt::format("The shape('{}') is invalid. The supported formats are \"1,3,224,224\".", text));
    shape.push_back(size);
    at = end + 1;
  }
  return shape;
}

std::vector<std::string> files_of(const std::string& given) {
  std::vector<std::string> found;
  for (size_t at = 0; at <= given.size();) {
    const size_t end = std::min(given.find(',', at), given.size());
    const std::string path = given.substr(at, end - at);
    at = end + 1;
    if (fs::is_regular_file(path)) {
      found.push_back(path);
      continue;
    }
    if (!fs::is_directory(path)) throw Refusal(Exit::kPath, fmt::format("{} does not exist.", path));
    for (const auto& entry : fs::directory_iterator(path))
      if (entry.is_regular_file() && entry.path().filename() != record::kMappingFile) found.push_back(entry.path());
  }
  if (found.empty()) throw Refusal(Exit::kParameter, "The dump path is empty.");
  std::ranges::sort(found);
  return found;
}

int convert_or_tell(const std::string& file, const Conversion& c) {
  try {
    return convert_file(file, c);
  } catch (const Refusal& reason) {
    say("ERROR", reason.what());
    return static_cast<int>(reason.code());
  }
}

int convert_all(const std::vector<std::string>& files, const Conversion& c) {
  std::vector<int> codes(files.size());
  parallel_parts(static_cast<int64_t>(files.size()),
                 [&](int64_t i) { codes[static_cast<size_t>(i)] = convert_or_tell(files[static_cast<size_t>(i)], c); });
  std::string failed;
  for (size_t i = 0; i < files.size(); ++i)
    if (codes[i] != 0) failed += files[i] + "\n";
  if (failed.empty()) return 0;
  if (files.size() > 1) write_file(fs::path(c.output) / "convert_failed_file_list.txt", failed);
  return *std::ranges::find_if(codes, [](int code) { return code != 0; });
}

struct Given {
  std::string path, format, shape, output_index, input_index, custom;
  int64_t version = 2;
};

bool read(const Words& words, Given& out, Conversion& c) {
  Arguments a;
  a.value("-d --dump_file", out.path, "<Required> a dump file, several with commas between them, or a folder", true);
  a.value("-f --format", out.format, "<Optional> the format wanted, as NCHW");
  a.value("-s --shape", out.shape, "<Optional> with -f: the shape before it was a FRACTAL_NZ, as 1,3,224,224");
  a.value("-o --output_tensor", out.output_index, "<Optional> with -f: this output alone");
  a.value("-i --input_tensor", out.input_index, "<Optional> with -f: this input alone");
  a.value("-c --custom_script_path", out.custom, "<Optional> refused: formats are built in");
  a.value("-out --output", c.output, "<Optional> the folder of the results");
  a.number("-v --version", out.version, "<Optional> ignored");
  a.value("-t --type", c.type, "<Optional> npy, bin, msnpy or pt");
  return a.read(words, "msaccucmp convert");
}

}  // namespace

int convert_file(const std::string& path, const Conversion& c) {
  const Opened opened({path, path, 0});
  if (opened.dump() == nullptr) throw Refusal(Exit::kDamaged, fmt::format("{} is no dump file.", path));
  if (fs::path(path).filename().string().starts_with("Opdebug.Node_OpDebug.")) return convert_overflow(opened, c);
  const record::DumpData& data = opened.dump()->data();
  int code = 0;
  if (!c.only_output) code = convert_kind(path, data, "input", opened.inputs(), c.input, c);
  if (c.input) return code;
  const int outputs = convert_kind(path, data, "output", opened.outputs(), c.only_output, c);
  if (c.format) return outputs != 0 ? outputs : code;
  write_bytes(path, "l1buffer", opened.dump()->blobs().buffers, c);
  write_bytes(path, "space", opened.dump()->blobs().workspaces, c);
  return outputs != 0 ? outputs : code;
}

int convert_face(const Words& arguments) {
  Given given;
  Conversion c;
  if (!read(arguments, given, c)) return 0;
  if (c.type != "npy" && c.type != "bin" && c.type != "msnpy" && c.type != "pt")
    throw UsageError{fmt::format("argument -t/--type: invalid choice: '{}'", c.type)};
  if (!given.custom.empty()) throw Refusal(Exit::kUnsupported, kNoScripts);
  if (given.format.empty() && !(given.output_index + given.input_index + given.shape).empty())
    throw Refusal(Exit::kParameter, "-o, -i and -s take effect only when the \"-f\" exists.");
  if (!given.format.empty() && !(c.format = record::find_format(given.format)))
    throw Refusal(Exit::kParameter,
                  fmt::format("The format \"{}\" is not supported. Please check the format.", given.format));
  c.shape = shape_of(given.shape);
  if (!given.output_index.empty()) c.only_output = static_cast<size_t>(to_number(given.output_index, "-o"));
  if (!given.input_index.empty()) c.input = static_cast<size_t>(to_number(given.input_index, "-i"));
  const auto files = files_of(given.path);
  if (!c.output.empty()) fs::create_directories(c.output);
  return convert_all(files, c);
}

}  // namespace npu::compare
