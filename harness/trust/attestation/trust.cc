// Trust policies: YAML in, keys and rules out.
#include "harness/trust/attestation/trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/glob.h"
#include "harness/base/json_reader.h"
#include "harness/net/yaml.h"
#include "harness/records/manifest/fields.h"
#include "harness/records/policy/policy.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostPolicyBytes = 1 << 20;
constexpr std::uint64_t kMostPublicKeyBytes = 1 << 16;
constexpr std::size_t kMostTrustedKeys = 256;
constexpr std::size_t kMostTrustRules = 1000;
constexpr std::size_t kDayLength = 10;

bool MatchesAny(const std::vector<std::string>& globs, std::string_view text) {
  return std::ranges::any_of(globs, [&](const auto& glob) { return GlobMatches(glob, text); });
}

// A list that is there is not empty: it would mean none, and be read as all.
void ReadGlobs(JsonReader& reader, std::string_view key, std::vector<std::string>* out) {
  if (!reader.Has(key)) {
    *out = {"*"};
    return;
  }
  reader.ReadArray(key, out);
  if (reader.ok() && out->empty()) reader.Fail("expected at least one pattern", key);
}

// The start of the day: ParseEndOfDay minus one day for a date; a time unchanged.
void ReadFrom(JsonReader& reader, std::optional<WallTime>* out) {
  std::string text;
  if (!reader.Has("from")) return;
  reader.Read("from", &text);
  if (!reader.ok()) return;
  const auto end = ParseEndOfDay(text);
  if (!end.ok()) return reader.Fail(end.error().message, "from");
  *out = text.size() == kDayLength ? *end - std::chrono::days(1) : *end;
}

void ReadUntil(JsonReader& reader, std::optional<WallTime>* out) {
  std::string text;
  if (!reader.Has("until")) return;
  reader.Read("until", &text);
  if (!reader.ok()) return;
  const auto end = ParseEndOfDay(text);
  if (!end.ok()) return reader.Fail(end.error().message, "until");
  *out = *end;
}

class TrustReader {
 public:
  explicit TrustReader(const fs::path& file) : folder_(file.parent_path()) {}

  void Read(JsonReader& reader) {
    RefuseUnknownMembers(reader, {"version", "keys", "rules"});
    int version = 0;
    reader.Read("version", &version);
    if (reader.ok() && version != 1) {
      reader.Fail(fmt::format("version {} of a trust policy; this program reads 1", version),
                  "version");
    }
    RequireList(reader, "keys", kMostTrustedKeys);
    RequireList(reader, "rules", kMostTrustRules);
    reader.ForEach("keys", [&](JsonReader& one) { ReadKey(one); });
    reader.ForEach("rules", [&](JsonReader& one) { ReadRule(one); });
  }
  TrustPolicy& policy() { return policy_; }

 private:
  static void RequireList(JsonReader& reader, std::string_view key, std::size_t most) {
    if (!reader.ok()) return;
    const Json* list = reader.json().Find(key);
    const std::size_t count = list != nullptr && list->IsArray() ? list->AsArray().size() : 0;
    if (count == 0 || count > most) {
      reader.Fail(fmt::format("expected a list of 1 to {}", most), key);
    }
  }

  void ReadKey(JsonReader& reader) {
    RefuseUnknownMembers(reader, {"name", "owner", "public_key", "pem", "from", "until"});
    std::string name, owner;
    std::optional<WallTime> from, until;
    ReadName(reader, "name", &name);
    ReadName(reader, "owner", &owner);
    ReadFrom(reader, &from);
    ReadUntil(reader, &until);
    if (!reader.ok()) return;
    if (from && until && *until <= *from) reader.Fail("is over before it begins", "until");
    auto key = ReadPublicKey(reader);
    if (!key) return;
    for (const TrustedKey& known : policy_.keys) {
      if (known.name == name) reader.Fail("a second key of this name", "name");
      if (known.key.id() == key->id()) {
        reader.Fail(fmt::format("the key of '{}', which would count twice", known.name));
      }
    }
    policy_.keys.push_back({std::move(name), std::move(owner), std::move(*key), from, until});
  }

  std::optional<PublicKey> ReadPublicKey(JsonReader& reader) const {
    if (reader.Has("public_key") == reader.Has("pem")) {
      reader.Fail("expected either public_key, a file, or pem, its text");
      return std::nullopt;
    }
    std::string text, file;
    if (reader.Has("pem")) {
      reader.Read("pem", &text);
    } else {
      reader.Read("public_key", &file);
    }
    if (!reader.ok()) return std::nullopt;
    if (!file.empty()) {
      auto content = rharness::ReadFile(folder_ / file, kMostPublicKeyBytes);
      if (!content.ok()) {
        reader.Fail(TerminalSafe(content.error().ToString()), "public_key");
        return std::nullopt;
      }
      text = std::move(*content);
    }
    auto key = PublicKey::FromPem(text, (folder_ / file).string());
    if (key.ok()) return std::move(*key);
    reader.Fail(key.error().message, file.empty() ? "pem" : "public_key");
    return std::nullopt;
  }

  void ReadRule(JsonReader& reader) {
    RefuseUnknownMembers(reader, {"predicates", "families", "keys", "threshold"});
    TrustRule rule;
    ReadGlobs(reader, "predicates", &rule.predicates);
    ReadGlobs(reader, "families", &rule.families);
    std::vector<std::string> names;
    reader.ReadArray("keys", &names);
    int threshold = 1;
    reader.ReadOptional("threshold", &threshold);
    if (!reader.ok()) return;
    for (const std::string& name : names) {
      const auto known = std::ranges::find(policy_.keys, name, &TrustedKey::name);
      const auto at = static_cast<std::size_t>(known - policy_.keys.begin());
      if (known == policy_.keys.end()) {
        return reader.Fail(
            fmt::format("'{}' is none of the keys above", TerminalSafe(name.substr(0, 80))),
            "keys");
      }
      if (std::ranges::find(rule.keys, at) != rule.keys.end()) {
        return reader.Fail(fmt::format("'{}' is there twice", name), "keys");
      }
      rule.keys.push_back(at);
    }
    if (rule.keys.empty()) return reader.Fail("expected the name of at least one key", "keys");
    if (threshold < 1 || static_cast<std::size_t>(threshold) > rule.keys.size()) {
      return reader.Fail(fmt::format("{}; expected 1 to {}, the number of the rule's keys",
                                     threshold, rule.keys.size()),
                         "threshold");
    }
    rule.threshold = static_cast<std::size_t>(threshold);
    policy_.rules.push_back(std::move(rule));
  }

  fs::path folder_;
  TrustPolicy policy_;
};

}  // namespace

bool TrustedKey::HoldsAt(WallTime time) const {
  return (!from || *from <= time) && (!until || time < *until);
}

bool TrustRule::IsFor(std::string_view predicate, std::string_view family) const {
  return MatchesAny(predicates, predicate) && MatchesAny(families, family);
}

const TrustRule* TrustPolicy::FindRule(std::string_view predicate, std::string_view family) const {
  const auto rule = std::ranges::find_if(
      rules, [&](const TrustRule& one) { return one.IsFor(predicate, family); });
  return rule == rules.end() ? nullptr : &*rule;
}

bool TrustRule::IsForEveryFamily() const {
  return std::ranges::any_of(families, [](const std::string& glob) {
    return !glob.empty() && glob.find_first_not_of('*') == glob.npos;
  });
}

const TrustRule* TrustPolicy::StricterBefore(std::size_t rule, std::string_view predicate) const {
  const TrustRule& weak = rules[rule];
  if (!weak.IsForEveryFamily()) return nullptr;
  const auto asks_more = [&](const TrustRule& one) {
    const bool others = std::ranges::any_of(weak.keys, [&](std::size_t key) {
      return std::ranges::find(one.keys, key) == one.keys.end();
    });
    return MatchesAny(one.predicates, predicate) && !one.IsForEveryFamily() &&
           (one.threshold > weak.threshold || others);
  };
  const auto end = rules.begin() + static_cast<std::ptrdiff_t>(rule);
  const auto found = std::find_if(rules.begin(), end, asks_more);
  return found == end ? nullptr : &*found;
}

Result<TrustPolicy> ParseTrustPolicy(std::string_view yaml, const fs::path& file) {
  if (yaml.size() > kMostPolicyBytes) {
    return InvalidInput(
        fmt::format("{} bytes; a trust policy has at most {}", yaml.size(), kMostPolicyBytes),
        file.string());
  }
  ASSIGN_OR_RETURN(const Json json, ParseYamlAsJson(yaml, file.string()));
  if (!json.IsObject()) return InvalidInput("expected a trust policy as a mapping", file.string());
  JsonReader reader(json, file.string());
  TrustReader policy(file);
  policy.Read(reader);
  RETURN_IF_ERROR(reader.status());
  return std::move(policy.policy());
}

Result<TrustPolicy> LoadTrustPolicy(const fs::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostPolicyBytes));
  return ParseTrustPolicy(text, path);
}

}  // namespace rharness
