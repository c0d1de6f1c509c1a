// The role of a tensor of a checkpoint, judged by its name alone.
//
// Role: separates weights from other state of training, so that each can be compared for itself.
// Pure. A name is cut into components at '.' and '/'. The first row that fits decides:
//
//   role         where                 components
//   kRandomness  anywhere              rng_state, rng_states, cuda_rng_state, cpu_rng_state,
//                                      torch_rng_state, np_rng_state, numpy_rng_state,
//                                      random_rng_state, python_rng_state, xla_rng_state,
//                                      rng_tracker_states, rng_state_0, rng_state_1, ...
//                first                 rng
//   kUnsaved     anywhere              (unsaved): what the reader of a pickled module puts before
//   what
//                                      its state_dict() leaves out
//   kOptimizer   anywhere              optimizer, optimizers, optim, optimizer_state,
//                                      optimizer_states, optimizer_state_dict,
//                                      base_optimizer_state, opt_state, optimizer_weights,
//                                      chained_0, chained_1, ... (Megatron),
//                                      master_weights, master_weight, master_params, fp32_param,
//                                      fp32_params, fp32_from_fp16_params, fp32_flat_groups,
//                                      single_partition_of_fp32_groups (DeepSpeed),
//                                      exp_avg, exp_avg_sq, max_exp_avg_sq, exp_avg_sq_row,
//                                      exp_avg_sq_col, exp_inf, momentum_buffer, square_avg,
//                                      grad_avg, acc_delta
//                first                 state, followed by a number (torch.optim's state_dict())
//   kOther       first                 step, global_step, global_steps, iteration, epoch, loops,
//                                      callbacks, hyper_parameters, training_args,
//                                      native_amp_scaling_state, amp_scaling_state (Lightning),
//                                      scaler, grad_scaler, scheduler, schedulers, lr_scheduler,
//                                      lr_schedulers, opt_param_scheduler, train_state,
//                                      trainer_state, dataloader, args, client_state
//   kWeight      everything else       buffers such as running_mean among them
//
// A step counter inside of an optimizer's state is the optimizer's. Sources: torch.optim,
// torch.distributed.checkpoint, and the checkpoints of Megatron-LM, DeepSpeed, PyTorch Lightning
// and Hugging Face Accelerate.
#ifndef RHARNESS_COMPARE_WEIGHTS_ROLES_H_
#define RHARNESS_COMPARE_WEIGHTS_ROLES_H_

#include <string_view>

namespace rharness {

enum class TensorRole { kWeight, kOptimizer, kRandomness, kOther, kUnsaved };

// "weights", "optimizer", "randomness", "other", "unsaved"
std::string_view TensorRoleName(TensorRole role);

inline constexpr std::string_view kUnsavedComponent = "(unsaved)";

TensorRole RoleOf(std::string_view name);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_ROLES_H_
