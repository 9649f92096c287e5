// SPDX-License-Identifier: Apache-2.0
// What stands behind aclmdlDesc.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "acl/include/acl/acl_mdl.h"
#include "acl/model/loaded.h"
#include "acl/singleop/description.h"

struct aclmdlDesc {
  std::shared_ptr<npu::acl::ModelFacts> facts;  ///< null: empty
  std::weak_ptr<npu::acl::LoadedModel> loaded;  ///< for attributes of operators; none of a file
  uint32_t id = 0;
  std::map<std::string, std::string> real_names;  ///< by the short ones that dims tell
  std::map<std::string, std::string> attributes;  ///< those asked for, by operator
};
