// The role of a tensor by its name, on names that training programs write.
#include "compare/weights/roles.h"

#include <gtest/gtest.h>

#include <vector>

namespace rharness {
namespace {

void ExpectRole(TensorRole role, const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) {
    EXPECT_EQ(TensorRoleName(RoleOf(name)), TensorRoleName(role)) << name;
  }
}

TEST(Roles, SeeWeightsAndBuffersOfModels) {
  ExpectRole(TensorRole::kWeight,
             {"model.layers.0.self_attn.q_proj.weight", "module.conv1.weight", "bn1.running_mean",
              "bn1.num_batches_tracked", "state_dict.fc.bias", "model.stepper.weight",
              "encoder.step", "decoder.scaler.weight", "blk.0.ffn_up.weight", "state", "state.0",
              "states.0.weight", "my_optimizer_net.weight", "exp_avg_pool.weight", ""});
}

TEST(Roles, SeeTheStateOfOptimizers) {
  ExpectRole(
      TensorRole::kOptimizer,
      {"state.0.exp_avg", "state.12.step", "state.0.momentum_buffer",
       "optimizer.state.layers.0.weight.exp_avg_sq", "optim.param_groups.0.lr",
       "app.optim.state.tok_embeddings.weight.step", "optimizer_state_dict.fp32_flat_groups.0",
       "optimizer_states.0.state.3.exp_avg", "optimizer.state.exp_avg.decoder.layers.mlp.weight",
       "chained_0.optimizer.state.fp32_param.embedding", "master_weights.layer.0",
       "layer.0.weight/exp_avg", "opt_state/0/mu/dense/kernel",
       "optimizer.fp32_from_fp16_params.0.0"});
}

TEST(Roles, SeeTheStateOfGenerators) {
  ExpectRole(TensorRole::kRandomness,
             {"rng_state", "cuda_rng_state.0", "rng_state.0.random_rng_state",
              "random_states.cuda_rng_state", "rng.cpu", "trainer.torch_rng_state",
              "rng_tracker_states.model-parallel-rng", "rng_state_3.pth/cpu"});
}

TEST(Roles, SeeCountersAndSchedulers) {
  ExpectRole(TensorRole::kOther,
             {"step", "global_step", "epoch", "scaler._growth_tracker", "lr_scheduler.last_lr",
              "opt_param_scheduler.max_lr", "train_state.step", "iteration",
              "callbacks.ModelCheckpoint.best_model_score", "scheduler.pt/last_epoch"});
}

}  // namespace
}  // namespace rharness
