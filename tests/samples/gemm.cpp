// SPDX-License-Identifier: Apache-2.0
// gemm FOLDER M N K: C = alpha A B + beta C of float16 by aclblasGemmEx; FOLDER has the operator that atc --singleop
// made for it, and matrix_a.bin, matrix_b.bin, matrix_c.bin, into which the result goes.
#include <memory>

#include "acl/ops/acl_cblas.h"
#include "client.h"

int main(int argc, char** argv) {
  demand(argc == 5, "gemm FOLDER M N K");
  const std::string folder = argv[1];
  const int m = std::atoi(argv[2]), n = std::atoi(argv[3]), k = std::atoi(argv[4]);
  const Session session;
  MUST(aclopSetModelDir(folder.c_str()));
  std::vector<std::unique_ptr<DeviceMemory>> matrices;
  for (const char* name : {"/matrix_a.bin", "/matrix_b.bin", "/matrix_c.bin"}) {
    const std::vector<char> bytes = read_file(folder + name);
    matrices.emplace_back(new DeviceMemory(bytes.size()));
    matrices.back()->put(bytes.data(), bytes.size());
  }
  const aclFloat16 one = aclFloatToFloat16(1.0F);
  demand(aclFloat16ToFloat(one) == 1.0F, "1 is 1 in half precision");
  const DeviceMemory alpha(2), beta(2);
  alpha.put(&one, 2), beta.put(&one, 2);
  MUST(aclblasGemmEx(ACL_TRANS_N, ACL_TRANS_N, ACL_TRANS_N, m, n, k, alpha.data(), matrices[0]->data(), -1, ACL_FLOAT16,
                     matrices[1]->data(), -1, ACL_FLOAT16, beta.data(), matrices[2]->data(), -1, ACL_FLOAT16,
                     ACL_COMPUTE_HIGH_PRECISION, session.stream()));
  MUST(aclrtSynchronizeStream(session.stream()));
  const std::vector<char> result = matrices[2]->get();
  write_file(folder + "/matrix_c.bin", result.data(), result.size());
  return 0;
}
