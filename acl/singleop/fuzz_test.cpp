// SPDX-License-Identifier: Apache-2.0
// Damaged lists of atc --singleop: each is refused with a text, or made into files that load. Rounds as
// base/damage_fixture.h says.
#include <gtest/gtest.h>

#include <map>

#include "acl/include/acl/acl_op.h"
#include "acl/include/anynpu/model.h"
#include "acl/model/model_fixture.h"
#include "base/damage_fixture.h"

namespace npu::acl {
namespace {

constexpr std::string_view kList = R"([
  {"op": "Add", "input_desc": [{"format": "ND", "shape": [2, 3], "type": "float"},
                               {"format": "NCHW", "shape": [-1, 3], "type": "float16"}],
   "output_desc": [{"format": "ND", "shape": [-2], "type": "UNDEFINED"}]},
  {"op": "Softmax", "input_desc": [{"format": "ND", "shape": [-1, 7], "type": "bf16"}],
   "output_desc": [{"shape": [], "type": "int32"}],
   "attr": [{"name": "axes", "type": "list_int", "value": [-1]}, {"name": "a", "type": "bool", "value": true},
            {"name": "b", "type": "float", "value": 0.5}, {"name": "c", "type": "data_type", "value": "float"},
            {"name": "d", "type": "list_list_int", "value": [[1], [2, 3]]}, {"name": "e", "type": "int", "value": 7},
            {"name": "f", "type": "list_float", "value": [1.5]}, {"name": "g", "type": "string", "value": "x"},
            {"name": "h", "type": "list_bool", "value": [false]}]}])";

using Files = std::map<std::string, std::string>;

/// Raises what the door says.
void check(aclError code) {
  if (code != 0) fail(static_cast<Code>(code), "{}", aclGetRecentErrMsg());
}

void convert_and_load(const std::string& json) {
  const auto take = [](const char* name, const void* bytes, size_t size, void* context) {
    (*static_cast<Files*>(context))[name].assign(static_cast<const char*>(bytes), size);
  };
  Files files;
  check(anynpu_singleop_convert(json.data(), json.size(), take, &files));
  for (const auto& [name, bytes] : files) EXPECT_OK(aclopLoad(bytes.data(), bytes.size())) << json;
}

TEST(FuzzSingleOperators, DamagedListsAreRefusedOrMadeIntoFiles) {
  const Rounds rounds = fuzz(
      3000,
      [&](size_t, Random& random) {
        try {
          convert_and_load(damaged_text_often(random, std::string(kList), kList));
        } catch (const Error& e) {
          EXPECT_EQ(e.code(), Code::kInvalidParam) << e.message();
          EXPECT_NE(e.message().find("--singleop"), std::string::npos) << e.message();
          throw;
        }
      },
      100000);
  EXPECT_GT(rounds.refused, 1000u);
  EXPECT_GT(rounds.accepted, 100u);
}

}  // namespace
}  // namespace npu::acl
