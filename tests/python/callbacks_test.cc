// The callbacks for frameworks, with stand-ins that call them as the frameworks do: in which order,
// and with what, was seen with transformers, Lightning and Keras.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/python/module_program.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

std::map<std::string, Curve> ByName(const RunMetrics& read) {
  std::map<std::string, Curve> curves;
  for (const Curve& curve : read.curves) curves[curve.name] = curve;
  return curves;
}

TEST_F(PythonModule, TakesWhatATrainerLogs) {
  Write("transformers.py", "class TrainerCallback: pass\n");
  const ProcessResult ran = Run(R"(import types, rharness.huggingface
call = rharness.huggingface.RunCallback()
args = types.SimpleNamespace(seed=42, data_seed=None, dataloader_num_workers=2)
state = types.SimpleNamespace(is_world_process_zero=True, global_step=0)
call.on_train_begin(args, state, None, model=None)
for step, loss in ((10, 0.5), (20, 0.25)):
    state.global_step = step
    call.on_log(args, state, None, logs={"loss": loss, "epoch": step / 20, "note": "text"})
call.on_log(args, state, None, logs={"eval_loss": 0.125})
call.on_log(args, state, None, logs={"train_loss": 0.375})
call.on_evaluate(args, state, None, metrics={"eval_loss": 0.125})
call.on_train_end(args, state, None)
)");
  ASSERT_TRUE(ran.outcome.Succeeded()) << ran.stderr_text;
  const RunMetrics read = Written();
  EXPECT_THAT(read.metrics,
              UnorderedElementsAre(Pair("eval_loss", 0.125), Pair("train_loss", 0.375),
                                   Pair("loss", 0.25), Pair("epoch", 1.0)));
  EXPECT_THAT(ByName(read)["loss"].steps, ElementsAre(10, 20));
  EXPECT_THAT(ByName(read)["loss"].values, ElementsAre(0.5, 0.25));
  EXPECT_FALSE(ByName(read).contains("train_loss")) << "it has one point";
  const std::string text = *ReadFile(base_ / "metrics.json");
  EXPECT_THAT(text, HasSubstr("\"loader.workers\": \"2\""));
  EXPECT_THAT(text, HasSubstr("\"seed.transformers.seed\": \"42\""));
}

TEST_F(PythonModule, WritesNothingInATrainersOtherProcesses) {
  Write("transformers.py", "class TrainerCallback: pass\n");
  const ProcessResult ran = Run(R"(import types, rharness.huggingface
call = rharness.huggingface.RunCallback()
state = types.SimpleNamespace(is_world_process_zero=False, global_step=1)
call.on_log(None, state, None, logs={"loss": 1.0})
call.on_evaluate(None, state, None, metrics={"eval_loss": 1.0})
call.on_train_end(None, state, None)
)");
  ASSERT_TRUE(ran.outcome.Succeeded()) << ran.stderr_text;
  EXPECT_FALSE(fs::exists(base_ / "metrics.json"));
}

TEST_F(PythonModule, TakesWhatALightningModuleLogs) {
  Write("pytorch_lightning/__init__.py", "");
  Write("pytorch_lightning/callbacks.py", "class Callback: pass\n");
  Write("lightning.py", "raise ImportError('not this one')\n");
  const ProcessResult ran = Run(R"(import types, rharness.lightning
call = rharness.lightning.RunCallback()
loader = types.SimpleNamespace(num_workers=3, batch_size=8, drop_last=False, generator=None,
                               worker_init_fn=None, sampler=None)
trainer = types.SimpleNamespace(train_dataloader=loader, log_every_n_steps=2, global_step=0,
                                callback_metrics={}, sanity_checking=True, is_global_zero=True)
call.on_validation_end(trainer, None)
trainer.sanity_checking = False
call.on_train_start(trainer, None)
for step in (1, 2, 3, 4):
    trainer.global_step = step
    call.on_train_batch_end(trainer, None, {"loss": 1 / step}, None, step)
trainer.callback_metrics = {"val_acc": 0.75}
call.on_train_epoch_end(trainer, None)
call.on_train_end(trainer, None)
)",
                                {{"PL_GLOBAL_SEED", "9"}});
  ASSERT_TRUE(ran.outcome.Succeeded()) << ran.stderr_text;
  const RunMetrics read = Written();
  EXPECT_THAT(read.metrics, ElementsAre(Pair("val_acc", 0.75)));
  EXPECT_THAT(ByName(read)["loss"].steps, ElementsAre(2, 4));
  EXPECT_THAT(ByName(read)["val_acc"].steps, ElementsAre(4));
  const std::string text = *ReadFile(base_ / "metrics.json");
  EXPECT_THAT(text, HasSubstr("\"loader.workers\": \"3\""));
  EXPECT_THAT(text, HasSubstr("\"loader.generator\": \"none\""));
  EXPECT_THAT(text, HasSubstr("\"seed.lightning.seed_everything\": \"9\""));
}

TEST_F(PythonModule, TakesTheEpochsOfKerasAndALaterEvaluation) {
  Write("keras.py", R"(class callbacks:
    class Callback: pass
)");
  const ProcessResult ran = Run(R"(import rharness.keras
call = rharness.keras.RunCallback()
call.on_train_begin()
for epoch in (0, 1):
    call.on_epoch_begin(epoch)
    call.on_test_end({"loss": 9.0})
    call.on_epoch_end(epoch, {"loss": 1.0 - epoch / 2, "val_loss": 2.0})
call.on_train_end()
call.on_test_end({"loss": 0.25})
)");
  ASSERT_TRUE(ran.outcome.Succeeded()) << ran.stderr_text;
  const RunMetrics read = Written();
  EXPECT_THAT(read.metrics, UnorderedElementsAre(Pair("loss", 0.5), Pair("val_loss", 2.0),
                                                 Pair("test_loss", 0.25)));
  EXPECT_THAT(ByName(read)["loss"].values, ElementsAre(1.0, 0.5));
}

TEST_F(PythonModule, TagsARunOfMlflowWithItsCommandOnlyWhenAsked) {
  Write("mlflow/__init__.py", "");
  Write("mlflow/tracking/__init__.py", "");
  Write("mlflow/tracking/context/__init__.py", "");
  Write("mlflow/tracking/context/abstract_context.py", "class RunContextProvider: pass\n");
  const std::string program = R"(import rharness.mlflow
context = rharness.mlflow.RunContext()
print(context.in_context(), sorted(context.tags()))
)";
  EXPECT_EQ(Run(program).stdout_text, "True ['rharness.observed', 'rharness.python_hash_seed']\n");
  EXPECT_EQ(Run(program, {{"RHARNESS_TAG_COMMAND", "1"}}).stdout_text,
            "True ['rharness.command', 'rharness.observed', 'rharness.python_hash_seed']\n");
}

}  // namespace
}  // namespace rharness
