// A policy as JSON, by the list of its members; see policy_check.h.
#include "harness/cli/policy_check.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "harness/base/json_members.h"
#include "harness/base/member_schema.h"
#include "harness/drill/substitutes.h"

namespace rharness {

struct PolicyCheck {
  Policy policy;
  std::vector<std::string> warnings;
};

namespace {

// Options by the name of the profile and of the option.
void ProfileMembers(MemberWriter& io, const char* key, const std::vector<Profile>& profiles,
                    const About&) {
  Json named = Json::MakeObject();
  for (const Profile& profile : profiles) {
    Json options = Json::MakeObject();
    for (const ProfileOption& option : profile.options) {
      options.Set(option.name, PlainArray(option.values));
    }
    named.Set(profile.name, std::move(options));
  }
  io.Must(key, named);
}

void ProfileMembers(MemberSchema& io, const char* key, const std::vector<Profile>&,
                    const About& about) {
  const auto map_of = [](Json values) {
    return Json::MakeObject({{"type", "object"}, {"additionalProperties", std::move(values)}});
  };
  Json texts =
      Json::MakeObject({{"type", "array"}, {"items", Json::MakeObject({{"type", "string"}})}});
  io.Add(key, io.Defined("profiles", map_of(map_of(std::move(texts)))), true, about);
}

constexpr char kWhere[] = "The file, and the line";

}  // namespace

template <class Io, Is<Substitute> T>
void Members(Io& io, T& one) {
  io.Must("recorded", one.recorded, "Pattern of the recorded model");
  io.Must("here", one.here, "Pattern of the model that stands in");
  io.Must("stands_by", StandsText(one),
          "Who answers for it until when, or the two fingerprints that prove it");
}

template <class Io, Is<Stake> T>
void Members(Io& io, T& one) {
  io.Must("runs", one.runs, "A selection of runs");
  io.Must("stake", one.stake, About("What multiplies their risk").Positive());
}

template <class Io, Is<Objective> T>
void Members(Io& io, T& one) {
  io.Must("families", one.families, "Pattern of families");
  io.Must("where", one.where, kWhere);
}

template <class Io, Is<RetentionRule> T>
void Members(Io& io, T& one) {
  io.Must("families", one.families, "Pattern of families");
  io.Must("keep_last", one.keep_last, "Of the last so many runs; null: not said");
  io.Must("keep_days", one.keep_days, "Of the last so many days; null: not said");
  io.Must("where", one.where, kWhere);
}

template <class Io, Is<Hold> T>
void Members(Io& io, T& one) {
  io.OrNull(!one.families.empty(), "families", one.families, "Pattern of families; null: all");
  io.OrNull(!one.runs.empty(), "runs", one.runs, "Pattern of run IDs; null: all");
  io.Must("reason", one.reason, "Why, in words");
  io.Must("where", one.where, kWhere);
}

template <class Io, Is<PolicyCheck> T>
void Members(Io& io, T& check) {
  const Policy& policy = check.policy;
  const auto count = [](const auto& list) { return std::uint64_t{list.size()}; };
  io.Schema("rharness.policy_check", 1);
  ProfileMembers(io, "profiles", policy.profiles,
                 "Options of rharness drill, by the name of the profile and of the option");
  ProfileMembers(io, "gamedays", policy.gamedays, "Options of rharness gameday likewise");
  io.MustList("substitutes", policy.substitutes,
              "GPUs that may stand in for the recorded ones, the first that holds counts");
  io.MustList("stakes", policy.stakes, "How much hangs on runs, the first that holds counts");
  io.MustList("objectives", policy.objectives,
              "What families are held to, the first that matches counts");
  io.Must("rules", count(policy.rules), "How many rules the gate has");
  io.Must("waivers", count(policy.waivers), "How many waivers, those that ended among them");
  io.Must("required_probes", count(policy.must_have),
          "How many patterns of probes that must be there");
  io.Must("drill_required", policy.drill_required, "The gate asks for a drill");
  io.Must("retirement_approvals", policy.approvals.retirement, "A retirement takes two people");
  io.MustList("retention", policy.retention,
              "How long what runs made is kept, the first that matches a family counts; families "
              "without one keep everything");
  io.MustList("holds", policy.holds,
              "Runs whose files are never deleted; both patterns must match");
  io.MustPlain("warnings", check.warnings,
               "What holds no longer, and what can never call anybody, a sentence each");
}

std::string StandsText(const Substitute& one) {
  if (!one.is_proved()) {
    return fmt::format("{}, signed by {}, {}", one.reason,
                       SignerInWords(one.signed_by, one.verified), FormatUntil(one.until));
  }
  return fmt::format("by proof: {}, {}", one.proof.front().string(), one.proof.back().string());
}

Json PolicyCheckJson(const Policy& policy, const std::vector<std::string>& warnings) {
  return MemberWriter::Written(PolicyCheck{policy, warnings});
}

Json PolicyCheckSchema() {
  return SchemaOf<PolicyCheck>(
      {.id = "rharness.policy_check/v1",
       .title = "What a policy file comes to: rharness policy check --json",
       .finite = true});
}

}  // namespace rharness
