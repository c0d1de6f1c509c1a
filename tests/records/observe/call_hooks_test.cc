// The hooks that record operators, in real trainings: they change nothing, and fail no run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compare/traces/call_onset.h"
#include "tests/records/observe/trace_hooks.h"

namespace rharness {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// What a step is not: a list of 70 tensors, autocast, a checkpoint, and a mode of the program's
// own. Prints the digest of the weights.
constexpr char kOdd[] = R"py(
import hashlib, os, sys
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils._python_dispatch import TorchDispatchMode
import rharness_trace

torch.set_num_threads(1)

class Own(TorchDispatchMode):
    calls = 0
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        Own.calls += 1
        return func(*args, **(kwargs or {}))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(35))
    def forward(self, x):
        with Own():
            for layer in self.layers[:3]: x = layer(x).tanh()
        x = checkpoint(lambda x: torch.dropout(self.layers[3](x), 0.1, True), x, use_reentrant=False)
        for layer in self.layers[4:]: x = x + layer(x)
        return x

torch.manual_seed(1)
net = Net()
optimizer = torch.optim.AdamW(net.parameters(), foreach=True)
watch = rharness_trace.watch(net, optimizer, steps="1", operators=True)
outer = Own()
for step in range(3):
    with outer:
        with torch.autocast("cpu", torch.bfloat16): loss = net(torch.ones(4, 8)).float().square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
watch.close()
assert torch._C._len_torch_dispatch_stack() == 0
weights = hashlib.sha256(b"".join(one.detach().numpy().tobytes() for one in net.parameters()))
print(Own.calls, weights.hexdigest())
)py";

// Steps whose model is called in another thread than their optimizer, or whose optimizer is
// compiled.
constexpr char kElsewhere[] = R"py(
import hashlib, sys, threading
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack
import rharness_trace

torch.set_num_threads(1)

class Own(TorchDispatchMode):
    calls = 0
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        Own.calls += 1
        return func(*args, **(kwargs or {}))

def in_thread(work):
    found = []
    one = threading.Thread(target=lambda: found.append(work()))
    one.start()
    one.join()
    return found[0]

def train(kind):
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    watch = rharness_trace.watch(net, optimizer, steps="0-9", operators=True)
    step = torch.compile(optimizer.step, backend="eager") if kind == "compiled" else optimizer.step
    for _ in range(3):
        work = lambda: net(torch.ones(4, 8)).square().mean()
        loss = work() if kind == "compiled" else in_thread(work)
        if kind == "gradient": in_thread(loss.backward)
        else: loss.backward()
        step()
        optimizer.zero_grad()
    watch.close()
    return net.parameters()

if sys.argv[1] == "mode":
    with Own():
        weights = list(train("mode"))
        assert len(_get_current_dispatch_mode_stack()) == 1
else:
    weights = list(train(sys.argv[1]))
    assert not _get_current_dispatch_mode_stack()
print(Own.calls > 0, hashlib.sha256(b"".join(one.detach().numpy().tobytes() for one in weights)).hexdigest())
)py";

constexpr char kBroken[] = R"py(
import os, sys
import rharness_contents_torch as contents
looks_left, look = [int(os.environ["BREAK"])], contents.Contents._look
def broken_look(self, *args, **kwargs):
    looks_left[0] -= 1
    if looks_left[0] < 0: raise RuntimeError("planted")
    return look(self, *args, **kwargs)
contents.Contents._look = broken_look
)py";

class CallHooks : public TorchHooks {
 protected:
  const Planted with_ = {{"RHARNESS_TRACE_OPERATORS", "1"}};

  std::string Text(const std::string& name) const {
    const auto text = ReadFile(At(name));
    EXPECT_TRUE(text.ok()) << name;
    return text.ok() ? *text : "";
  }
};

// Needs no framework.
TEST_F(Hooks, TellLongArgumentsApartWhereverTheyDiffer) {
  constexpr char kProgram[] = R"py(
from rharness_calls import short, value_text
one = ["dims=" + value_text([0] * 400 + [last], ()) for last in (1, 2)]
print(len(short(one[0])) <= 200, short(one[0]) != short(one[1]), short("p=0.1"))
)py";
  EXPECT_EQ(Run("python3", kProgram, {}).front(), "True True p=0.1");
}

TEST_F(CallHooks, ChangeNothingAndTwoRunsAreEqual) {
  const auto bare = Run(python_, kTorch, {"-"});
  const auto printed =
      Run(python_, kTorch, {Traced("a"), Traced("b", "EVALUATE=1"), "- WATCH=1"}, with_);
  for (const std::string& one : printed) EXPECT_EQ(one, bare.front());
  EXPECT_EQ(errors_, "");
  const std::string text = Text("a/rank-0.calls");
  EXPECT_EQ(text, Text("b/rank-0.calls"));
  for (const char* op : {"aten.convolution.default", "aten.convolution_backward.default",
                         R"("module":"b.norm","op":"aten.native_batch_norm_backward.default")",
                         R"("phase":"optimizer")", R"("name":"grad:stem.weight")", R"("rng":")"}) {
    EXPECT_THAT(text, HasSubstr(op));
  }
  EXPECT_THAT(text, ContainsRegex("native_batch_norm.default[^\n]*\"out\":[^\n]*running_var"));
  EXPECT_THAT(text, Not(HasSubstr("vector_norm")));  // of the hooks themselves
  const auto traces = LoadCalls(At("a"));
  ASSERT_TRUE(traces.ok());
  EXPECT_TRUE(traces->front().ended);
  EXPECT_EQ(traces->front().steps.size(), 6U);
  EXPECT_EQ(traces->front().bad_lines, 0U);
}

TEST_F(CallHooks, OfAProgramThatKnowsNothingOfThemAreTheSame) {
  const auto given = Run(python_, kTorch, {Traced("b")}, with_);
  Planted variables = with_;
  variables["RHARNESS_TRACE"] = (At("a") / "").string();
  variables["RHARNESS_TRACE_STEPS"] = "0-3,every=5";
  EXPECT_EQ(Run(python_, kTorch, {(At("a") / "").string()}, variables), given);
  EXPECT_EQ(Text("a/rank-0.calls"), Text("b/rank-0.calls"));
}

TEST_F(CallHooks, WriteWhatTheSchemaSays) {
  const std::string checker = PythonWith("jsonschema");
  if (checker.empty()) GTEST_SKIP() << "no Python with jsonschema";
  Run(python_, kTorch, {Traced("a")}, with_);
  const ProcessResult checked = Execute(
      {checker, "-c",
       "import json, jsonschema, sys\n"
       "checker = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))\n"
       "lines = [json.loads(line) for line in open(sys.argv[2])]\n"
       "for line in lines[:400] + lines[-1:]: checker.validate(line)\n"
       "print(len(lines) > 400)",
       RHARNESS_SOURCE_DIR "/compare/traces/calls.schema.json", At("a/rank-0.calls").string()},
      {});
  EXPECT_EQ(checked.stdout_text, "True\n") << checked.stderr_text;
}

TEST_F(CallHooks, ThatFailAnywhereFailNoRun) {
  const auto bare = Run(python_, kTorch, {"-"});
  const std::string program = std::string(kBroken) + kTorch;
  for (const char* after : {"0", "15", "40", "150", "700"}) {
    Planted variables = with_;
    variables["BREAK"] = after;
    EXPECT_EQ(Run(python_, program.c_str(), {Traced(after)}, variables), bare) << after;
    EXPECT_THAT(Text(std::string(after) + "/rank-0.calls"), HasSubstr("RuntimeError: planted"));
  }
}

TEST_F(CallHooks, LeaveStepsOfSeveralThreadsAsTheyAre) {
  for (const char* kind : {"thread", "mode", "gradient"}) {
    const auto bare = Run(python_, kElsewhere, {kind});
    EXPECT_EQ(Run(python_, kElsewhere, {kind}, {{"RHARNESS_TRACE", (At(kind) / "").string()}}),
              bare);
    EXPECT_EQ(errors_, "");
    EXPECT_THAT(Text(std::string(kind) + "/rank-0.calls"), HasSubstr("in another thread")) << kind;
  }
}

TEST_F(CallHooks, DoNothingInACompiledOptimizer) {
  if (!Execute({python_, "-c", "import torch; torch.compiler.is_compiling"}, {})
           .outcome.Succeeded()) {
    GTEST_SKIP() << "needs a PyTorch with torch.compiler.is_compiling";
  }
  const auto bare = Run(python_, kElsewhere, {"compiled"});
  EXPECT_EQ(Run(python_, kElsewhere, {"compiled"}, {{"RHARNESS_TRACE", (At("a") / "").string()}}),
            bare);
  EXPECT_TRUE(Text("a/rank-0.calls").ends_with("{\"end\": true}\n"));
}

TEST_F(CallHooks, SeeWordsOfLargeTensorsThatOnlyChangePlaces) {
  constexpr char kProgram[] = R"py(
import torch
from rharness_contents_torch import Contents
look, said = Contents(torch)._check, []
for dtype in (torch.float32, torch.bfloat16, torch.float64, torch.complex128, torch.int8):
    x = torch.arange(64 * 515).reshape(64, 515).remainder(100).to(dtype)
    rows, columns, last = x.clone(), x.clone(), x.clone()
    rows[[1, 5]] = x[[5, 1]]
    columns[:, [0, 1]] = x[:, [1, 0]]
    last[-1, -1] += 1
    said += [look(x) == look(x.clone()) == look(x.t().contiguous().t())]
    said += [look(x) != look(other) for other in (rows, columns, last)]
said += [look(torch.ones(1).expand(4096)) == look(torch.ones(4096))]
print(all(said), len(said))
)py";
  EXPECT_EQ(Run(python_, kProgram, {}).front(), "True 21");
}

TEST_F(CallHooks, StandWithModesCheckpointsAndLongLists) {
  const auto bare = Run(python_, kOdd, {});
  Planted variables = {{"RHARNESS_TRACE", (At("a") / "").string()}};
  EXPECT_EQ(Run(python_, kOdd, {}, variables), bare);
  EXPECT_EQ(errors_, "");
  const std::string text = Text("a/rank-0.calls");
  EXPECT_THAT(text, HasSubstr(R"(,"count":7}])"));  // of 70 tensors
  EXPECT_THAT(text, HasSubstr(R"("args":"dtype=torch.bfloat16)"));
  EXPECT_THAT(text, HasSubstr(R"("phase":"backward","module":"layers.3")"));
  EXPECT_TRUE(text.ends_with("{\"end\": true}\n")) << text.substr(text.size() - 300);
}

}  // namespace
}  // namespace rharness
