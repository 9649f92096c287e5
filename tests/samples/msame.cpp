// SPDX-License-Identifier: Apache-2.0
// A model on files, with the command line of msame: --model FILE.om [--input FILE,FILE…] [--output FOLDER]
// [--outfmt TXT|BIN] [--loop N] [--debug true] [--dump true] [--profiler true] [--device N] and one of
// [--dymBatch N] [--dymHW H,W] [--dymDims NAME:N,N;…] [--dymShape NAME:N,N;… --outputSize BYTES,BYTES].
// Inputs are .bin or .npy; without --input they are zeros. Results are FOLDER/output_I.txt or .bin.
#include <getopt.h>
#include <sys/stat.h>

#include <chrono>
#include <map>
#include <sstream>

#include "model.h"

namespace {

typedef std::map<std::string, std::string> Flags;

const char* const kFlags[] = {"model",    "input",  "output",   "outfmt", "loop",    "debug",    "dump",
                              "profiler", "device", "dymBatch", "dymHW",  "dymDims", "dymShape", "outputSize"};

Flags read_flags(int argc, char** argv) {
  std::vector<option> options;
  for (const char* name : kFlags) options.push_back(option{name, required_argument, nullptr, 1});
  options.push_back(option{nullptr, 0, nullptr, 0});
  Flags flags;
  int index = 0;
  for (int got = 0; (got = getopt_long_only(argc, argv, "", options.data(), &index)) != -1;) {
    demand(got == 1,
           "flags are --model --input --output --outfmt --loop --debug --dump --profiler --device "
           "--dymBatch --dymHW --dymDims --dymShape --outputSize");
    flags[kFlags[index]] = optarg;
  }
  return flags;
}

void check(Flags& flags) {
  demand(flags["model"].find(".om") != std::string::npos, "--model must name an .om file");
  demand(flags["outfmt"].empty() || flags["outfmt"] == "TXT" || flags["outfmt"] == "BIN", "--outfmt is TXT or BIN");
  const int loop = flags.count("loop") != 0 ? std::atoi(flags["loop"].c_str()) : 1;
  demand(loop >= 1 && loop <= 100, "--loop must lie in 1 to 100");
  demand(flags["dump"] != "true" || flags["profiler"] != "true", "--dump and --profiler exclude each other");
  const size_t kinds =
      flags.count("dymBatch") + flags.count("dymHW") + flags.count("dymDims") + flags.count("dymShape");
  demand(kinds <= 1, "--dymBatch, --dymHW, --dymDims and --dymShape exclude each other");
}

/// "a" of "folder/a.om".
std::string name_of(const std::string& path) {
  const size_t from = path.rfind('/') + 1;  // 0 where there is none
  return path.substr(from, path.rfind('.') - from);
}

/// The file for aclInit that asks for dumps or profiles; none where nothing is asked for.
std::string config_of(Flags& flags) {
  const std::string folder = flags["output"];
  std::ostringstream text;
  if (flags["profiler"] == "true")
    text << R"({"profiler": {"switch": "on", "output": ")" << folder << R"(/profiler", "aic_metrics": ""}})";
  else if (flags["dump"] == "true")
    text << R"({"dump": {"dump_path": ")" << folder
         << R"(/dump", "dump_mode": "output", "dump_list": [{"model_name": ")" << name_of(flags["model"]) << R"("}]}})";
  if (text.str().empty()) return "";
  mkdir((folder + (flags["dump"] == "true" ? "/dump" : "/profiler")).c_str(), 0755);
  const std::string path = folder + "/acl.json";
  write_file(path, text.str().data(), text.str().size());
  return path;
}

/// The numbers of a file; what stands before them in a .npy file is left out.
std::vector<char> values_of(const std::string& path) {
  std::vector<char> bytes = read_file(path);
  if (path.size() < 4 || path.substr(path.size() - 4) != ".npy") return bytes;
  demand(bytes.size() > 10 && std::string(&bytes[1], 5) == "NUMPY", path + " is no .npy file");
  const size_t header = 10 + static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]);
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header));
  return bytes;
}

/// "a:1,2;b:3" as name and numbers, in this order.
std::vector<std::pair<std::string, std::vector<int64_t>>> named_sizes(const std::string& text) {
  std::vector<std::pair<std::string, std::vector<int64_t>>> out;
  for (const std::string& one : split(text, ';')) {
    const std::vector<std::string> parts = split(one, ':');
    demand(parts.size() == 2, one + " is not NAME:N,N");
    out.emplace_back(parts[0], numbers(parts[1]));
  }
  return out;
}

size_t gear_input(const Model& model) {
  size_t index = 0;
  MUST(aclmdlGetInputIndexByName(model.desc(), ACL_DYNAMIC_TENSOR_NAME, &index));
  return index;
}

void choose_sizes(Flags& flags, const Model& model, aclmdlDataset* inputs) {
  if (flags.count("dymBatch") != 0)
    MUST(aclmdlSetDynamicBatchSize(model.id(), inputs, gear_input(model),
                                   std::strtoull(flags["dymBatch"].c_str(), nullptr, 10)));
  if (flags.count("dymHW") != 0) {
    const std::vector<int64_t> size = numbers(flags["dymHW"]);
    demand(size.size() == 2, "--dymHW is HEIGHT,WIDTH");
    MUST(aclmdlSetDynamicHWSize(model.id(), inputs, gear_input(model), static_cast<uint64_t>(size[0]),
                                static_cast<uint64_t>(size[1])));
  }
  if (flags.count("dymDims") != 0) {
    aclmdlIODims gear = {};
    for (const auto& one : named_sizes(flags["dymDims"]))
      for (const int64_t size : one.second) gear.dims[gear.dimCount++] = size;
    MUST(aclmdlSetInputDynamicDims(model.id(), inputs, gear_input(model), &gear));
  }
  for (const auto& one : named_sizes(flags["dymShape"])) {
    size_t index = 0;
    MUST(aclmdlGetInputIndexByName(model.desc(), one.first.c_str(), &index));
    aclTensorDesc* desc = aclCreateTensorDesc(aclmdlGetInputDataType(model.desc(), index),
                                              static_cast<int>(one.second.size()), one.second.data(), ACL_FORMAT_ND);
    MUST(aclmdlSetDatasetTensorDesc(inputs, desc, index));
    aclDestroyTensorDesc(desc);
  }
}

void make_inputs(Flags& flags, const Model& model, Buffers* inputs) {
  const std::vector<std::string> files = split(flags["input"], ',');
  for (size_t i = 0; i < aclmdlGetNumInputs(model.desc()); ++i) {
    const bool given = i < files.size();
    const std::vector<char> bytes = given ? values_of(files[i]) : std::vector<char>();
    const size_t size = aclmdlGetInputSizeByIndex(model.desc(), i);
    inputs->add(std::max(size, bytes.size()));
    const DeviceMemory& memory = inputs->memory(i);
    MUST(aclrtMemset(memory.data(), memory.size(), 0, memory.size()));
    if (given) memory.put(bytes.data(), bytes.size());
  }
}

void make_outputs(Flags& flags, const Model& model, Buffers* outputs) {
  const std::vector<int64_t> sizes = numbers(flags["outputSize"]);
  for (size_t i = 0; i < aclmdlGetNumOutputs(model.desc()); ++i)
    outputs->add(i < sizes.size() ? static_cast<size_t>(sizes[i]) : aclmdlGetOutputSizeByIndex(model.desc(), i));
}

void describe(const Model& model) {
  aclmdlDesc* desc = model.desc();
  std::printf("%zu inputs, %zu outputs\n", aclmdlGetNumInputs(desc), aclmdlGetNumOutputs(desc));
  for (size_t i = 0; i < aclmdlGetNumInputs(desc); ++i)
    std::printf("input %zu: %s, %zu bytes, data type %d, format %d\n", i, aclmdlGetInputNameByIndex(desc, i),
                aclmdlGetInputSizeByIndex(desc, i), aclmdlGetInputDataType(desc, i), aclmdlGetInputFormat(desc, i));
  for (size_t i = 0; i < aclmdlGetNumOutputs(desc); ++i)
    std::printf("output %zu: %s, %zu bytes, data type %d\n", i, aclmdlGetOutputNameByIndex(desc, i),
                aclmdlGetOutputSizeByIndex(desc, i), aclmdlGetOutputDataType(desc, i));
}

std::vector<int64_t> shape_of(aclmdlDataset* outputs, size_t i) {
  const aclTensorDesc* desc = aclmdlGetDatasetTensorDesc(outputs, i);
  demand(desc != nullptr, aclGetRecentErrMsg());
  std::vector<int64_t> out;
  for (size_t k = 0; k < aclGetTensorDescNumDims(desc); ++k) out.push_back(aclGetTensorDescDim(desc, k));
  return out;
}

template <class T, class Number>
void print(std::ostream& out, const std::vector<char>& bytes, size_t row, Number number) {
  const T* values = reinterpret_cast<const T*>(bytes.data());
  for (size_t i = 0; i < bytes.size() / sizeof(T); ++i)
    out << number(values[i]) << (row != 0 && (i + 1) % row == 0 ? "\n" : " ");
}

std::string text_of(const std::vector<char>& bytes, aclDataType type, size_t row) {
  std::ostringstream out;
  out.precision(9);
  if (type == ACL_FLOAT)
    print<float>(out, bytes, row, [](float v) { return v; });
  else if (type == ACL_FLOAT16)
    print<aclFloat16>(out, bytes, row, [](aclFloat16 v) { return aclFloat16ToFloat(v); });
  else if (type == ACL_INT32)
    print<int32_t>(out, bytes, row, [](int32_t v) { return v; });
  else if (type == ACL_INT64)
    print<int64_t>(out, bytes, row, [](int64_t v) { return v; });
  else if (type == ACL_UINT8 || type == ACL_INT8 || type == ACL_BOOL)
    print<signed char>(out, bytes, row, [](signed char v) { return static_cast<int>(v); });
  else
    demand(false, "--outfmt TXT does not write data type " + std::to_string(type) + "; use BIN");
  return out.str();
}

void write_outputs(Flags& flags, const Model& model, const Buffers& outputs) {
  for (size_t i = 0; i < aclmdlGetNumOutputs(model.desc()); ++i) {
    const std::vector<int64_t> shape = shape_of(outputs.set(), i);
    const aclDataType type = aclmdlGetOutputDataType(model.desc(), i);
    size_t size = aclDataTypeSize(type);
    for (const int64_t d : shape) size *= static_cast<size_t>(d);
    const std::vector<char> bytes = outputs.memory(i).get(size);
    const std::string path = flags["output"] + "/output_" + std::to_string(i);
    const std::string text =
        flags["outfmt"] == "TXT" ? text_of(bytes, type, shape.empty() ? 1 : static_cast<size_t>(shape.back())) : "";
    if (flags["outfmt"] == "TXT")
      write_file(path + ".txt", text.data(), text.size());
    else
      write_file(path + ".bin", bytes.data(), bytes.size());
  }
}

double run_once(const Model& model, const Buffers& inputs, const Buffers& outputs) {
  const auto start = std::chrono::steady_clock::now();
  MUST(aclmdlExecute(model.id(), inputs.set(), outputs.set()));
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags = read_flags(argc, argv);
  check(flags);
  const std::string config = config_of(flags);
  const Session session(config.empty() ? nullptr : config.c_str(), std::atoi(flags["device"].c_str()));
  const Model model(flags["model"], "own");
  if (flags["debug"] == "true") describe(model);
  Buffers inputs, outputs;
  make_inputs(flags, model, &inputs), make_outputs(flags, model, &outputs);
  choose_sizes(flags, model, inputs.set());
  const int loop = flags.count("loop") != 0 ? std::atoi(flags["loop"].c_str()) : 1;
  double total = 0;
  for (int i = 0; i < loop; ++i) total += run_once(model, inputs, outputs);
  std::printf("%d runs, %.3f ms each\n", loop, total / loop);
  if (!flags["output"].empty()) write_outputs(flags, model, outputs);
  return 0;
}
