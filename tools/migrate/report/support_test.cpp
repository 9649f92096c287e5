// SPDX-License-Identifier: Apache-2.0
#include "tools/migrate/report/support.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tools/migrate/report/sheet.h"
#include "tools/migrate/text/source.h"

namespace npu::migrate {
namespace {

class Lists : public testing::Test {
 protected:
  SupportList list(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + name;
    std::ofstream(path) << text;
    return SupportList::read(path);
  }
};

TEST_F(Lists, NamesMethodsModulesAndAliases) {
  const SupportList made = list("list.tsv",
                                "# alias\ttensorflow.old\ttensorflow.new\n"
                                "tf.nn.relu\tnative\t\ntf.data.Dataset\thost\ta note\ntensorflow.new.f\tremoved\t\n");
  EXPECT_EQ(made.find("tensorflow.nn.relu").label->support, "native");
  EXPECT_EQ(made.find("tensorflow.data.Dataset.range").note, "a note");
  EXPECT_EQ(made.find("tensorflow.nn").label, nullptr) << "a module";
  EXPECT_EQ(made.find("tensorflow.nn.nothing").label->support, "unknown");
  EXPECT_EQ(made.find("tensorflow.old.f").label->support, "removed");
}

TEST_F(Lists, AWrongLineIsNamed) { EXPECT_THROW(list("bad.tsv", "tf.x\tperhaps\n"), Refusal); }

TEST_F(Lists, AWorkbookComesBackAsItWasWritten) {
  const std::string path = testing::TempDir() + "book.xlsx";
  write_sheet(path, {"Sheet1",
                     {"模块名", "API名", "工具迁移API支持度", "说明"},
                     {8, 8, 8, 8},
                     {{"tf", "tf.abs", "支持", ""}, {"tf", "tf.tpu.x", "不支持(无迁移方案，建议不使用)", "<n&>"}}});
  const Cells cells = read_sheet(path);
  ASSERT_EQ(cells.size(), 3U);
  EXPECT_EQ(cells[2][3], "<n&>");
  const SupportList made = SupportList::read(path);
  EXPECT_EQ(made.find("tensorflow.abs").label->support, "native") << "labels may be shorter than ours";
  EXPECT_EQ(made.find("tensorflow.tpu.x").label->support, "unsupported");
}

TEST(Names, AreShownAsTheVendorsListsShowThem) {
  EXPECT_EQ(SupportList::shown("tensorflow.nn.relu"), "tf.nn.relu");
  EXPECT_EQ(SupportList::shown("horovod.tensorflow.rank"), "hvd.rank");
  EXPECT_EQ(SupportList::module_of("tf.keras.layers.Dense"), "tf.keras");
  EXPECT_EQ(SupportList::module_of("tf.compat.v1.train.Saver"), "tf.compat.v1");
  EXPECT_EQ(SupportList::module_of("tf.abs"), "tf");
}

TEST(Cells, FormulasAndBadBytes) {
  EXPECT_EQ(no_formula("=1"), " =1");
  EXPECT_EQ(no_formula("a=1"), "a=1");
  EXPECT_EQ(clean("a\xff\x01"), "a\uFFFD ");
}

}  // namespace
}  // namespace npu::migrate
