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

// A moment at which something was written: a name that speaks of time, and a date with a time of
// day, or seconds or milliseconds since 1970, after 2001.
bool IsMoment(std::string_view name, const Json& value) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"time", "date", "created", "saved", "updated", "modified", "started", "finished"});
  const std::string lower = Lower(std::string(name));
  const bool named = std::ranges::any_of(
      kWords, [&](std::string_view word) { return lower.find(word) != lower.npos; });
  if (!named) return false;
  if (value.kind() != Json::Kind::kString) {
    const std::optional<double> number = value.ToDouble();
    return number && *number >= 1e9 && *number < 1e13;
  }
  constexpr std::string_view kForm = "0000-00-00 00:00";  // what is no digit may be another mark
  const std::string& text = value.AsString();
  if (text.size() < kForm.size()) return false;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return std::ranges::equal(kForm, std::string_view(text).substr(0, kForm.size()),
                            [&](char form, char c) { return is_digit(form) == is_digit(c); });
}

// Whether the members that do not describe the model stay.
enum class Silent { kDropped, kKept };

// An object's members sorted by name.
Json Sorted(const Json& json, Silent silent) {
  if (json.IsArray()) {
    Json::Array elements;
    for (const Json& element : json.AsArray()) elements.push_back(Sorted(element, silent));
    return Json::MakeArray(std::move(elements));
  }
  if (!json.IsObject()) return json;
  Json::Members members;
  for (const auto& [name, value] : json.AsObject()) {
    const bool says_nothing = IsOneOf(kSilentMembers, name) || IsMoment(name, value);
    if (silent == Silent::kDropped && says_nothing) continue;
    const bool renamed = name == "torch_dtype" && json.Find("dtype") == nullptr;
    members.emplace_back(renamed ? "dtype" : name, Sorted(value, silent));
  }
  std::ranges::sort(members, {}, &Json::Member::first);
  return Json::MakeObject(std::move(members));
}

// By its name, or as what a file says in a form of its own.
bool MayBeJson(const UnreadPart& part) {
  return part.name.ends_with(".json") || part.file == nullptr;
}

// None: it is no JSON object.
Result<std::optional<Json>> JsonOf(const UnreadPart& part) {
  std::string text = part.content;
  if (part.file != nullptr && part.size_bytes <= kMostJsonBytes) {
    text.resize(part.size_bytes);
    RETURN_IF_ERROR(part.file->ReadAt(part.begin, std::as_writable_bytes(std::span(text))));
  }
  auto json = ParseJson(text, part.name);
  if (!json.ok() || !json->IsObject()) return std::optional<Json>();
  return std::optional<Json>(std::move(*json));
}

std::string Short(const Json* value) {
  if (value == nullptr) return "absent";
  constexpr std::size_t kMost = 40;
  std::string text = value->Dump();
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return TerminalSafe(text);
}

// The members, at any depth, in which two values differ: the first ones by their paths, all by
// their number.
class DifferingMembers {
 public:
  DifferingMembers(const Json& a, const Json& b) { Add("", &a, &b); }

  bool none() const { return count_ == 0; }
  // "rope_theta (10000.0 in A, 500000.0 in B), text_config.act (...) and 3 more"
  std::string InWords() const {
    const std::size_t more = count_ - told_.size();
    return fmt::format("{}{}", fmt::join(told_, ", "),
                       more == 0 ? "" : fmt::format(" and {} more", more));
  }

 private:
  static bool HasMembers(const Json& json) {
    return json.IsObject() ||
           (json.IsArray() && std::ranges::any_of(json.AsArray(), [](const Json& element) {
              return element.IsObject() || element.IsArray();
            }));
  }

  void Add(const std::string& path, const Json* a, const Json* b) {
    static const Json kNoMembers = Json::MakeObject();
    // Of the file itself, which has no name.
    if (path.empty() && a == nullptr && b->IsObject()) a = &kNoMembers;
    if (path.empty() && b == nullptr && a->IsObject()) b = &kNoMembers;
    if (a != nullptr && b != nullptr) {
      if (a->IsObject() && b->IsObject()) return AddObjects(path, a->AsObject(), b->AsObject());
      const bool lists = a->IsArray() && b->IsArray() && (HasMembers(*a) || HasMembers(*b)) &&
                         a->AsArray().size() == b->AsArray().size();
      for (std::size_t i = 0; lists && i < a->AsArray().size(); ++i) {
        Add(Below(path, fmt::format("{}", i)), &a->AsArray()[i], &b->AsArray()[i]);
      }
      if (lists || a->Dump() == b->Dump()) return;
    }
    if (++count_ > kNamed) return;
    told_.push_back(fmt::format("{} ({} in A, {} in B)", TerminalSafe(path), Short(a), Short(b)));
  }

  // Both are sorted by name.
  void AddObjects(const std::string& path, const Json::Members& a, const Json::Members& b) {
    for (auto in_a = a.begin(), in_b = b.begin(); in_a != a.end() || in_b != b.end();) {
      const bool first = in_b == b.end() || (in_a != a.end() && in_a->first <= in_b->first);
      const bool both = first && in_b != b.end() && in_a->first == in_b->first;
      Add(Below(path, first ? in_a->first : in_b->first), first ? &in_a->second : nullptr,
          both || !first ? &in_b->second : nullptr);
      if (both || !first) ++in_b;
      if (first) ++in_a;
    }
  }

  static std::string Below(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
  }

  static constexpr std::size_t kNamed = 3;
  std::vector<std::string> told_;
  std::size_t count_ = 0;
};

// How two JSON objects differ; none: a side is none.
Result<std::optional<DifferingMembers>> MembersThatDiffer(const UnreadPart& a, const UnreadPart& b,
                                                          Silent silent) {
  if (!MayBeJson(a) || !MayBeJson(b)) return std::optional<DifferingMembers>();
  ASSIGN_OR_RETURN(const auto in_a, JsonOf(a));
  ASSIGN_OR_RETURN(const auto in_b, JsonOf(b));
  if (!in_a || !in_b) return std::optional<DifferingMembers>();
  return std::optional(DifferingMembers(Sorted(*in_a, silent), Sorted(*in_b, silent)));
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
  ASSIGN_OR_RETURN(const auto members, MembersThatDiffer(a, b, Silent::kDropped));
  if (!members) return std::optional<std::string>("the bytes differ");
  if (members->none()) return std::optional<std::string>();
  return std::optional<std::string>("they differ in " + members->InWords());
}

Result<std::optional<std::string>> SilentDifferenceOf(const UnreadPart& a, const UnreadPart& b) {
  ASSIGN_OR_RETURN(const auto members, MembersThatDiffer(a, b, Silent::kKept));
  if (!members || members->none()) return std::optional<std::string>();
  return std::optional<std::string>("they differ only in " + members->InWords() +
                                    ", which does not describe the model");
}

Result<PartDigest> DigestOf(const UnreadPart& part) {
  PartDigest digest{.name = part.name, .sha256 = {}, .text = {}};
  if (MayBeJson(part)) {
    ASSIGN_OR_RETURN(const auto json, JsonOf(part));
    if (json) {
      std::string text = Sorted(*json, Silent::kDropped).Dump();
      digest.sha256 = Sha256HexOf(text);
      if (text.size() <= kMaxPartText) digest.text = std::move(text);
      return digest;
    }
  }
  Sha256 sha;
  sha.Update(part.content);
  std::vector<std::byte> bytes(part.file == nullptr ? 0 : kReadBlockBytes);
  for (std::uint64_t done = 0; part.file != nullptr && done < part.size_bytes;) {
    const auto size = std::min<std::uint64_t>(kReadBlockBytes, part.size_bytes - done);
    const auto block = std::span(bytes).first(size);
    RETURN_IF_ERROR(part.file->ReadAt(part.begin + done, block));
    sha.Update(block);
    done += size;
  }
  digest.sha256 = ToHex(sha.Finish());
  return digest;
}

}  // namespace rharness
