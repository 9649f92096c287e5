// SPDX-License-Identifier: Apache-2.0
#include "ops/tuning/bank.h"

#include <sys/wait.h>

#include "base/error.h"
#include "device/process/soc.h"
#include "ops/tuning/tuning_fixture.h"

namespace npu::ops::tuning {
namespace {

namespace fs = std::filesystem;

class BankFile : public WithBanks {
 protected:
  static Bank bank_of(std::string way, std::string time = "2026-11-26T10:00:00Z") {
    Bank bank{"op", device::soc().name, cpu_name(), {}};
    bank.entries[{"conv_way", "forward n=1"}] = winner(std::move(way), std::move(time));
    return bank;
  }
  static std::string refusal(const fs::path& file) {
    try {
      read_bank(file);
    } catch (const Error& e) {
      return e.message();
    }
    return "accepted";
  }
  fs::path write(const std::string& text) const {
    std::ofstream(folder / "bank.json") << text;
    return folder / "bank.json";
  }
};

TEST_F(BankFile, IsReadAsItWasWritten) {
  const fs::path file = folder / "op" / "a.json";
  Bank bank = bank_of("own");
  bank.entries[{"conv_way", "back \"slash\\ n=2"}] = winner("tiled");
  bank.entries.begin()->second.note = "Conv2D first/conv";
  EXPECT_EQ(add_to_bank(file, bank), 2u);
  EXPECT_EQ(read_bank(file).entries, bank.entries);
  EXPECT_EQ(add_to_bank(file, bank), 0u);
}

TEST_F(BankFile, OfTwoEntriesTheNewerStays) {
  const fs::path file = folder / "a.json";
  add_to_bank(file, bank_of("own", "2026-11-26T10:00:00Z"));
  EXPECT_EQ(add_to_bank(file, bank_of("tiled", "2026-11-25T10:00:00Z")), 0u);
  EXPECT_EQ(read_bank(file).entries.begin()->second.way, "own");
  EXPECT_EQ(add_to_bank(file, bank_of("tiled", "2026-11-27T10:00:00Z")), 1u);
  EXPECT_EQ(read_bank(file).entries.begin()->second.way, "tiled");
}

TEST_F(BankFile, AnotherCpuDoesNotComeIn) {
  const fs::path file = folder / "a.json";
  Bank other = bank_of("own");
  other.cpu = "elsewhere";
  add_to_bank(file, other);
  EXPECT_THROW(add_to_bank(file, bank_of("own")), Error);
  EXPECT_EQ(read_bank(file).cpu, "elsewhere");
}

TEST_F(BankFile, WhatIsNoneIsRefusedWithTheReason) {
  EXPECT_NE(refusal(write("{\"format\": ")).find("is no bank of tuned choices"), std::string::npos);
  EXPECT_NE(refusal(write("{}")).find("\"format\" is not"), std::string::npos);
  EXPECT_NE(refusal(write("[1]")).find("\"format\" is not"), std::string::npos);
  EXPECT_NE(refusal(write(R"({"format": "AnyNPU tuning bank", "version": 2})")).find("its version is 2"),
            std::string::npos);
  EXPECT_NE(refusal(write(R"({"format": "AnyNPU tuning bank", "version": 1, "job": 3})")).find("is no bank"),
            std::string::npos);
  EXPECT_NE(refusal(folder / "none.json").find("cannot be read"), std::string::npos);
}

// Whatever byte a crash or a full disk leaves it at, a bank is refused, and never read half.
TEST_F(BankFile, EveryTruncationIsRefused) {
  const std::string whole = bank_of("own").text();
  for (size_t size = 0; size + 2 < whole.size(); size += 7) {
    SCOPED_TRACE(size);
    EXPECT_NE(refusal(write(whole.substr(0, size))), "accepted");
  }
}

TEST_F(BankFile, ADamagedOneIsLeftAlone) {
  const fs::path file = bank_file(Job::kOperators);
  fs::create_directories(file.parent_path());
  std::ofstream(file) << "{ damaged";
  EXPECT_FALSE(has_answers(Job::kOperators));
  learn(Job::kOperators, "conv_way", "forward n=1", winner("own"));
  EXPECT_EQ(answer_of(Job::kOperators, "conv_way", "forward n=1"), "own");  // for this process
  EXPECT_EQ(text_of(file), "{ damaged");
}

TEST_F(BankFile, WhatIsLearntIsThereAfterwards) {
  EXPECT_FALSE(has_answers(Job::kOperators));
  EXPECT_EQ(state_of(Job::kOperators), "");
  learn(Job::kOperators, "conv_way", "forward n=1", winner("own"));
  EXPECT_TRUE(has_answers(Job::kOperators));
  EXPECT_FALSE(has_answers(Job::kGraphs));
  use_bank_folder(folder);  // as another process reads it
  EXPECT_EQ(answer_of(Job::kOperators, "conv_way", "forward n=1"), "own");
  EXPECT_EQ(answer_of(Job::kOperators, "conv_way", "forward n=2"), std::nullopt);
  EXPECT_NE(state_of(Job::kOperators), "");
}

TEST_F(BankFile, WhatDidNotWinAnswersNothing) {
  Entry entry = winner("own");
  entry.won = false;
  learn(Job::kOperators, "conv_way", "forward n=1", entry);
  EXPECT_EQ(answer_of(Job::kOperators, "conv_way", "forward n=1"), std::nullopt);
  EXPECT_TRUE(entry_of(Job::kOperators, "conv_way", "forward n=1").has_value());
  EXPECT_FALSE(has_answers(Job::kOperators));
}

TEST_F(BankFile, WhatAnotherVersionMeasuredIsNotUsed) {
  Bank bank = bank_of("own");
  bank.entries.begin()->second.product = "0.0.0";
  add_to_bank(bank_file(Job::kOperators), bank);
  EXPECT_FALSE(has_answers(Job::kOperators));
  EXPECT_EQ(entry_of(Job::kOperators, "conv_way", "forward n=1"), std::nullopt);
}

TEST_F(BankFile, ProcessesThatLearnAtOnceLoseNothing) {
  constexpr int kProcesses = 4, kEach = 12;
  for (int p = 0; p < kProcesses; ++p) {
    if (fork() != 0) continue;
    for (int i = 0; i < kEach; ++i) {
      Bank bank{"op", device::soc().name, cpu_name(), {}};
      bank.entries[{"conv_way", std::to_string(p) + " " + std::to_string(i)}] = winner("own");
      add_to_bank(folder / "shared.json", bank);
    }
    _exit(0);
  }
  for (int p = 0; p < kProcesses; ++p) {
    int status = 0;
    wait(&status);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(read_bank(folder / "shared.json").entries.size(), static_cast<size_t>(kProcesses * kEach));
}

TEST_F(BankFile, AFolderThatCannotBeWrittenIsTold) {
  std::ofstream(folder / "file") << "";
  use_bank_folder(folder / "file");
  ::testing::internal::CaptureStderr();
  learn(Job::kOperators, "conv_way", "forward n=1", winner("own"));
  EXPECT_EQ(answer_of(Job::kOperators, "conv_way", "forward n=1"), "own");
  const std::string told = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("cannot be written"), std::string::npos) << told;
}

}  // namespace
}  // namespace npu::ops::tuning
