// SPDX-License-Identifier: Apache-2.0
// Damaged files, as a crash or a bad disk leaves them: each is refused with a reason, or read to its end. Round n is
// the same every time; ANYNPU_FUZZ_SECONDS makes more of them than the few of a usual run, ANYNPU_FUZZ_FIRST starts
// later.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>

#include "base/error.h"
#include "base/json.h"
#include "graph/dump/record/digest_file.h"
#include "graph/dump/record/dump_file.h"
#include "graph/dump/record/dump_name.h"
#include "graph/dump/record/format.h"
#include "graph/dump/record/graph_text.h"
#include "graph/dump/record/mapping.h"
#include "tools/compare/digest/two_runs.h"
#include "tools/compare/exit/refusal.h"
#include "tools/compare/metric/measure.h"
#include "tools/compare/overflow/record.h"
#include "tools/compare/page/account.h"
#include "tools/compare/rule/fusion_rule.h"
#include "tools/compare/side/load.h"
#include "tools/compare/tensor/array_file.h"
#include "tools/compare/tensor/npy.h"

namespace npu::compare {
namespace {

namespace fs = std::filesystem;
namespace record = graph::record;
using Random = std::mt19937_64;

size_t below(Random& random, size_t n) { return n == 0 ? 0 : random() % n; }

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text.data(), text.size())); }

/// One change: bytes overwritten, put in, taken out, doubled, or the rest cut off.
std::string damaged(Random& random, std::string text) {
  static const std::string kSigns = "{}[]():,.'\"\\-0129 \n\t#e\x80\xff";
  const size_t at = below(random, text.size() + 1), length = below(random, std::min<size_t>(text.size() - at, 24) + 1);
  switch (below(random, 7)) {
    case 0: return text.insert(at, 1, kSigns[below(random, kSigns.size())]);
    case 1: return text.erase(at, length);
    case 2: return text.insert(at, text.substr(at, length));
    case 3: return text.substr(0, at);
    case 4: return text.insert(below(random, text.size() + 1), text.substr(at, 1 + below(random, 200)));
    default:
      if (at < text.size()) text[at] = static_cast<char>(random());
      return text;
  }
}

record::DumpTensor tensor(int32_t type, int32_t format, Shape shape, Shape original) {
  record::DumpTensor found;
  found.data_type = type, found.format = format, found.shape = std::move(shape);
  found.original_shape = std::move(original);
  found.size = record::bytes_of(record::data_type(type), elements(found.shape).value_or(0));
  return found;
}

std::string dump_file() {
  record::DumpData data;
  data.op_name = "layer/op";
  data.inputs = {tensor(1, record::kNc1hwc0, {2, 2, 3, 5, 16}, {2, 17, 3, 5}), tensor(28, record::kNd, {7}, {7})};
  data.outputs = {tensor(2, record::kFractalZ, {6, 1, 16, 16}, {3, 19, 1, 3}),
                  tensor(27, record::kFractalNz, {2, 1, 16, 16}, {15, 17}),
                  tensor(12, record::kNdc1hwc0, {1, 2, 1, 3, 2, 16}, {1, 5, 2, 3, 2}),
                  tensor(4, record::kNd, {2048}, {})};
  data.attrs = {{"attrs", R"({"threadMode": 0, "slice_instance_num": 1, "outputCutList": [[2, 1]]})"}};
  std::string file = record::encode_header(data);
  for (const auto* side : {&data.inputs, &data.outputs})
    for (const record::DumpTensor& one : *side) file.append(one.size, '\x5a');
  return file;
}

std::string graph_text() {
  return R"(graph { name: "model" op { name: "x" type: "Data" id: 0 }
  op { name: "f" type: "MatMul" id: 3 input: "x:0" input: "c:-1"
    attr { key: "_datadump_original_op_names" value { list { s: "net/a" s: "net/\"b\" \101" } } }
    attr { key: "_L1_fusion_sub_graph_no" value { s: "1" } } # a remark
    output_desc { dtype: DT_FLOAT16 shape { dim: 2 dim: -1 }
      attr { key: "_datadump_origin_name" value { s: "net/b" } }
      attr { key: "_datadump_origin_output_index" value { i: 1 } }
      attr { key: "origin_shape" value { list { i: 2 i: 3 } } } } } })";
}

void look_at(const View& view) {
  if (view.count <= 1 << 16) measure(view, view, view.count, true);
}

void look_at(const Tensor& tensor) {
  for (const int32_t target : {record::kNchw, record::kNhwc, record::kNd, record::kHwcn, record::kNcdhw}) try {
      View view = converted_view(tensor, tensor.facts.format, target, tensor.facts.original_shape);
      look_at(view);
      if (crop(view, tensor.facts.original_shape)) look_at(view);
    } catch (const Refusal&) {
    }
  look_at(restored_view(tensor));
}

void read_dump(const std::string& text) {
  const record::Parsed parsed = record::parse_dump(bytes_of(text), "a file");
  const auto all = [](const auto& facts, const auto& blobs) {
    for (size_t i = 0; i < facts.size(); ++i) look_at(Tensor{facts[i], blobs[i]});
  };
  all(parsed.data.inputs, parsed.blobs.inputs), all(parsed.data.outputs, parsed.blobs.outputs);
  for (const Bytes blob : parsed.blobs.outputs) overflow_task(decode_overflow(blob));
}

/// Where files are written that are read by their path.
class Folder {
 public:
  Folder() { fs::create_directories(path_); }
  Folder(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary | std::ios::trunc) << text;
    return path_ / name;
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_ = fs::temp_directory_path() / ("anynpu_fuzz_" + std::to_string(getpid()));
};

const Folder& folder() {
  static const Folder made;
  return made;
}

void read_rule(const std::string& text) {
  FusionRule rule(folder().write("rule", text));
  rule.rename_originals(rule);
}

const Shape kTorchShape = {3, 5};

std::string torch_file() {
  const std::string elements(60, '\x3f'), path = folder().path() / "whole.pt";
  record::DumpTensor facts = tensor(1, record::kNd, kTorchShape, kTorchShape);
  write_pt(path, plain_view({facts, bytes_of(elements)}));
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void read_torch(const std::string& text) {
  Port port;
  port.shape = kTorchShape, port.type = 1;
  port.source = Source{folder().write("a.pt", text), false, 0};
  const Elements elements(port);
  look_at(plain_view(elements.tensor()));
}

std::string msprobe_file() {
  std::string array = npy_header("<f4", {2, 3});
  array.append(24, '\x3f');
  fs::create_directories(folder().path() / "dump_tensor_data");
  folder().write("dump_tensor_data/x.npy", array);
  const std::string x = R"({"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2, 3], "Max": 1.5, "Min": -2,
    "Mean": 0.1, "Norm": 3e2, "data_name": "x.npy"})";
  return R"({"task": "tensor", "data": {"Module.a.Linear.forward.0": {"input_args": [)" + x +
         "], \"parameters\": {\"w\": " + x + R"(}, "output": [)" + x +
         R"(]}, "Module.a.Linear.backward.0": {"input": [null, )" + x + R"(], "output": [{"type": "slice"}, )" + x +
         "]}}}";
}

void read_msprobe(const std::string& text) {
  folder().write("dump.json", text);
  Place place;
  place.kind = Kind::kMsprobe, place.folder = folder().path();
  const Run run = load_msprobe(place);
  const Pairing pairing = pair_runs(run, run);
  const Verdict verdict = judge(run, run, pairing);
  const Account account{run, run, pairing, verdict, "run", "golden"};
  EXPECT_FALSE((text_of(account) + table_of(account) + page_of(account)).empty());
}

std::string digest_file() {
  graph::record::DigestEncoder encoder;
  encoder.add({"MatMul", "layer/MatMul", {0, 1, "step"}, 3, 0, {1, 2}, {3}});
  encoder.add({"Add", "Add", {0, 1, ""}, 0, 17, {3}, {4}});
  encoder.end();
  return encoder.take();
}

void read_digests(const std::string& text) {
  static const graph::record::DigestFile whole(folder().write("whole.digest", digest_file()));
  const graph::record::DigestFile file(folder().write("a.digest", text));
  EXPECT_FALSE((compared(whole, file).text() + compared(file, whole).text()).empty());
}

void read_array(const std::string& text) { look_at(plain_view(parse_npy(bytes_of(text), "a file"))); }

void read_names(const std::string& text) {
  for (const auto& [number, name] : record::parse_mapping(text))
    if (const auto parsed = record::parse_name(name)) {
      EXPECT_LE(record::without_slice(parsed->op_name).size(), parsed->op_name.size());
      EXPECT_TRUE(record::parse_name(record::make_name(*parsed)).has_value()) << name;
    }
}

struct Reader {
  const char* name;
  std::string file;
  void (*read)(const std::string&);
};

std::vector<Reader> readers() {
  std::string array = npy_header("<f4", {3, 5});
  array.append(60, '\x3f');
  return {{"a dump file", dump_file(), read_dump},
          {"a graph's text", graph_text(), read_rule},
          {"a fusion file", graph::record::parse_graph_text(graph_text()).dump(1), read_rule},
          {"an array", array, read_array},
          {"a tensor of torch", torch_file(), read_torch},
          {"a dump of msprobe", msprobe_file(), read_msprobe},
          {"digests", digest_file(), read_digests},
          {"mapping.csv", "12,Add.x_lxslice0.1.2.1600000000000000\n13,\"A.sgt_graph_3_y.1.1600000000000000\"\n",
           read_names}};
}

int number(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::atoi(text);
}

TEST(Fuzz, DamagedFilesAreRefusedOrRead) {
  const std::chrono::seconds limit(number("ANYNPU_FUZZ_SECONDS"));
  const auto end = std::chrono::steady_clock::now() + limit;
  const std::vector<Reader> all = readers();
  size_t refused = 0, read = 0;
  const auto first = static_cast<size_t>(number("ANYNPU_FUZZ_FIRST"));
  for (size_t round = first; round < first + 5000 || std::chrono::steady_clock::now() < end; ++round) {
    if (limit.count() > 0 && round % 100'000 == 0) std::cerr << "round " << round << std::endl;
    Random random(round);
    const Reader& reader = all[round % all.size()];
    std::string text = reader.file;
    for (size_t n = 1 + below(random, 4); n > 0; --n) text = damaged(random, std::move(text));
    try {
      reader.read(text);
      ++read;
    } catch (const Refusal& reason) {
      ++refused;
      EXPECT_STRNE(reason.what(), "");
    } catch (const Error& reason) {
      ++refused;
      EXPECT_FALSE(reason.message().empty());
    } catch (const std::exception& reason) {
      ADD_FAILURE() << reader.name << ", round " << round << ": " << reason.what();
    }
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(read, 100u);
}

TEST(Fuzz, WholeFilesAreRead) {
  for (const Reader& reader : readers()) {
    SCOPED_TRACE(reader.name);
    if (reader.read != read_dump) {
      EXPECT_NO_THROW(reader.read(reader.file));
    }
  }
  // Its last output is no overflow record of a known kind.
  EXPECT_THROW(read_dump(dump_file()), Refusal);
}

}  // namespace
}  // namespace npu::compare
