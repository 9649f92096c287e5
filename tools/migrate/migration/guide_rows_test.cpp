// SPDX-License-Identifier: Apache-2.0
// The guide's tables of what replaces what (guides/003, interfaces of devices and of tensors), row by row.
#include <gtest/gtest.h>

#include "tools/migrate/migration/batch.h"

namespace npu::migrate {
namespace {

std::string migrated(const std::string& text) {
  static const RuleBook book = RuleBook::built_in();
  Options options;
  options.features = {"torch"};
  const RuleIndex rules(book.active(options.features));
  std::string after;
  Batch batch({"train.py"}, [&](const std::string& path) { return Source(path, text); }, rules, options);
  batch.run(1, [&](FileResult&& file) { after = file.after; });
  return after;
}

struct Row {
  const char *before, *after;
};

class GuideRow : public testing::TestWithParam<Row> {};

TEST_P(GuideRow, ComesOutAsTheGuideSays) {
  const std::string head = "import torch\n", made = head + "import torch_npu\n";
  const std::string after = made + GetParam().after + "\n";
  EXPECT_EQ(migrated(head + GetParam().before + "\n"), after);
  EXPECT_EQ(migrated(after), after);
}

// torch.npu is torch_npu.npu: the guide writes both.
INSTANTIATE_TEST_SUITE_P(Devices, GuideRow,
                         testing::Values(Row{"torch.cuda.is_available()", "torch.npu.is_available()"},
                                         Row{"torch.cuda.current_device()", "torch.npu.current_device()"},
                                         Row{"torch.cuda.device_count()", "torch.npu.device_count()"},
                                         Row{"torch.cuda.set_device(0)", "torch.npu.set_device(0)"},
                                         Row{"torch.tensor([1,2,3]).is_cuda", "torch.tensor([1,2,3]).is_npu"},
                                         Row{"torch.tensor([1,2,3]).cuda()", "torch.tensor([1,2,3]).npu()"},
                                         Row{"torch.tensor([1,2,3]).to(\"cuda\")", "torch.tensor([1,2,3]).to(\"npu\")"},
                                         Row{"torch.cuda.synchronize()", "torch.npu.synchronize()"},
                                         Row{"torch.cuda.device(0)", "torch.npu.device(0)"},
                                         Row{"torch.cuda.Stream(device)", "torch.npu.Stream(device)"},
                                         Row{"torch.cuda.stream(s)", "torch.npu.stream(s)"},
                                         Row{"torch.cuda.current_stream()", "torch.npu.current_stream()"},
                                         Row{"torch.cuda.default_stream()", "torch.npu.default_stream()"},
                                         Row{"device = torch.device(\"cuda:0\")", "device = torch.device(\"npu:0\")"},
                                         // The guide's use_npu is gone from torch; use_device is its name now.
                                         Row{"torch.autograd.profiler.profile(use_cuda=True)",
                                             "torch.autograd.profiler.profile(use_device=\"npu\" if True else None)"},
                                         Row{"torch.cuda.Event()", "torch.npu.Event()"}));

INSTANTIATE_TEST_SUITE_P(Tensors, GuideRow,
                         testing::Values(Row{"torch.tensor([1,2,3],dtype=torch.long,device='cuda')",
                                             "torch.tensor([1,2,3],dtype=torch.long,device='npu')"},
                                         Row{"torch.tensor([1,2,3],dtype=torch.int,device='cuda')",
                                             "torch.tensor([1,2,3],dtype=torch.int,device='npu')"},
                                         Row{"torch.tensor([1,2,3],dtype=torch.half,device='cuda')",
                                             "torch.tensor([1,2,3],dtype=torch.half,device='npu')"},
                                         Row{"torch.tensor([1,2,3],dtype=torch.float,device='cuda')",
                                             "torch.tensor([1,2,3],dtype=torch.float,device='npu')"},
                                         Row{"torch.tensor([1,2,3],dtype=torch.bool,device='cuda')",
                                             "torch.tensor([1,2,3],dtype=torch.bool,device='npu')"},
                                         Row{"torch.cuda.BoolTensor([1,2,3])", "torch.npu.BoolTensor([1,2,3])"},
                                         Row{"torch.cuda.FloatTensor([1,2,3])", "torch.npu.FloatTensor([1,2,3])"},
                                         Row{"torch.cuda.IntTensor([1,2,3])", "torch.npu.IntTensor([1,2,3])"},
                                         Row{"torch.cuda.LongTensor([1,2,3])", "torch.npu.LongTensor([1,2,3])"},
                                         Row{"torch.cuda.HalfTensor([1,2,3])", "torch.npu.HalfTensor([1,2,3])"}));

INSTANTIATE_TEST_SUITE_P(
    Steps, GuideRow,
    testing::Values(Row{"device = torch.device('cuda:0')\ntorch.cuda.set_device(device)",
                        "device = torch.device('npu:0')\ntorch.npu.set_device(device)"},
                    Row{"model = model.cuda()\ncirterion = torch.nn.CrossEntropyLoss().cuda()",
                        "model = model.npu()\ncirterion = torch.nn.CrossEntropyLoss().npu()"},
                    Row{"torch.distributed.init_process_group(backend='nccl',init_method = \"tcp//:127.0.0.1:29688\", "
                        "rank = args.rank)",
                        "torch.distributed.init_process_group(backend='hccl',init_method = \"tcp//:127.0.0.1:29688\", "
                        "rank = args.rank)"},
                    Row{"scaler = torch.cuda.amp.GradScaler()", "scaler = torch.amp.GradScaler(\"npu\")"},
                    Row{"ngpus_per_node = torch.cuda.device_count()", "ngpus_per_node = torch.npu.device_count()"}));

}  // namespace
}  // namespace npu::migrate
