// Files beside the tensors: which ones are loaded with them, and how two differ.
//
// Role: classifies a folder's files by their names (checkpoint_folder, subfolders), and compares
// two of them (compare_checkpoints). Names are case-insensitive.
//
//   what decides, since it is loaded with the tensors or defines what they mean
//     settings      config.json, *_config.json, params.json, model_index.json, modules.json; of
//                   unknown names *.json, *.yaml, *.yml, *.toml, *.cfg, *.ini
//     vocabularies  tokenizer*, vocab*, merges.txt, dict.txt, encoder.json, tekken.json,
//                   added_tokens.json, special_tokens_map.json; *.model, *.spm, *.tiktoken,
//                   *.vocab, *.bpe
//     templates     chat_template*, *.jinja
//     code          *.py
//   what is context and decides nothing
//     of a trainer  trainer_state.json, training_args.*, optimizer.{pt,pth,bin},
//                   scheduler.{pt,bin}, scaler.{pt,bin}, *optim_states.pt, rng_state*,
//                   random_states_*, sampler*, dl_state_dict*, latest*, zero_to_fp32.py,
//                   *results.json, *metrics*.json, *history*.json, requirements.txt
//     logs          *tfevents*, *.log, *.out, *.err, *.csv, *.tsv, *.jsonl; what is a text in a
//                   folder logs, runs, wandb, tensorboard, mlruns or __pycache__
//     documents     readme*, license*, notice*, *.md, *.rst, *.html, *.pdf, images, *.gz, *.pyc
//     hidden        names and folders that begin with a dot
//     other texts   texts of other names
// Source: save_pretrained of transformers, diffusers, peft and sentence-transformers; the Trainer
// of transformers; Accelerate; DeepSpeed;
// keras/src/saving/{saving_lib,serialization_lib}.py.
#ifndef RHARNESS_COMPARE_WEIGHTS_SIDE_FILES_H_
#define RHARNESS_COMPARE_WEIGHTS_SIDE_FILES_H_

#include <filesystem>
#include <optional>
#include <string>

#include "compare/weights/checkpoint.h"
#include "harness/base/result.h"

namespace rharness {

enum class SideFile {
  kModel,     // in the first list under a name of its own
  kContext,   // likewise in the second list
  kSettings,  // settings of an unknown name
  kUnknown,
};
// By its path below the checkpoint's folder.
SideFile SideFileOf(const std::filesystem::path& relative);

// How two parts differ, as a clause; empty: equal. JSON objects are compared by content, with the
// first members that differ, at any depth: white space and the order of members do not count,
// torch_dtype and dtype are one member, and these do not describe the model: transformers_version,
// _diffusers_version, peft_version, _name_or_path, name_or_path, _commit_hash, _from_model_config,
// _attn_implementation_autoset, special_tokens_map_file, tokenizer_file, Keras's shared_object_id,
// an address in memory, and when something was written: a date with a time of day, or seconds since
// 1970, under a name that speaks of time.
// Errors: io, integrity (a file that changed).
Result<std::optional<std::string>> DifferenceOf(const UnreadPart& a, const UnreadPart& b);

// Of two parts that are equal by it: how they differ in what does not describe the model.
Result<std::optional<std::string>> SilentDifferenceOf(const UnreadPart& a, const UnreadPart& b);

// What is known of a part when its bytes are gone.
struct PartDigest {
  std::string name;
  std::string
      sha256;  // hex, of what DifferenceOf compares: the content of JSON, the bytes of all else
  std::string text;  // that content, if it is a JSON object of at most kMaxPartText bytes
};
inline constexpr std::size_t kMaxPartText = 4096;
Result<PartDigest> DigestOf(const UnreadPart& part);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_SIDE_FILES_H_
