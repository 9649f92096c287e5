// SPDX-License-Identifier: Apache-2.0
#include "anynpu/session.h"

#include <string>
#include <vector>

#include "acl/call.h"
#include "acl/graph/library.h"
#include "graph/import/tensorflow/session/slice.h"
#include "graph/run/library.h"

struct anynpu_session_graph {
  explicit anynpu_session_graph(std::string graph_def) : bytes(std::move(graph_def)), graph(npu::graph::Bytes(bytes)) {}
  const std::string bytes;
  const npu::graph::tensorflow::GraphMessage graph;
};

namespace npu::acl {
namespace {

std::vector<std::string> texts(const char* const* list, size_t count, const char* argument) {
  std::vector<std::string> out;
  if (count > 0) given(const_cast<const char**>(list), argument);
  for (size_t i = 0; i < count; ++i) out.emplace_back(given(list[i], argument));
  return out;
}

graph::tensorflow::SliceRequest request_of(const char* function, const anynpu_slice& slice) {
  require(slice.struct_size >= sizeof slice, "slice.struct_size is {}; {} is the least", slice.struct_size,
          sizeof slice);
  graph::tensorflow::SliceRequest out;
  out.name = given(function, "function");
  out.scope = given(slice.session, "slice.session");
  require(out.name.starts_with(out.scope + graph::kSharedBefore),
          "function {} belongs to the session {}; name it {}{}…", out.name, out.scope, out.scope, graph::kSharedBefore);
  out.feeds = texts(slice.feeds, slice.feed_count, "slice.feeds");
  out.fetches = texts(slice.fetches, slice.fetch_count, "slice.fetches");
  out.targets = texts(slice.targets, slice.target_count, "slice.targets");
  for (size_t i = 0; slice.decided != nullptr && i < out.feeds.size(); ++i)
    if (slice.decided[i] >= 0) out.decided[out.feeds[i]] = slice.decided[i] != 0;
  const std::vector<std::string> pairs = texts(slice.replaced, 2 * slice.replaced_count, "slice.replaced");
  for (size_t i = 0; i < pairs.size(); i += 2) out.replaced.emplace_back(pairs[i], pairs[i + 1]);
  return out;
}

}  // namespace
}  // namespace npu::acl

using npu::acl::call;
using npu::acl::given;

extern "C" {

aclError anynpu_session_graph_read(const void* graph_def, size_t size, anynpu_session_graph** graph) {
  return call("anynpu_session_graph_read", [&] {
    const auto* bytes = static_cast<const char*>(given(const_cast<void*>(graph_def), "graph_def"));
    npu::acl::give_made(graph, "graph", [&] { return new anynpu_session_graph(std::string(bytes, size)); });
  });
}

void anynpu_session_graph_release(anynpu_session_graph* graph) { delete graph; }

aclError anynpu_library_add_slice(anynpu_library* library, const char* function, const anynpu_session_graph* graph,
                                  const anynpu_slice* slice,
                                  void (*visit)(const anynpu_slice_resource* resource, void* context), void* context) {
  return call("anynpu_library_add_slice", [&] {
    anynpu_library& live = *given(library, "library");
    const auto& read = *given(graph, "graph");
    const auto request = npu::acl::request_of(function, *given(slice, "slice"));
    given(visit, "visit");
    const npu::graph::Program known = live.library.program();
    npu::graph::Program program = known;
    const auto made = npu::graph::tensorflow::read_slice(read.graph, request, live.catalogue, program);
    std::erase_if(program.functions, [&](const auto& one) { return known.functions.contains(one.first); });
    live.library.add(program);
    for (const auto& resource : made.resources) {
      const anynpu_slice_resource out{sizeof out,        resource.key.c_str(),     resource.node.c_str(),
                                      resource.variable, resource.node_def.data(), resource.node_def.size()};
      visit(&out, context);
    }
  });
}

aclError anynpu_library_end_session(anynpu_library* library, const char* session) {
  return call("anynpu_library_end_session", [&] {
    auto& live = given(library, "library")->library;
    const std::string prefix = std::string(given(session, "session")) + npu::graph::kSharedBefore;
    for (const auto& [name, function] : live.program().functions) {
      if (!name.starts_with(prefix)) continue;
      live.remove(name);
      live.report().retire(name);
    }
    live.remove(session);
  });
}

}  // extern "C"
