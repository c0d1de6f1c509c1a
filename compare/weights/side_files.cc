// Tables of names, and JSON compared by its members.
#include "compare/weights/side_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "compare/weights/checkpoint_folder.h"
#include "compare/weights/input_file.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/json.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostJsonBytes = std::uint64_t{64} << 20;

constexpr auto kContextNames = std::to_array<std::string_view>(
    {"optimizer.pt", "optimizer.pth", "optimizer.bin", "scheduler.pt", "scheduler.bin", "scaler.pt",
     "scaler.bin", "zero_to_fp32.py", "requirements.txt"});
constexpr auto kTrainerBeginnings = std::to_array<std::string_view>(
    {"trainer_state", "training_args", "rng_state", "random_states_", "sampler", "dl_state_dict"});
constexpr auto kContextBeginnings =
    std::to_array<std::string_view>({".", "latest", "readme", "license", "notice"});
constexpr auto kContextEndings = std::to_array<std::string_view>(
    {".log", ".out", ".err", ".csv", ".tsv", ".jsonl", ".md", ".rst", ".html", ".pdf", ".png",
     ".jpg", ".jpeg", ".gif", ".svg", ".gz", ".pyc", "results.json"});

constexpr auto kModelNames = std::to_array<std::string_view>(
    {"config.json", "params.json", "model_index.json", "modules.json", "merges.txt", "dict.txt",
     "encoder.json", "tekken.json", "added_tokens.json", "special_tokens_map.json"});
constexpr auto kModelBeginnings =
    std::to_array<std::string_view>({"tokenizer", "vocab", "chat_template"});
constexpr auto kModelEndings = std::to_array<std::string_view>(
    {"_config.json", ".jinja", ".py", ".model", ".spm", ".tiktoken", ".vocab", ".bpe"});

constexpr auto kSettingsEndings =
    std::to_array<std::string_view>({".json", ".yaml", ".yml", ".toml", ".cfg", ".ini"});

constexpr auto kLogFolders = std::to_array<std::string_view>(
    {"logs", "runs", "wandb", "tensorboard", "mlruns", "__pycache__"});

constexpr auto kSilentMembers = std::to_array<std::string_view>(
    {"transformers_version", "_diffusers_version", "peft_version", "_name_or_path", "name_or_path",
     "_commit_hash", "_from_model_config", "_attn_implementation_autoset",
     "special_tokens_map_file", "tokenizer_file", "shared_object_id", "date_saved"});

bool IsOneOf(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}
bool BeginsLike(const auto& beginnings, std::string_view name) {
  return std::ranges::any_of(beginnings, [&](auto one) { return name.starts_with(one); });
}
bool EndsLike(const auto& endings, std::string_view name) {
  return std::ranges::any_of(endings, [&](auto one) { return name.ends_with(one); });
}

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool IsContext(std::string_view name) {
  if (IsOneOf(kContextNames, name) || BeginsLike(kTrainerBeginnings, name) ||
      name.ends_with("optim_states.pt")) {
    return true;
  }
  if (IsCheckpointName(name)) return false;
  const bool measured = name.ends_with(".json") &&
                        (name.find("metrics") != name.npos || name.find("history") != name.npos);
  return measured || BeginsLike(kContextBeginnings, name) || EndsLike(kContextEndings, name) ||
         name.find("tfevents") != name.npos;
}

// An object without its uninformative members, sorted by name.
Json Essence(const Json& json) {
  if (json.IsArray()) {
    Json::Array elements;
    for (const Json& element : json.AsArray()) elements.push_back(Essence(element));
    return Json::MakeArray(std::move(elements));
  }
  if (!json.IsObject()) return json;
  Json::Members members;
  for (const auto& [name, value] : json.AsObject()) {
    if (IsOneOf(kSilentMembers, name)) continue;
    const bool renamed = name == "torch_dtype" && json.Find("dtype") == nullptr;
    members.emplace_back(renamed ? "dtype" : name, Essence(value));
  }
  std::ranges::sort(members, {}, &Json::Member::first);
  return Json::MakeObject(std::move(members));
}

Result<std::optional<Json>> EssenceOf(const UnreadPart& part) {
  std::string text = part.content;
  if (part.file != nullptr && part.size_bytes <= kMostJsonBytes) {
    text.resize(part.size_bytes);
    RETURN_IF_ERROR(part.file->ReadAt(part.begin, std::as_writable_bytes(std::span(text))));
  }
  const auto json = ParseJson(text, part.name);
  if (!json.ok() || !json->IsObject()) return std::optional<Json>();
  return std::optional<Json>(Essence(*json));
}

std::string Short(const Json* value) {
  if (value == nullptr) return "absent";
  constexpr std::size_t kMost = 40;
  std::string text = value->Dump();
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return TerminalSafe(text);
}

// "rope_theta (10000.0 in A, 500000.0 in B), vocab and 3 more"
std::string DifferingMembers(const Json& a, const Json& b) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> names;
  for (const auto& [name, value] : a.AsObject()) {
    const Json* other = b.Find(name);
    if (other == nullptr || other->Dump() != value.Dump()) names.push_back(name);
  }
  for (const auto& [name, value] : b.AsObject()) {
    if (a.Find(name) == nullptr) names.push_back(name);
  }
  std::vector<std::string> told;
  for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i) {
    told.push_back(fmt::format("{} ({} in A, {} in B)", TerminalSafe(names[i]),
                               Short(a.Find(names[i])), Short(b.Find(names[i]))));
  }
  const std::size_t more = names.size() - told.size();
  return fmt::format("{}{}", fmt::join(told, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

}  // namespace

SideFile SideFileOf(const fs::path& relative) {
  for (const fs::path& folder : relative.parent_path()) {
    if (folder.string().starts_with('.')) return SideFile::kContext;
  }
  const std::string name = Lower(relative.filename().string());
  if (IsContext(name)) return SideFile::kContext;
  for (const fs::path& folder : relative.parent_path()) {
    if (IsOneOf(kLogFolders, Lower(folder.string()))) return SideFile::kUnknown;
  }
  if (IsOneOf(kModelNames, name) || BeginsLike(kModelBeginnings, name) ||
      EndsLike(kModelEndings, name)) {
    return SideFile::kModel;
  }
  return EndsLike(kSettingsEndings, name) ? SideFile::kSettings : SideFile::kUnknown;
}

Result<std::optional<std::string>> DifferenceOf(const UnreadPart& a, const UnreadPart& b) {
  ASSIGN_OR_RETURN(const bool same, SameBytes(a, b));
  if (same) return std::optional<std::string>();
  const bool bytes =
      (a.file != nullptr || !a.content.empty()) && (b.file != nullptr || !b.content.empty());
  if (!bytes) return std::optional<std::string>("there are no bytes to compare");
  if (a.name.ends_with(".json") && b.name.ends_with(".json")) {
    ASSIGN_OR_RETURN(const auto in_a, EssenceOf(a));
    ASSIGN_OR_RETURN(const auto in_b, EssenceOf(b));
    if (in_a && in_b) {
      if (in_a->Dump() == in_b->Dump()) return std::optional<std::string>();
      return std::optional<std::string>("they differ in " + DifferingMembers(*in_a, *in_b));
    }
  }
  return std::optional<std::string>("the bytes differ");
}

Result<std::string> DigestOf(const UnreadPart& part) {
  Sha256 sha;
  if (part.name.ends_with(".json")) {
    ASSIGN_OR_RETURN(const auto essence, EssenceOf(part));
    if (essence) {
      sha.Update(essence->Dump());
      return ToHex(sha.Finish());
    }
  }
  sha.Update(part.content);
  std::vector<std::byte> bytes(part.file == nullptr ? 0 : kReadBlockBytes);
  for (std::uint64_t done = 0; part.file != nullptr && done < part.size_bytes;) {
    const auto size = std::min<std::uint64_t>(kReadBlockBytes, part.size_bytes - done);
    const auto block = std::span(bytes).first(size);
    RETURN_IF_ERROR(part.file->ReadAt(part.begin + done, block));
    sha.Update(block);
    done += size;
  }
  return ToHex(sha.Finish());
}

}  // namespace rharness
