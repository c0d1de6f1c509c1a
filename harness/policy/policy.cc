// YAML to policy; the only file with yaml-cpp, whose exceptions end here.
#include "harness/policy/policy.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <set>
#include <sstream>

#include "harness/base/files.h"
#include "harness/base/glob.h"

namespace rharness {
namespace {

constexpr std::uint64_t kMostBytes = 1 << 20;
constexpr std::size_t kMostEntries = 10'000;
constexpr std::size_t kMostValues = 250'000;  // every alias counts as what it stands for
constexpr int kPolicyVersion = 1;
constexpr std::string_view kLastDay = "9999-01-01";  // later ones cannot all be written and read

using Handler = std::function<Status(const YAML::Node&)>;
struct Member {
  std::string_view name;
  bool required;
  Handler read;
};

std::string TooMany() {
  return fmt::format(
      "more than {} values, with every alias as what it stands for; a policy has at "
      "most that",
      kMostValues);
}

// Sees what a parser reads before any of it is kept, and ends it when it is too much.
class Counter : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { Add(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { Add(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string&) override {
    Add(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    Add(mark);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    Add(mark);
  }
  void OnMapEnd() override {}

 private:
  void Add(const YAML::Mark& mark) {
    if (++values_ > kMostValues) throw YAML::ParserException(mark, TooMany());
  }

  std::size_t values_ = 0;
};

// Looks at no more than two: of what follows "[]," the parser makes empty documents without end.
bool HasSecondDocument(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Counter counter;
  return parser.HandleNextDocument(counter) && parser.HandleNextDocument(counter);
}

class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  Result<Policy> Read(std::string_view yaml) {
    const std::string text(yaml);
    if (HasSecondDocument(text)) {
      return InvalidInput("a second YAML document; a policy is one", file_);
    }
    const YAML::Node root = YAML::Load(text);
    Policy policy;
    const auto each = [this](std::string_view what, auto read_one) {
      return
          [this, what, read_one](const YAML::Node& list) { return ReadList(list, what, read_one); };
    };
    RETURN_IF_ERROR(ReadMap(
        root, "a policy",
        {{"version", true, [&](const auto& node) { return ReadVersion(node); }},
         {"profiles", false, [&](const auto& node) { return ReadProfiles(node, &policy); }},
         {"substitutes", false,
          each("substitutes",
               [&](const auto& one) {
                 return ReadSubstitute(one, &policy.substitutes.emplace_back());
               })},
         {"stakes", false,
          each("stakes",
               [&](const auto& one) { return ReadStake(one, &policy.stakes.emplace_back()); })},
         {"rules", false,
          each("rules",
               [&](const auto& one) { return ReadRule(one, &policy.rules.emplace_back()); })},
         {"waivers", false,
          each("waivers",
               [&](const auto& one) { return ReadWaiver(one, &policy.waivers.emplace_back()); })},
         {"drill", false, [&](const auto& node) { return ReadDrill(node, &policy); }},
         {"require", false, each("require", [&](const auto& one) {
            return ReadText(one, "a glob", &policy.must_have.emplace_back());
          })}}));
    return policy;
  }

  Error Fail(const YAML::Mark& mark, std::string message) const {
    if (mark.is_null()) return InvalidInput(std::move(message), file_);
    return InvalidInput(std::move(message), fmt::format("{}:{}", file_, mark.line + 1));
  }

 private:
  Status Count(const YAML::Node& node) {
    if (++values_ <= kMostValues) return {};
    return Fail(node.Mark(), TooMany());
  }

  Status ReadMap(const YAML::Node& node, std::string_view what,
                 const std::vector<Member>& members) {
    RETURN_IF_ERROR(Count(node));
    if (!node.IsMap()) return Fail(node.Mark(), fmt::format("expected {} as a mapping", what));
    std::set<std::string> seen;
    for (const auto& pair : node) {
      std::string key;
      RETURN_IF_ERROR(ReadText(pair.first, "a key", &key));
      const auto member = std::ranges::find(members, key, &Member::name);
      if (member == members.end()) {
        return Fail(pair.first.Mark(), fmt::format("unknown key '{}' in {}; expected one of {}",
                                                   TerminalSafe(key), what, Names(members)));
      }
      if (!seen.insert(key).second) {
        return Fail(pair.first.Mark(), fmt::format("'{}' is there twice in {}", key, what));
      }
      RETURN_IF_ERROR(member->read(pair.second));
    }
    for (const Member& member : members) {
      if (member.required && !seen.contains(std::string(member.name))) {
        return Fail(node.Mark(), fmt::format("{} lacks '{}'", what, member.name));
      }
    }
    return {};
  }

  static std::string Names(const std::vector<Member>& members) {
    std::string names;
    for (const Member& member : members) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", member.name);
    }
    return names;
  }

  Status ReadList(const YAML::Node& node, std::string_view what, const Handler& read) {
    RETURN_IF_ERROR(Count(node));
    if (!node.IsSequence()) return Fail(node.Mark(), fmt::format("expected {} as a list", what));
    if (node.size() > kMostEntries) {
      return Fail(node.Mark(), fmt::format("{} {}; at most {}", node.size(), what, kMostEntries));
    }
    for (const YAML::Node& one : node) RETURN_IF_ERROR(read(one));
    return {};
  }

  Status ReadText(const YAML::Node& node, std::string_view what, std::string* out) {
    RETURN_IF_ERROR(Count(node));
    if (!node.IsScalar() || node.Scalar().find_first_not_of(" \t\r\n") == std::string::npos) {
      return Fail(node.Mark(), fmt::format("expected {} as text that is not empty", what));
    }
    *out = node.Scalar();
    return {};
  }

  Status ReadVersion(const YAML::Node& node) {
    std::string text;
    RETURN_IF_ERROR(ReadText(node, "the version", &text));
    if (text != std::to_string(kPolicyVersion)) {
      return Fail(node.Mark(), fmt::format("version '{}' of a policy; this program reads {}",
                                           TerminalSafe(text), kPolicyVersion));
    }
    return {};
  }

  // Which options there are, and what they take, is the command line's to know.
  Status ReadProfiles(const YAML::Node& node, Policy* policy) {
    return ReadNamed(node, "profiles", [&](const std::string& name, const auto& options) {
      Profile& profile = policy->profiles.emplace_back(Profile{.name = name, .options = {}});
      return ReadNamed(options, "a profile", [&](const std::string& option, const auto& value) {
        return ReadOption(option, value, &profile.options.emplace_back());
      });
    });
  }

  // A mapping whose keys are names.
  Status ReadNamed(const YAML::Node& node, std::string_view what,
                   const std::function<Status(const std::string&, const YAML::Node&)>& read) {
    RETURN_IF_ERROR(Count(node));
    if (!node.IsMap()) return Fail(node.Mark(), fmt::format("expected {} as a mapping", what));
    if (node.size() > kMostEntries) {
      return Fail(node.Mark(), fmt::format("{} {}; at most {}", node.size(), what, kMostEntries));
    }
    std::set<std::string> seen;
    for (const auto& pair : node) {
      std::string key;
      RETURN_IF_ERROR(ReadText(pair.first, "a name", &key));
      if (!seen.insert(key).second) {
        return Fail(pair.first.Mark(),
                    fmt::format("'{}' is there twice in {}", TerminalSafe(key), what));
      }
      RETURN_IF_ERROR(read(key, pair.second));
    }
    return {};
  }

  Status ReadOption(const std::string& name, const YAML::Node& node, ProfileOption* option) {
    option->name = name;
    option->where = fmt::format("{}:{}", file_, node.Mark().line + 1);
    if (node.IsSequence()) {
      return ReadList(node, "values", [&](const auto& one) {
        return ReadText(one, "a value", &option->values.emplace_back());
      });
    }
    return ReadText(node, "a value, or a list of values,", &option->values.emplace_back());
  }

  Status ReadSubstitute(const YAML::Node& node, Substitute* out) {
    const auto text = [this](std::string_view what, std::string* to) {
      return [this, what, to](const YAML::Node& one) { return ReadText(one, what, to); };
    };
    const auto path = [&](const YAML::Node& one) -> Status {
      std::string name;
      RETURN_IF_ERROR(ReadText(one, "the path of a fingerprint", &name));
      out->proof.push_back(std::filesystem::path(file_).parent_path() / name);
      return {};
    };
    bool dated = false;
    RETURN_IF_ERROR(ReadMap(
        node, "a substitute",
        {{"recorded", true, text("a glob of GPU models", &out->recorded)},
         {"here", true, text("a glob of GPU models", &out->here)},
         {"reason", false, text("the reason", &out->reason)},
         {"signed_by", false, text("the signature", &out->signed_by)},
         {"until", false,
          [&](const auto& one) {
            dated = true;
            return ReadDay(one, &out->until);
          }},
         {"proof", false, [&](const auto& list) { return ReadList(list, "proof", path); }}}));
    const bool answered = !out->reason.empty() && !out->signed_by.empty() && dated;
    const bool any_answer = !out->reason.empty() || !out->signed_by.empty() || dated;
    if (out->proof.size() == 2 ? !any_answer : out->proof.empty() && answered) return {};
    return Fail(node.Mark(),
                "a substitute needs either reason, signed_by and until, or a proof of two "
                "fingerprints: of the recorded hardware, and of that here");
  }

  // What a selection may say is the drill's to know.
  Status ReadStake(const YAML::Node& node, Stake* out) {
    out->where = fmt::format("{}:{}", file_, node.Mark().line + 1);
    return ReadMap(
        node, "a stake",
        {{"runs", true,
          [&](const auto& one) { return ReadText(one, "a selection of runs", &out->runs); }},
         {"stake", true, [&](const auto& one) { return ReadWeight(one, &out->stake); }}});
  }

  Status ReadWeight(const YAML::Node& node, double* out) {
    constexpr int kMost = 1'000'000;
    std::string text;
    RETURN_IF_ERROR(ReadText(node, "a stake", &text));
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
    if (error == std::errc() && end == text.data() + text.size() && *out > 0 && *out <= kMost) {
      return {};
    }
    return Fail(node.Mark(), fmt::format("'{}' is no stake; expected a number above 0, at most {}",
                                         TerminalSafe(text), kMost));
  }

  Status ReadRule(const YAML::Node& node, PolicyRule* rule) {
    return ReadMap(
        node, "a rule",
        {{"probes", true, [&](const auto& one) { return ReadText(one, "a glob", &rule->probes); }},
         {"allow", true, [&](const auto& list) {
            return ReadList(list, "allow", [&](const auto& one) { return Allow(one, rule); });
          }}});
  }

  Status Allow(const YAML::Node& node, PolicyRule* rule) {
    std::string layer;
    RETURN_IF_ERROR(ReadText(node, "a layer", &layer));
    bool* allowed = layer == "choice" ? &rule->choice
                    : layer == "tree" ? &rule->tree
                    : layer == "bits" ? &rule->bits
                                      : nullptr;
    if (allowed == nullptr) {
      return Fail(node.Mark(), fmt::format("expected choice, tree or bits in allow, found '{}'",
                                           TerminalSafe(layer)));
    }
    *allowed = true;
    return {};
  }

  Status ReadWaiver(const YAML::Node& node, Waiver* waiver) {
    const auto text = [this](std::string_view what, std::string* out) {
      return [this, what, out](const YAML::Node& one) { return ReadText(one, what, out); };
    };
    return ReadMap(
        node, "a waiver",
        {{"probes", true, text("a glob", &waiver->probes)},
         {"reason", true, text("the reason", &waiver->reason)},
         {"signed_by", true, text("the signature", &waiver->signed_by)},
         {"until", true, [&](const auto& one) { return ReadDay(one, &waiver->until); }}});
  }

  Status ReadDay(const YAML::Node& node, WallTime* end) {
    std::string text;
    RETURN_IF_ERROR(ReadText(node, "a date", &text));
    const auto until = ParseEndOfDay(text);
    if (!until.ok()) return Fail(node.Mark(), until.error().message);
    *end = *until;
    return {};
  }

  Status ReadDrill(const YAML::Node& node, Policy* policy) {
    std::string text;
    RETURN_IF_ERROR(ReadText(node, "drill", &text));
    if (text != "required" && text != "optional") {
      return Fail(node.Mark(), fmt::format("expected required or optional for drill, found '{}'",
                                           TerminalSafe(text)));
    }
    policy->drill_required = text == "required";
    return {};
  }

  std::string file_;
  std::size_t values_ = 0;
};

}  // namespace

const Profile* Policy::FindProfile(std::string_view name) const {
  const auto found = std::ranges::find(profiles, name, &Profile::name);
  return found == profiles.end() ? nullptr : &*found;
}

Result<Policy> ParsePolicy(std::string_view yaml, std::string_view file) {
  Reader reader(file);
  if (yaml.size() > kMostBytes) {
    return InvalidInput(fmt::format("{} bytes; a policy has at most {}", yaml.size(), kMostBytes),
                        std::string(file));
  }
  try {
    return reader.Read(yaml);
  } catch (const YAML::Exception& problem) {
    return reader.Fail(problem.mark, TerminalSafe(problem.msg));
  }
}

Result<Policy> LoadPolicy(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostBytes));
  return ParsePolicy(text, path.string());
}

Result<WallTime> ParseEndOfDay(std::string_view text) {
  constexpr std::size_t kDateLength = 10;
  if (text.size() != kDateLength) {
    auto time = ParseTime(text);
    if (time.ok() && FormatTime(*time) < kLastDay) return time;
  } else if (const auto midnight = ParseTime(fmt::format("{}T00:00:00Z", text));
             midnight.ok() && text < kLastDay) {
    return *midnight + std::chrono::days(1);
  }
  return InvalidInput(fmt::format(
      "'{}' is no date before the year 9999; expected one such as 2026-12-31, or an RFC 3339 "
      "time",
      TerminalSafe(text.substr(0, 80))));
}

bool NamesProbe(std::string_view glob, std::string_view probe, std::string_view family) {
  constexpr std::string_view kFamily = "family:";
  if (!glob.starts_with(kFamily)) return GlobMatches(glob, probe);
  return GlobMatches(glob.substr(kFamily.size()), family);
}

std::string FormatUntil(WallTime end) {
  constexpr std::size_t kDateLength = 10;
  if (end != std::chrono::floor<std::chrono::days>(end)) return "until " + FormatTime(end);
  return fmt::format("through {} (UTC)",
                     FormatTime(end - std::chrono::days(1)).substr(0, kDateLength));
}

}  // namespace rharness
