// The hooks in real trainings: what differs is named, and what fails in them fails no run.
#include "tests/records/observe/trace_hooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rharness {
namespace {

using testing::HasSubstr;

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

// After the first step the model is saved, copied, scripted and traced by the program.
constexpr char kKept[] = R"py(
import copy, hashlib, io, sys, warnings
import torch
from torch import nn

torch.manual_seed(1)
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
x, said = torch.ones(4, 8), []
for step in range(4):
    net(x).square().mean().backward()
    if step == 2:
        saved = io.BytesIO()
        torch.save(net, saved)
        said += [hashlib.sha256(saved.getvalue()).hexdigest()]
        warnings.simplefilter("ignore")
        for one in (copy.deepcopy(net), torch.jit.script(net), torch.jit.trace(net, x)):
            said += [float(one(x).sum())]
        said += [len(copy.deepcopy(net)._forward_pre_hooks), len(list(net._forward_pre_hooks.values()))]
    optimizer.step()
    optimizer.zero_grad()
print(said, float(net(x).sum()))
)py";

TEST_F(TorchHooks, AreInNoCopyAndNoFileOfTheModel) {
  const auto bare = Run(python_, kKept, {});
  const Planted variables = {{"RHARNESS_TRACE", (At("a") / "").string()},
                             {"RHARNESS_TRACE_STEPS", "0-9"}};
  EXPECT_EQ(Run(python_, kKept, {}, variables), bare);
  const auto traces = LoadTraces(At("a"));
  ASSERT_TRUE(traces.ok()) << traces.error().ToString();
  EXPECT_EQ(traces->front().trouble, "");
}

TEST_F(TorchHooks, EndWhereAStepHasNoEnd) {
  constexpr char kProgram[] = R"py(
import torch
net = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(1100): net(torch.ones(1, 2))
print("done")
)py";
  EXPECT_EQ(Run(python_, kProgram, {}, {{"RHARNESS_TRACE", (At("a") / "").string()}}).front(),
            "done");
  const auto traces = LoadTraces(At("a"));
  ASSERT_TRUE(traces.ok()) << traces.error().ToString();
  EXPECT_THAT(
      traces->front().trouble,
      HasSubstr("step 0 has no end in 1024 calls of the model; expected a call of SGD.step"));
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
