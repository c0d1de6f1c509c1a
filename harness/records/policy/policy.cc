// YAML to policy; yaml-cpp's exceptions end here.
#include "harness/records/policy/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "harness/base/files.h"
#include "harness/base/glob.h"
#include "harness/net/yaml_reader.h"

namespace rharness {
namespace {

constexpr int kPolicyVersion = 1;
constexpr double kMostShare = 0.9999;  // of all runs: such an objective has no budget at all
constexpr double kMostDays = 3660.0;
constexpr double kMostKept = 36'600.0;               // runs, and days: a century
constexpr std::string_view kLastDay = "9999-01-01";  // later ones cannot all be written and read

class Reader : private YamlReader {
 public:
  using YamlReader::Fail;
  using YamlReader::YamlReader;

  Result<Policy> Read(std::string_view yaml) {
    ASSIGN_OR_RETURN(const YAML::Node root, Load(std::string(yaml)));
    Policy policy;
    const auto each = [this](std::string_view what, auto read_one) {
      return
          [this, what, read_one](const YAML::Node& list) { return ReadList(list, what, read_one); };
    };
    RETURN_IF_ERROR(ReadMap(
        root, "a policy",
        {{"version", true, [&](const auto& node) { return ReadVersion(node); }},
         {"profiles", false,
          [&](const auto& node) { return ReadProfiles(node, "profiles", &policy.profiles); }},
         {"gamedays", false,
          [&](const auto& node) { return ReadProfiles(node, "gamedays", &policy.gamedays); }},
         {"substitutes", false,
          each("substitutes",
               [&](const auto& one) {
                 return ReadSubstitute(one, &policy.substitutes.emplace_back());
               })},
         {"stakes", false,
          each("stakes",
               [&](const auto& one) { return ReadStake(one, &policy.stakes.emplace_back()); })},
         {"objectives", false,
          each("objectives",
               [&](const auto& one) {
                 return ReadObjective(one, &policy.objectives.emplace_back());
               })},
         {"rules", false,
          each("rules",
               [&](const auto& one) { return ReadRule(one, &policy.rules.emplace_back()); })},
         {"waivers", false,
          each("waivers",
               [&](const auto& one) { return ReadWaiver(one, &policy.waivers.emplace_back()); })},
         {"drill", false,
          [&](const auto& node) { return ReadRequired(node, "drill", &policy.drill_required); }},
         {"approvals", false,
          [&](const auto& node) { return ReadApprovals(node, &policy.approvals); }},
         {"retention", false,
          each("retention",
               [&](const auto& one) {
                 return ReadRetention(one, &policy.retention.emplace_back());
               })},
         {"holds", false,
          each("holds",
               [&](const auto& one) { return ReadHold(one, &policy.holds.emplace_back()); })},
         {"require", false, each("require", [&](const auto& one) {
            return ReadText(one, "a glob", &policy.must_have.emplace_back());
          })}}));
    return policy;
  }

 private:
  Status ReadVersion(const YAML::Node& node) {
    std::string text;
    RETURN_IF_ERROR(ReadText(node, "the version", &text));
    if (text != std::to_string(kPolicyVersion)) {
      return Fail(node.Mark(), fmt::format("version '{}' of a policy; this program reads {}",
                                           TerminalSafe(text), kPolicyVersion));
    }
    return {};
  }

  // The command line knows the options and their values.
  Status ReadProfiles(const YAML::Node& node, std::string_view what,
                      std::vector<Profile>* profiles) {
    return ReadNamed(node, what, [&](const std::string& name, const auto& options) {
      Profile& profile = profiles->emplace_back(Profile{.name = name, .options = {}});
      return ReadNamed(options, "a profile", [&](const std::string& option, const auto& value) {
        return ReadOption(option, value, &profile.options.emplace_back());
      });
    });
  }

  Status ReadOption(const std::string& name, const YAML::Node& node, ProfileOption* option) {
    option->name = name;
    option->where = Where(node);
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
      out->proof.push_back(std::filesystem::path(file()).parent_path() / name);
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

  // The drill checks the selection.
  Status ReadStake(const YAML::Node& node, Stake* out) {
    out->where = Where(node);
    return ReadMap(
        node, "a stake",
        {{"runs", true,
          [&](const auto& one) { return ReadText(one, "a selection of runs", &out->runs); }},
         {"stake", true,
          [&](const auto& one) { return ReadNumber(one, "a stake", 0, 1e6, &out->stake); }}});
  }

  Status ReadObjective(const YAML::Node& node, Objective* out) {
    out->where = Where(node);
    const auto share = [this](std::optional<double>* to) {
      return [this, to](const YAML::Node& one) {
        return ReadNumber(one, "a share", 0, kMostShare, &to->emplace());
      };
    };
    RETURN_IF_ERROR(ReadMap(
        node, "an objective",
        {{"families", true,
          [&](const auto& one) { return ReadText(one, "a glob of families", &out->families); }},
         {"reproducible", false, share(&out->reproducible)},
         {"inconclusive", false, share(&out->inconclusive)},
         {"flaky", false, share(&out->flaky)},
         {"period_days", false,
          [&](const auto& one) {
            return ReadNumber(one, "a number of days", 0, kMostDays, &out->period_days);
          }},
         {"stale_days", false,
          [&](const auto& one) {
            return ReadNumber(one, "a number of days", 0, kMostDays, &out->stale_days.emplace());
          }},
         {"alert", false, [&](const auto& one) { return ReadAlert(one, &out->page); }},
         {"owner", false,
          [&](const auto& one) { return ReadText(one, "the owner", &out->owner); }}}));
    if (out->reproducible || out->inconclusive || out->flaky || out->stale_days) return {};
    return Fail(node.Mark(),
                "an objective needs reproducible, inconclusive, flaky or stale_days, or it asks "
                "for nothing");
  }

  Status ReadAlert(const YAML::Node& node, bool* page) {
    std::string text;
    RETURN_IF_ERROR(ReadText(node, "alert", &text));
    *page = text == "page";
    if (*page || text == "ticket") return {};
    return Fail(node.Mark(),
                fmt::format("expected page or ticket for alert, found '{}'", TerminalSafe(text)));
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

  Status ReadRequired(const YAML::Node& node, std::string_view what, bool* out) {
    std::string text;
    RETURN_IF_ERROR(ReadText(node, what, &text));
    if (text != "required" && text != "optional") {
      return Fail(node.Mark(), fmt::format("expected required or optional for {}, found '{}'", what,
                                           TerminalSafe(text)));
    }
    *out = text == "required";
    return {};
  }

  Status ReadApprovals(const YAML::Node& node, Approvals* out) {
    return ReadMap(node, "approvals", {{"retirement", false, [&](const auto& one) {
                                          return ReadRequired(one, "retirement", &out->retirement);
                                        }}});
  }

  Status ReadRetention(const YAML::Node& node, RetentionRule* out) {
    out->where = Where(node);
    RETURN_IF_ERROR(ReadMap(
        node, "a rule of retention",
        {{"families", true,
          [&](const auto& one) { return ReadText(one, "a glob of families", &out->families); }},
         {"keep_last", false,
          [&](const auto& one) {
            return ReadNumber(one, "a number of runs", 0, kMostKept, &out->keep_last.emplace());
          }},
         {"keep_days", false, [&](const auto& one) {
            return ReadNumber(one, "a number of days", 0, kMostKept, &out->keep_days.emplace());
          }}}));
    if (out->keep_last && *out->keep_last != std::floor(*out->keep_last)) {
      return Fail(node.Mark(), "expected a whole number of runs for keep_last");
    }
    if (out->keep_last || out->keep_days) return {};
    return Fail(node.Mark(),
                "a rule of retention needs keep_last, keep_days or both; a family that no rule "
                "names keeps everything");
  }

  Status ReadHold(const YAML::Node& node, Hold* out) {
    out->where = Where(node);
    const auto text = [this](std::string_view what, std::string* to) {
      return [this, what, to](const YAML::Node& one) { return ReadText(one, what, to); };
    };
    RETURN_IF_ERROR(ReadMap(node, "a hold",
                            {{"families", false, text("a glob of families", &out->families)},
                             {"runs", false, text("a glob of run ids", &out->runs)},
                             {"reason", true, text("the reason", &out->reason)}}));
    if (!out->families.empty() || !out->runs.empty()) return {};
    return Fail(node.Mark(), "a hold needs families, runs or both");
  }
};

}  // namespace

const Profile* FindProfile(const std::vector<Profile>& profiles, std::string_view name) {
  const auto found = std::ranges::find(profiles, name, &Profile::name);
  return found == profiles.end() ? nullptr : &*found;
}

const Objective* Policy::FindObjective(std::string_view family) const {
  const auto found = std::ranges::find_if(
      objectives, [&](const Objective& one) { return GlobMatches(one.families, family); });
  return found == objectives.end() ? nullptr : &*found;
}

Result<Policy> ParsePolicy(std::string_view yaml, std::string_view file) {
  Reader reader(file);
  if (yaml.size() > kMostPolicyBytes) {
    return InvalidInput(
        fmt::format("{} bytes; a policy has at most {}", yaml.size(), kMostPolicyBytes),
        std::string(file));
  }
  try {
    return reader.Read(yaml);
  } catch (const YAML::Exception& problem) {
    return reader.Fail(problem.mark, TerminalSafe(problem.msg));
  }
}

Result<Policy> LoadPolicy(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostPolicyBytes));
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

const RetentionRule* Policy::FindRetention(std::string_view family) const {
  const auto found = std::ranges::find_if(
      retention, [&](const RetentionRule& one) { return GlobMatches(one.families, family); });
  return found == retention.end() ? nullptr : &*found;
}

bool Hold::Names(const std::string& family, const std::string& run_id) const {
  return (families.empty() || GlobMatches(families, family)) &&
         (runs.empty() || GlobMatches(runs, run_id));
}

bool NamesProbe(std::string_view glob, std::string_view probe, std::string_view family) {
  constexpr std::string_view kFamily = "family:";
  if (!glob.starts_with(kFamily)) return GlobMatches(glob, probe);
  return GlobMatches(glob.substr(kFamily.size()), family);
}

std::string SignerInWords(const std::string& signed_by, bool verified) {
  return signed_by + (verified ? " (verified)" : " (plain text, not verified)");
}

std::string FormatUntil(WallTime end) {
  constexpr std::size_t kDateLength = 10;
  if (end != std::chrono::floor<std::chrono::days>(end)) return "until " + FormatTime(end);
  return fmt::format("through {} (UTC)",
                     FormatTime(end - std::chrono::days(1)).substr(0, kDateLength));
}

}  // namespace rharness
