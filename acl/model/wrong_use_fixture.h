// SPDX-License-Identifier: Apache-2.0
// Wrong uses as a table: each is a call with the code it must answer, and words of its text: what is wrong, why, and
// what to do.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "acl/model/model_fixture.h"

namespace npu::acl {

struct WrongUse {
  const char* what;
  aclError code;
  std::vector<const char*> words;  ///< parts of the text
  std::function<aclError()> call;
};

/// Makes each wrong call and looks at its code and text. Gives how many there were.
inline size_t expect_refused(const std::vector<WrongUse>& uses) {
  for (const WrongUse& use : uses) {
    SCOPED_TRACE(use.what);
    aclGetRecentErrMsg();
    EXPECT_EQ(use.call(), use.code);
    const char* text = aclGetRecentErrMsg();
    for (const char* word : use.words)
      EXPECT_NE(std::string(text == nullptr ? "" : text).find(word), std::string::npos) << text;
  }
  return uses.size();
}

}  // namespace npu::acl
