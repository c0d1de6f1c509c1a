// Statements of the manifest, the command and the image; the table of names.
#include "harness/records/lint/statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "harness/records/lint/words.h"

namespace rharness {
namespace {

struct Synonym {
  std::string_view name;
  std::string_view subject;
};

// Synonyms in frameworks and scripts, mapped to one name. Sources: the argument lists of
// transformers.TrainingArguments, Megatron-LM, torchrun, PyTorch Lightning's Trainer, and the keys
// of MLCommons' logs.
constexpr std::array<Synonym, 47> kSynonyms = {{
    {"lr", "learning_rate"},
    {"base_lr", "learning_rate"},
    {"opt_base_learning_rate", "learning_rate"},
    {"random_seed", "seed"},
    {"manual_seed", "seed"},
    {"random_state", "seed"},
    {"global_seed", "seed"},
    {"pythonhashseed", "hash_seed"},
    {"bs", "batch_size"},
    {"per_device_train_batch_size", "batch_size"},
    {"per_device_batch_size", "batch_size"},
    {"train_micro_batch_size_per_gpu", "batch_size"},
    {"micro_batch_size", "batch_size"},
    {"train_batch_size", "global_batch_size"},
    {"total_batch_size", "global_batch_size"},
    {"total_train_batch_size", "global_batch_size"},
    {"gradient_accumulation", "accumulation"},
    {"gradient_accumulation_steps", "accumulation"},
    {"grad_accum", "accumulation"},
    {"accumulate_grad_batches", "accumulation"},
    {"max_steps", "steps at most"},
    {"num_steps", "steps"},
    {"train_steps", "steps"},
    {"total_steps", "steps"},
    {"train_iters", "steps"},
    {"max_iters", "steps at most"},
    {"iterations", "steps"},
    {"num_epochs", "epochs"},
    {"max_epochs", "epochs"},
    {"num_train_epochs", "epochs"},
    {"n_epochs", "epochs"},
    {"world_size", "devices"},
    {"num_gpus", "devices"},
    {"n_gpu", "devices"},
    {"n_gpus", "devices"},
    {"ngpus", "devices"},
    {"gpus", "devices"},
    {"num_devices", "devices"},
    {"nproc_per_node", "devices_per_node"},
    {"num_nodes", "nodes"},
    {"nnodes", "nodes"},
    {"torch", "version of torch"},
    {"pytorch", "version of torch"},
    {"pytorch_version", "version of torch"},
    {"cuda_version", "version of cuda"},
    {"cudnn_version", "version of cudnn"},
    {"nccl_version", "version of nccl"},
}};

constexpr std::array<std::string_view, 10> kAlways = {
    "seed",          "batch_size", "global_batch_size", "learning_rate",   "accumulation", "steps",
    "steps at most", "epochs",     "devices",           "devices_per_node"};

// Those whose versions images and logs name.
struct Library {
  std::string_view word;
  std::string_view subject;
};
constexpr std::array<Library, 10> kLibraries = {{
    {"pytorch", "version of torch"},
    {"torch", "version of torch"},
    {"cuda", "version of cuda"},
    {"cudnn", "version of cudnn"},
    {"nccl", "version of nccl"},
    {"tensorflow", "version of tensorflow"},
    {"jax", "version of jax"},
    {"rocm", "version of rocm"},
    {"python", "version of python"},
    {"py", "version of python"},
}};

std::string ValueText(const Json& value) {
  return value.kind() == Json::Kind::kString ? value.AsString() : value.Dump();
}

void AddHyperparameters(const Manifest& manifest, std::vector<Statement>* statements) {
  for (const auto& [name, value] : manifest.hyperparameters) {
    if (value.IsArray() || value.IsObject() || value.IsNull()) continue;
    statements->push_back({SubjectOf(name), ValueText(value), Witness::kManifest,
                           fmt::format("$.hyperparameters.{}", name)});
  }
  for (const auto& [name, seed] : manifest.seeds) {
    statements->push_back(
        {"seed", std::to_string(seed), Witness::kManifest, fmt::format("$.seeds.{}", name)});
  }
}

void AddEnvironment(const Environment& environment, std::vector<Statement>* statements) {
  for (const auto& [name, version] : environment.software) {
    statements->push_back({fmt::format("version of {}", LowerCase(name)), version,
                           Witness::kManifest, fmt::format("$.environment.software.{}", name)});
  }
  for (const auto& [name, value] : environment.variables) {
    if (!value || IsWithheld(*value)) continue;
    statements->push_back({fmt::format("variable {}", name), *value, Witness::kManifest,
                           fmt::format("$.environment.variables.{}", name)});
  }
}

void AddMachine(const Manifest& manifest, std::vector<Statement>* statements) {
  const std::size_t gpus = manifest.environment.hardware.gpus.size();
  if (gpus > 0) {
    statements->push_back({"devices_per_node", std::to_string(gpus), Witness::kManifest,
                           "$.environment.hardware.gpus"});
  }
}

void AddProgress(const Manifest& manifest, std::vector<Statement>* statements) {
  for (const Curve& curve : manifest.curves) {
    if (curve.steps.size() < 2) continue;
    const std::int64_t last = curve.steps.back();
    const std::int64_t gap = last - curve.steps[curve.steps.size() - 2];
    statements->push_back({"steps done", fmt::format("{} by {}", last, gap), Witness::kManifest,
                           fmt::format("$.curves, {}", curve.name)});
  }
}

// "12.1" at `from`, or nothing: digits and dots, beginning and ending with a digit.
std::string_view VersionAt(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && (IsDigit(text[end]) || text[end] == '.')) ++end;
  while (end > from && text[end - 1] == '.') --end;
  const std::string_view version = text.substr(from, end - from);
  return !version.empty() && IsDigit(version.front()) ? version : std::string_view();
}

// "cuda12.1", "torch-2.1.0", "py3.10" in a name that is parted by anything else.
void AddVersionsOfName(std::string_view name, const std::string& place,
                       std::vector<Statement>* statements) {
  const std::string lower = LowerCase(name);
  for (const Library& library : kLibraries) {
    for (auto at = lower.find(library.word); at != lower.npos;
         at = lower.find(library.word, at + 1)) {
      if (at > 0 && std::isalpha(static_cast<unsigned char>(lower[at - 1])) != 0) continue;
      std::size_t from = at + library.word.size();
      if (from < lower.size() && std::string_view("-_:v").find(lower[from]) != std::string::npos) {
        ++from;
      }
      const std::string_view version = VersionAt(lower, from);
      // "py3" is less than a version, and "pytorch:23.04" is a vendor's date.
      const bool date = from > 0 && lower[from - 1] == ':' && version.size() == 5 &&
                        version[2] == '.' && version >= "17";
      if (date || (version.find('.') == version.npos && library.word != "cudnn")) continue;
      statements->push_back(
          {std::string(library.subject), std::string(version), Witness::kImage, place});
    }
  }
}

}  // namespace

std::string SubjectOf(std::string_view name) {
  while (name.starts_with('-')) name.remove_prefix(1);
  std::string subject = LowerCase(name);
  std::ranges::replace(subject, '-', '_');
  const auto found = std::ranges::find(kSynonyms, subject, &Synonym::name);
  return found == kSynonyms.end() ? subject : std::string(found->subject);
}

std::vector<Statement> StatementsOf(const Manifest& manifest) {
  std::vector<Statement> statements;
  AddHyperparameters(manifest, &statements);
  AddEnvironment(manifest.environment, &statements);
  AddMachine(manifest, &statements);
  AddProgress(manifest, &statements);
  return statements;
}

std::vector<Statement> StatementsOfCommand(const std::vector<std::string>& command) {
  std::vector<Statement> statements;
  const auto add = [&](std::string_view name, std::string_view value, const std::string& as) {
    if (name.empty() || value.empty()) return;
    const bool variable = std::ranges::all_of(name, [](unsigned char c) {
      return std::isupper(c) != 0 || IsDigit(static_cast<char>(c)) || c == '_';
    });
    statements.push_back({variable ? fmt::format("variable {}", name) : SubjectOf(name),
                          std::string(value), Witness::kCommand, fmt::format("command: {}", as)});
  };
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string_view argument = command[i];
    const auto equals = argument.find('=');
    if (equals != argument.npos) {
      std::string_view name = argument.substr(0, equals);
      while (name.starts_with('-') || name.starts_with('+')) name.remove_prefix(1);  // hydra's, too
      add(name, argument.substr(equals + 1), command[i]);
    } else if (argument.starts_with("--") && i + 1 < command.size() &&
               !command[i + 1].starts_with("--")) {
      add(argument.substr(2), command[i + 1], fmt::format("{} {}", argument, command[i + 1]));
    }
  }
  return statements;
}

std::vector<Statement> StatementsOfImage(const Image& image) {
  std::vector<Statement> statements;
  if (image.kind == ImageKind::kHost) return statements;
  AddVersionsOfName(image.repository.substr(image.repository.rfind('/') + 1) + ":" + image.tag,
                    "$.image.tag", &statements);
  return statements;
}

std::vector<Statement> StatementsOfInspection(const Json& inspection, std::string_view file) {
  std::vector<Statement> statements;
  const Json* one = &inspection;
  if (one->IsArray()) one = one->AsArray().empty() ? nullptr : &one->AsArray().front();
  const Json* config = one == nullptr ? nullptr : one->Find("Config");
  const Json* variables = config == nullptr ? nullptr : config->Find("Env");
  if (variables == nullptr || !variables->IsArray()) return statements;
  for (const Json& entry : variables->AsArray()) {
    if (entry.kind() != Json::Kind::kString) continue;
    const std::string& text = entry.AsString();
    const auto equals = text.find('=');
    if (equals == text.npos || equals + 1 == text.size()) continue;
    const std::string name = text.substr(0, equals);
    const std::string subject = SubjectOf(name);
    const bool version = subject.starts_with("version of ");
    statements.push_back({version ? subject : fmt::format("variable {}", name),
                          text.substr(equals + 1), Witness::kImage,
                          fmt::format("{}: Config.Env, {}", file, name)});
  }
  return statements;
}

std::set<std::string> SubjectsOf(const std::vector<Statement>& statements) {
  std::set<std::string> subjects(kAlways.begin(), kAlways.end());
  for (const Statement& statement : statements) {
    if (!statement.subject.starts_with("variable ") && statement.subject != "steps done") {
      subjects.insert(statement.subject);
    }
  }
  return subjects;
}

}  // namespace rharness
