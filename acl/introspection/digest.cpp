// SPDX-License-Identifier: Apache-2.0
#include "anynpu/digest.h"

#include "acl/call.h"
#include "acl/notice.h"
#include "graph/dump/tensor/digest.h"

using namespace npu;  // NOLINT: the C functions below are the door itself

aclError anynpu_digest_start(const char* file, const char* place, void (*visit)(const char* type, void* context),
                             void* context) {
  return acl::call("anynpu_digest_start", [&] {
    graph::DigestRequest request;
    request.file = acl::given(file, "file");
    request.fail = [](const std::string& text) { acl::tell_once(text); };
    if (place != nullptr) {
      request.place = graph::record::place_of(place);
      if (!request.place)
        fail(Code::kInvalidParam, "place is '{}'; it is device/stream/number/graph, as in 0/3/17/", place);
      request.tell = [visit = acl::given(visit, "visit"), context](const std::string& type) {
        visit(type.c_str(), context);
      };
    }
    graph::start_digests(std::move(request));
  });
}

void anynpu_digest_stop() { graph::stop_digests(); }
