// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <map>
#include <system_error>

#include "tools/migrate/face/face.h"
#include "tools/migrate/face/usage.h"
#include "tools/migrate/files/output.h"

namespace npu::migrate {

int dispatch(const std::string& called, std::vector<std::string> arguments) {
  static const std::map<std::string, Face> kFaces = {{"migrate", migrate_face},
                                                     {"convert_tf2npu", tensorflow_face},
                                                     {"npu_bridge.convert_tf2npu", tensorflow1_face},
                                                     {"ms_fmk_transplt", torch_face}};
  std::string name = called.substr(called.rfind('/') + 1);
  if (!kFaces.contains(name) && !arguments.empty() && kFaces.contains(arguments[0])) {
    name = arguments[0];
    arguments.erase(arguments.begin());
  }
  const Face face = kFaces.contains(name) ? kFaces.at(name) : migrate_face;
  if (face == migrate_face) name = "anynpu migrate";
  if (face == tensorflow1_face) name = "convert_tf2npu";
  catch_signals();
  try {
    return face(std::move(arguments));
  } catch (const UsageError& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return 2;
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::broken_pipe) return 128 + SIGPIPE;  // as after `| head`: nobody is to be told
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return 1;
  }
}

}  // namespace npu::migrate
