// The hooks in real trainings: what differs is named, and what fails in them fails no run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "compare/traces/onset.h"
#include "harness/base/files.h"
#include "harness/base/subprocess.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Trains a small network of most things that hooks could trip over, once an argument, each of them
// "TRACE NAME=VALUE ...": where to write ("-": nowhere), and which faults to plant. Prints the
// digest of the weights of each.
constexpr char kTorch[] = R"py(
import hashlib, os, sys
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
on = {}.get

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width)
        self.act = nn.ReLU(inplace=True)
    def forward(self, x):
        y = self.act(self.norm(self.conv(x)))
        return x + 1.5 * y if on("FUNCTIONAL") else x + y

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.a, self.b = nn.Conv2d(1, 4, 3, padding=1), Block(4), Block(4)
        self.drop, self.rnn = nn.Dropout(0.1), nn.LSTM(32, 16, batch_first=True)
        self.head = nn.Linear(16, 10)
    def forward(self, x):
        x = self.b(self.a(F.relu(self.stem(x))))
        if on("BETWEEN"): x = x * 1.5
        x, _ = self.rnn(self.drop(x.reshape(x.shape[0], 8, 32)))
        return {"logits": self.head(x[:, -1])}

class Nudged(nn.BatchNorm2d):
    def forward(self, x): return super().forward(x) * (1 + 2.0 ** -21)

def break_hooks(after):
    import rharness_trace_torch
    left, original = [after], rharness_trace_torch.Tensors._facts
    def broken(self, tensor):
        left[0] -= 1
        if left[0] < 0: raise RuntimeError("planted")
        return original(self, tensor)
    rharness_trace_torch.Tensors._facts = broken
    return original

def train():
    torch.manual_seed(int(on("SEED") or 1))
    model = Net()
    if on("OPERATOR"): model.b.norm.eps = 1e-2
    if on("ROUNDING"): model.b.norm.__class__ = Nudged
    if on("NETWORK"): model.b.act = nn.Sequential(nn.ReLU(), nn.Identity())
    if on("GRADIENT"): model.b.conv.weight.register_hook(lambda g: g * (1 + 2.0 ** -21))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=float(on("MOMENTUM") or 0.9))
    if on("WATCH"):
        import rharness_trace
        watch = rharness_trace.watch(model, optimizer, steps="0-3,every=5")
    draw = torch.Generator().manual_seed(int(on("DATA") or 7))
    images = torch.randn(240, 1, 8, 8, generator=draw)
    labels = torch.randint(0, 10, (240,), generator=draw)
    order = torch.randperm(15, generator=torch.Generator().manual_seed(int(on("ORDER") or 1)))
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    for step in range(11):
        at = int(order[step]) * 16
        x, y = images[at:at + 16], labels[at:at + 16]
        if on("LABELS") and step == 2: y = (y + 1) % 10
        if on("DRAW") and step == 1: torch.rand(1)
        if on("NOTE"): watch.note("labels", y)
        loss = F.cross_entropy(model(x)["logits"], y)
        optimizer.zero_grad()
        loss.backward()
        if on("CLIP") and step == 2: nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        schedule.step()
        if on("WRITE") and step == 1:
            with torch.no_grad(): model.head.bias.add_(0.01)
        if on("EVALUATE"):
            model.eval()
            with torch.no_grad(): model(x)
            model.train()
    if on("WATCH"): watch.close()
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest()

for argument in sys.argv[1:]:
    trace, *planted = argument.split(" ")
    on = dict(one.split("=") for one in planted).get
    os.environ.pop("RHARNESS_TRACE", None)
    if trace != "-": os.environ["RHARNESS_TRACE"] = trace
    original = break_hooks(int(on("BREAK"))) if on("BREAK") else None
    print(train(), flush=True)
    if original:
        import rharness_trace_torch
        rharness_trace_torch.Tensors._facts = original
)py";

constexpr char kJax[] = R"py(
import os
import jax, jax.numpy as jnp
import rharness_trace as trace

first, second = jax.random.split(jax.random.PRNGKey(int(os.environ.get("SEED", "1"))))
weights = {"one": jax.random.normal(first, (16, 32)) * 0.1, "two": jax.random.normal(second, (32, 4)) * 0.1}

def forward(weights, x, step):
    x = trace.tap("one", x @ weights["one"], step)
    x = jax.nn.relu(x)
    if os.environ.get("FUNCTIONAL"): x = jnp.where(step >= 2, x * 1.5, x)
    x = trace.tap("relu", x, step)
    return trace.tap("two", x @ weights["two"], step)

def loss_of(weights, x, y, step):
    out = jax.nn.log_softmax(forward(weights, x, step))
    return trace.tap("loss", -jnp.mean(out[jnp.arange(8), y]), step, kind="loss")

@jax.jit
def update(weights, x, y, step):
    loss, gradient = jax.value_and_grad(loss_of)(weights, x, y, step)
    return jax.tree_util.tree_map(lambda w, g: w - 0.1 * g, weights, gradient), loss, gradient

for i in range(7):
    x = jax.random.normal(jax.random.fold_in(jax.random.PRNGKey(9), i), (8, 16))
    trace.trace_pytree(i, "x", x, kind="batch")
    trace.trace_pytree(i, "", weights)
    weights, loss, gradient = update(weights, x, jnp.arange(8) % 4, i)
    trace.trace_pytree(i, "", gradient, kind="gradient")
print(float(loss), jax.vmap(lambda v: trace.tap("v", v * 2, 3))(jnp.ones(3)).sum(),
      jax.jvp(lambda v: trace.tap("j", v * 2, 3), (jnp.ones(3),), (jnp.ones(3),))[1])
)py";

using Planted = std::map<std::string, std::string>;

class Hooks : public testing::Test {
 protected:
  Hooks() : folder_(*ScopedTempDir::Make("rharness-hooks-")) {}

  fs::path At(const std::string& name) const { return folder_.path() / name; }

  // A Python that has this package: of the peers where they are installed, else of the PATH.
  static std::string PythonWith(const std::string& package) {
    std::vector<std::string> pythons;
    if (const char* peers = std::getenv("RHARNESS_PEERS")) {
      pythons.push_back(std::string(peers) + "/venv/bin/python3");
    }
    pythons.insert(pythons.end(), {"python3", "/usr/bin/python3"});
    for (const std::string& python : pythons) {
      const ProcessResult result = Execute({python, "-c", "import " + package}, {});
      if (result.outcome.Succeeded()) return python;
    }
    return "";
  }

  static ProcessResult Execute(std::vector<std::string> argv, const Planted& variables) {
    ProcessLimits limits;
    limits.timeout = std::chrono::seconds(100);
    auto environment = PickEnvironment({"PATH", "TMPDIR", "LD_LIBRARY_PATH"});
    environment["HOME"] = "/";
    environment["PYTHONDONTWRITEBYTECODE"] = "1";
    for (const auto& [name, value] : variables) environment[name] = value;
    return RunProcess({std::move(argv), environment, "/"}, limits);
  }

  // A line a run of what the program prints.
  std::vector<std::string> Run(const std::string& python, const char* program,
                               const std::vector<std::string>& arguments, Planted variables = {}) {
    variables["PYTHONPATH"] = RHARNESS_SOURCE_DIR "/harness/records/observe/python";
    std::vector<std::string> argv = {python, "-c", program};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const ProcessResult result = Execute(argv, variables);
    EXPECT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
    errors_ = result.stderr_text;
    std::vector<std::string> lines;
    std::istringstream stream(result.stdout_text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    EXPECT_EQ(lines.size(), std::max<std::size_t>(1, arguments.size()));
    lines.resize(std::max<std::size_t>(1, arguments.size()));
    return lines;
  }
  // An argument of kTorch: a run with this trace below the test's folder.
  std::string Traced(const std::string& trace, const std::string& planted = "") const {
    return (At(trace) / "").string() + " WATCH=1" + (planted.empty() ? "" : " " + planted);
  }

  Onset Between(const std::string& a, const std::string& b) const {
    const auto of_a = LoadTraces(At(a));
    const auto of_b = LoadTraces(At(b));
    EXPECT_TRUE(of_a.ok()) << of_a.error().ToString();
    EXPECT_TRUE(of_b.ok()) << of_b.error().ToString();
    return of_a.ok() && of_b.ok() ? FindOnset(*of_a, *of_b) : Onset();
  }

  ScopedTempDir folder_;
  std::string errors_;  // of the last run
};

class TorchHooks : public Hooks {
 protected:
  void SetUp() override {
    python_ = PythonWith("torch, numpy");
    if (python_.empty()) GTEST_SKIP() << "no Python with torch and numpy (python3-torch, or peers)";
  }
  std::string python_;
};

TEST_F(TorchHooks, ChangeNothingAndTwoRunsAreEqual) {
  const auto printed = Run(
      python_, kTorch,
      {"-", Traced("a"), Traced("b", "EVALUATE=1"), "- WATCH=1"});  // the last has nowhere to write
  for (const std::string& one : printed) EXPECT_EQ(one, printed.front());
  EXPECT_EQ(errors_, "");
  const Onset onset = Between("a", "b");
  EXPECT_EQ(onset.end, "equal") << onset.headline;
  ASSERT_EQ(onset.steps.size(), 6U);  // 0 to 3, 5 and 10
  EXPECT_EQ(onset.steps.back().step, 10);
  EXPECT_GT(onset.steps.front().compared, 80U);
}

TEST_F(TorchHooks, OfAProgramThatKnowsNothingOfThemAreTheSame) {
  const auto given = Run(python_, kTorch, {Traced("b")});
  const Planted variables = {{"RHARNESS_TRACE", (At("a") / "").string()},
                             {"RHARNESS_TRACE_STEPS", "0-3,every=5"}};
  EXPECT_EQ(Run(python_, kTorch, {(At("a") / "").string()}, variables), given);
  EXPECT_EQ(errors_, "");
  const auto a = ReadFile(At("a/rank-0.jsonl"));
  const auto b = ReadFile(At("b/rank-0.jsonl"));
  ASSERT_TRUE(a.ok());
  ASSERT_TRUE(b.ok());
  EXPECT_EQ(*a, *b);
}

TEST_F(TorchHooks, WriteWhatTheSchemaSays) {
  const std::string checker = PythonWith("jsonschema");
  if (checker.empty()) GTEST_SKIP() << "no Python with jsonschema";
  Run(python_, kTorch, {Traced("a", "NOTE=1")});
  const ProcessResult checked = Execute(
      {checker, "-c",
       "import json, jsonschema, sys\n"
       "checker = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))\n"
       "lines = [json.loads(line) for line in open(sys.argv[2])]\n"
       "for line in lines: checker.validate(line)\n"
       "assert not checker.is_valid({'step': 'x', 'kind': 'output', 'name': ''})\n"
       "print(len(lines) > 300)",
       RHARNESS_SOURCE_DIR "/compare/traces/trace.schema.json", At("a/rank-0.jsonl").string()},
      {});
  EXPECT_EQ(checked.stdout_text, "True\n") << checked.stderr_text;
}

struct TorchFault {
  std::string planted;
  const char* what;
  Layer layer;
  std::int64_t step;
  const char* record;
};

TEST_F(TorchHooks, ShowWhereEachPlantedFaultBegins) {
  const TorchFault faults[] = {
      {"SEED=2", "initial_weights", Layer::kRandomness, 0, "stem.weight"},
      {"DATA=8", "batch", Layer::kData, 0, "labels"},
      {"ORDER=2", "batch_order", Layer::kRandomness, 0, "labels"},
      {"LABELS=1", "batch", Layer::kData, 2, "labels"},
      {"OPERATOR=1", "operator", Layer::kCode, 0, "b.norm (BatchNorm2d)"},
      {"ROUNDING=1", "operator", Layer::kEnvironment, 0, "b.norm (BatchNorm2d)"},
      {"FUNCTIONAL=1", "operator", Layer::kCode, 0, "a (Block)"},
      {"BETWEEN=1", "between_operators", Layer::kCode, 0, "drop (Dropout)"},
      {"DRAW=1", "random_operator", Layer::kRandomness, 1, "drop (Dropout)"},
      {"GRADIENT=1", "gradient", Layer::kEnvironment, 0, "b.conv.weight"},
      {"CLIP=1", "gradient", Layer::kCode, 2, "head.bias"},
      {"MOMENTUM=0.8", "settings", Layer::kCode, 1, "stem.weight"},
      {"WRITE=1", "outside_of_steps", Layer::kCode, 2, "head.bias"},
      {"NETWORK=1", "structure", Layer::kCode, 0, "b.act.0 (ReLU)"},
  };
  std::vector<std::string> arguments = {Traced("recorded", "NOTE=1")};
  for (const TorchFault& fault : faults) {
    arguments.push_back(Traced(fault.planted, "NOTE=1 " + fault.planted));
  }
  Run(python_, kTorch, arguments);
  for (const TorchFault& fault : faults) {
    const Onset onset = Between("recorded", fault.planted);
    SCOPED_TRACE(fault.planted + ": " + onset.headline);
    EXPECT_EQ(onset.what, fault.what);
    EXPECT_EQ(onset.layer, fault.layer);
    ASSERT_TRUE(onset.origin);
    EXPECT_EQ(onset.origin->a.step, fault.step);
    EXPECT_EQ(NameOfRecord(onset.origin->a), fault.record);
  }
}

TEST_F(TorchHooks, ThatFailAnywhereFailNoRun) {
  const std::vector<std::string> after = {"0", "5", "40", "95", "150", "400"};
  std::vector<std::string> arguments = {"-"};
  for (const std::string& one : after) arguments.push_back(Traced(one, "BREAK=" + one));
  const auto printed = Run(python_, kTorch, arguments);
  for (const std::string& one : printed) EXPECT_EQ(one, printed.front());
  for (const std::string& one : after) {
    const auto traces = LoadTraces(At(one));
    ASSERT_TRUE(traces.ok()) << traces.error().ToString();
    EXPECT_THAT(traces->front().trouble, HasSubstr("RuntimeError: planted")) << one;
    EXPECT_GE(traces->front().records.size(), static_cast<std::size_t>(std::stoi(one)));
  }
}

TEST_F(TorchHooks, ThatCannotWriteFailNoRun) {
  const auto printed =
      Run(python_, kTorch,
          {"-", "/dev/full/ WATCH=1", "/proc/nowhere/ WATCH=1", "/dev/full.jsonl/x.jsonl WATCH=1"});
  for (const std::string& one : printed) EXPECT_EQ(one, printed.front());
  EXPECT_THAT(errors_, HasSubstr("rharness_trace: no trace: FileExistsError"));
  const auto steps = Run(python_, kTorch, {Traced("steps")}, {{"RHARNESS_TRACE_STEPS", "every=0"}});
  EXPECT_EQ(steps.front(), printed.front());
  EXPECT_THAT(errors_, HasSubstr("every=N: expected 1 or more"));
}

TEST_F(Hooks, OfJaxShowWhereAFaultBeginsAndFailNoTransformation) {
  const std::string python = PythonWith("jax");
  if (python.empty()) GTEST_SKIP() << "no Python with jax (peers)";
  const auto train = [&](const std::string& trace, Planted variables) {
    variables["RHARNESS_TRACE_STEPS"] = "0-2,every=3";
    if (!trace.empty()) variables["RHARNESS_TRACE"] = (At(trace) / "").string();
    return Run(python, kJax, {}, variables).front();
  };
  const std::string bare = train("", {});
  EXPECT_EQ(train("a", {}), bare);
  EXPECT_EQ(train("again", {}), bare);
  const Onset equal = Between("a", "again");
  EXPECT_EQ(equal.end, "equal") << equal.headline;
  EXPECT_EQ(equal.steps.size(), 5U);
  train("seed", {{"SEED", "2"}});
  EXPECT_EQ(Between("a", "seed").what, "initial_weights");
  train("functional", {{"FUNCTIONAL", "1"}});
  const Onset onset = Between("a", "functional");
  ASSERT_TRUE(onset.origin) << onset.headline;
  EXPECT_EQ(onset.what, "operator");
  EXPECT_EQ(onset.origin->a.step, 2);
  EXPECT_EQ(onset.origin->a.name, "relu");
}

}  // namespace
}  // namespace rharness
