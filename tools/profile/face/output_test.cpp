// SPDX-License-Identifier: Apache-2.0
// Places that cannot be written: an error names the file, the reason and what helps, and no half of a file stays.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <set>

#include "tools/profile/face/face.h"
#include "tools/profile/trace/collection_fixture.h"

namespace npu::profile {
namespace {

struct Ended {
  int code;
  std::string told;  ///< on stderr
};

/// msprof in a process of its own, which is put into its case first. What it tells goes through a pipe: a limit of
/// files is none of pipes.
Ended run(const std::vector<std::string>& arguments, const std::function<void()>& prepare) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    prepare();
    const int code = dispatch(arguments);
    std::fflush(nullptr);
    _exit(code);
  }
  close(ends[1]);
  Ended ended{-1, ""};
  char part[256];
  for (ssize_t got = 0; (got = read(ends[0], part, sizeof part)) > 0;)
    ended.told.append(part, static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  return ended;
}

class MsprofOutput : public Collection {
 protected:
  struct Way {
    const char *what, *type, *place;  ///< where it writes, in the collection
  };
  static constexpr Way kWays[] = {{"--export=on", "text", "mindstudio_profiler_output"},
                                  {"--export=on", "perfetto", "mindstudio_profiler_output"},
                                  {"--export=on", "db", "."},
                                  {"--analyze=on", "text", "analyze"},
                                  {"--analyze=on", "db", "analyze"}};
  static constexpr uint32_t kTasks = 20'000;  // so that no file has less than a megabyte

  void SetUp() override {
    Collection::SetUp();
    write_texts({"HcomAllReduce", "hcom_all_reduce", "group"});
    std::vector<TaskRecord> tasks;
    for (uint32_t i = 0; i < kTasks; ++i) {
      tasks.push_back(task(1000 + 1000 * i, 1500 + 1000 * i, Unit::kCollective, 1, 2));
      tasks.back().step = i, tasks.back().graph = 3, tasks.back().bytes = 4096;
    }
    write("device_0/data/anynpu.tasks", tasks);
  }

  /// Ends with 1 and an error that names a file of the collection and has these parts; its files are those from before.
  void fails(const Way& way, const std::function<void()>& prepare, const std::vector<std::string>& parts) const {
    SCOPED_TRACE(std::string(way.what) + " --type=" + way.type);
    const auto before = files();
    const auto [code, told] =
        run({way.what, std::string("--type=") + way.type, "--output=" + folder.string()}, prepare);
    EXPECT_EQ(code, 1) << told;
    EXPECT_TRUE(told.starts_with("[ERROR] msprof: " + folder.string() + "/")) << told;
    for (const std::string& part : parts) EXPECT_NE(told.find(part), std::string::npos) << part << " in " << told;
    EXPECT_EQ(files(), before);
  }
  std::set<std::string> files() const {
    std::set<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (!entry.is_directory()) found.insert(entry.path().string());
    return found;
  }
};

TEST_F(MsprofOutput, AFullDiskLeavesNoHalfFile) {
  for (const rlim_t bytes : {16, 1 << 20})  // none, or the first ones of a file
    for (const Way& way : kWays)
      fails(way,
            [&] {
              const rlimit limit{bytes, bytes};
              setrlimit(RLIMIT_FSIZE, &limit);
              std::signal(SIGXFSZ, SIG_IGN);
            },
            {"File too large", "make room"});
}

TEST_F(MsprofOutput, AFolderOfAnotherUser) {
  constexpr uid_t kNobody = 65534;
  const fs::perms readable{0555};
  fs::permissions(root, readable | fs::perms::owner_write);
  fs::permissions(folder, readable);
  for (const Way& way : kWays)
    fails(way, [] { static_cast<void>(geteuid() == 0 ? seteuid(kNobody) : 0); },
          {"Permission denied", "copy the PROF_"});
  fs::permissions(folder, readable | fs::perms::owner_write);
}

TEST_F(MsprofOutput, APlaceThatIsTaken) {
  write("mindstudio_profiler_output", "a file");
  write("analyze", "a file");
  for (const Way& way : kWays)
    if (way.place != std::string(".")) fails(way, [] {}, {way.place, "move away"});
}

TEST_F(MsprofOutput, WithRoomAllAppear) {
  for (const Way& way : kWays) {
    fs::remove_all(folder / "mindstudio_profiler_output");  // of the same second, so of the same name
    const auto before = files();
    EXPECT_EQ(run({way.what, std::string("--type=") + way.type, "--output=" + folder.string()}, [] {}).code, 0);
    std::vector<std::string> added;
    std::ranges::set_difference(files(), before, std::back_inserter(added));
    EXPECT_FALSE(added.empty()) << way.what << " " << way.type;
    for (const std::string& file : added) EXPECT_FALSE(file.ends_with(".part")) << file;
  }
}

}  // namespace
}  // namespace npu::profile
