// SPDX-License-Identifier: Apache-2.0
#include "graph/convert/check.h"

#include "base/json.h"
#include "graph/convert/convert.h"
#include "graph/convert/importer.h"
#include "graph/ir/node_error.h"

namespace npu::graph::convert {
namespace {

std::string text_of(const Json& report) { return report.dump(1, InvalidUtf8::kReplace) + "\n"; }

Json failure(const std::string& reason) { return {{"result", "failed"}, {"reason", reason}, {"op", Json::array()}}; }

/// What the client would call an operator of its own; what functions are made of is none.
Json operators_of(const Program& program) {
  Json out = Json::array();
  for (const auto& [name, function] : program.functions)
    for (const Node& node : function->nodes)
      if (!node.removed && node.kind != Kind::kArgument && node.kind != Kind::kConstant)
        out.push_back({{"op_name", node.client_name}, {"op_type", node.op}, {"result", "success"}, {"reason", ""}});
  return out;
}

void blame(Json& report, const NodeError& error) {
  report["result"] = "failed";
  report["reason"] = error.message();
  for (Json& op : report["op"]) {
    if (op.at("op_name") != error.node()) continue;
    op["result"] = "failed";
    op["reason"] = error.plain();
  }
}

}  // namespace

std::string check(Imported imported, const Request& request) {
  Json report = {{"result", "success"}, {"reason", ""}, {"op", operators_of(imported.program)}};
  try {
    convert(std::move(imported), request);
  } catch (const NodeError& error) {
    blame(report, error);
  } catch (const Error& error) {
    report["result"] = "failed";
    report["reason"] = error.message();
  }
  return text_of(report);
}

std::string check(int framework, std::string_view bytes, const Request& request, const std::filesystem::path& folder) {
  try {
    return check(import_model(framework, bytes, request, folder), request);
  } catch (const Error& error) {
    if (error.code() == Code::kInvalidParam || error.code() == Code::kFeatureUnsupported) throw;
    return text_of(failure(error.message()));
  }
}

}  // namespace npu::graph::convert
