// The table of names, and the search in it.
#include "compare/weights/roles.h"

#include <algorithm>
#include <array>
#include <vector>

#include "harness/base/result.h"

namespace rharness {
namespace {

constexpr auto kRandomnessAnywhere = std::to_array<std::string_view>(
    {"rng_state", "rng_states", "cuda_rng_state", "cpu_rng_state", "torch_rng_state",
     "np_rng_state", "numpy_rng_state", "random_rng_state", "python_rng_state", "xla_rng_state",
     "rng_tracker_states"});

constexpr auto kOptimizerAnywhere =
    std::to_array<std::string_view>({"optimizer",
                                     "optimizers",
                                     "optim",
                                     "optimizer_state",
                                     "optimizer_states",
                                     "optimizer_state_dict",
                                     "opt_state",
                                     "base_optimizer_state",
                                     "optimizer_weights",
                                     "master_weights",
                                     "master_weight",
                                     "master_params",
                                     "fp32_param",
                                     "fp32_params",
                                     "fp32_from_fp16_params",
                                     "fp32_flat_groups",
                                     "single_partition_of_fp32_groups",
                                     "exp_avg",
                                     "exp_avg_sq",
                                     "max_exp_avg_sq",
                                     "exp_avg_sq_row",
                                     "exp_avg_sq_col",
                                     "exp_inf",
                                     "momentum_buffer",
                                     "square_avg",
                                     "grad_avg",
                                     "acc_delta"});

constexpr auto kOtherFirst = std::to_array<std::string_view>({"step",
                                                              "global_step",
                                                              "global_steps",
                                                              "iteration",
                                                              "epoch",
                                                              "loops",
                                                              "scaler",
                                                              "grad_scaler",
                                                              "callbacks",
                                                              "hyper_parameters",
                                                              "native_amp_scaling_state",
                                                              "amp_scaling_state",
                                                              "training_args",
                                                              "scheduler",
                                                              "schedulers",
                                                              "lr_scheduler",
                                                              "lr_schedulers",
                                                              "opt_param_scheduler",
                                                              "train_state",
                                                              "trainer_state",
                                                              "dataloader",
                                                              "args",
                                                              "client_state"});

template <class Table>
bool Has(const Table& table, std::string_view component) {
  return std::ranges::find(table, component) != table.end();
}

bool IsDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// "chained_0" of "chained_".
bool IsNumbered(std::string_view component, std::string_view begin) {
  return component.starts_with(begin) && IsDigits(component.substr(begin.size()));
}

bool IsOptimizer(std::string_view component) {
  return Has(kOptimizerAnywhere, component) || IsNumbered(component, "chained_");
}

bool IsRandom(std::string_view component) {
  return Has(kRandomnessAnywhere, component) || IsNumbered(component, "rng_state_");
}

std::vector<std::string_view> Components(std::string_view name) {
  std::vector<std::string_view> components;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find_first_of("./", begin), name.size());
    components.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return components;
}

}  // namespace

std::string_view TensorRoleName(TensorRole role) {
  switch (role) {
    case TensorRole::kWeight:
      return "weights";
    case TensorRole::kOptimizer:
      return "optimizer";
    case TensorRole::kRandomness:
      return "randomness";
    case TensorRole::kOther:
      return "other";
    case TensorRole::kUnsaved:
      return "unsaved";
  }
  Abort("unknown TensorRole");
}

TensorRole RoleOf(std::string_view name) {
  const std::vector<std::string_view> components = Components(name);
  const std::string_view first = components.front();
  if (first == "rng" || std::ranges::any_of(components, IsRandom)) return TensorRole::kRandomness;
  if (Has(components, kUnsavedComponent)) return TensorRole::kUnsaved;
  if (std::ranges::any_of(components, IsOptimizer)) return TensorRole::kOptimizer;
  if (first == "state" && components.size() > 2 && IsDigits(components[1])) {
    return TensorRole::kOptimizer;
  }
  return Has(kOtherFirst, first) ? TensorRole::kOther : TensorRole::kWeight;
}

}  // namespace rharness
