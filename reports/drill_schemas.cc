// The schemas of what a drill and a history write. They are not beside the codecs, since a first
// drill compiles those and writes no schema.
#include <string>
#include <utility>
#include <vector>

#include "harness/base/member_schema.h"
#include "reports/comparison_members.h"
#include "reports/deletion_members.h"
#include "reports/history_family_members.h"
#include "reports/history_members.h"
#include "reports/json_nouns.h"
#include "reports/report_members.h"
#include "reports/retention_members.h"
#include "reports/retirement_members.h"
#include "reports/schemas.h"

namespace rharness {

void LayerMembers(MemberSchema& io, const std::array<LayerComparison, 5>& layers) {
  io.List("layers", layers, About().MostItems(5));
}

void HistogramMembers(MemberSchema& io, const UlpHistogram& histogram) {
  io.Plain(
      "ulp_histogram", std::vector<std::uint64_t>(),
      About("Pairs of finite values by distance: entry i counts those in [2^i, 2^(i+1)) steps; "
            "zeros at the end are left out.")
          .MostItems(static_cast<int>(histogram.size())));
}

void CountMembers(MemberSchema& io, const VerdictCounts&, const About& about) {
  Json required = Json::MakeArray();
  Json properties = Json::MakeObject();
  for (const auto& [verdict, name] : kVerdictNames) {
    required.Append(name);
    properties.Set(name, Json::MakeObject({{"type", "integer"}, {"minimum", 0}}));
  }
  io.Add("counts",
         Json::MakeObject({{"type", "object"},
                           {"required", std::move(required)},
                           {"properties", std::move(properties)},
                           {"additionalProperties", false}}),
         true, about);
}

void VerdictMembers(MemberSchema& io, const FamilyVerdicts&) {
  Json names = Json::MakeArray();
  for (const auto& [verdict, name] : kVerdictNames) names.Append(name);
  names.Append(Json());
  Json one = Json::MakeObject({{"enum", std::move(names)}, {"description", "null: not judged."}});
  io.Add("verdicts", Json::MakeObject({{"type", "array"}, {"items", std::move(one)}}), true,
         "One a drill listed.");
}

Json ReportSchema() {
  return SchemaOf<Report>(
      {.id = "rharness.report/v1",
       .title = "Report of an rharness drill",
       .description =
           "Written by rharness drill as report.json; rharness report renders it again."});
}

Json ComparisonSchema() {
  return BuildSchema(
      {.id = "rharness.comparison/v1",
       .title = "What differs between two things, or between the two of every pair",
       .description =
           "Written by rharness compare as comparison.json; rharness report renders it again."},
      {{"single", "One comparison.",
        [](MemberSchema& io) {
          const ComparisonSet set;
          Members(io, set);
          const Comparison only;
          SingleMembers(io, set, only);
        }},
       {"set", "A set of pairs.", [](MemberSchema& io) {
          const ComparisonSet set;
          Members(io, set);
          SetMembers(io, set);
        }}});
}

Json HistorySchema() {
  return BuildSchema(
      {.id = "rharness.history/v1",
       .title = "The runs of a history, and what became of them over many drills",
       .description = "Written by rharness history list and show with --json.",
       .finite = true},
      {{"runs", "rharness history list --json", NounOf<HistoryRuns>().describe},
       {"run", "rharness history show RUN --json", NounOf<RunHistory>().describe},
       {"family", "rharness history show FAMILY --json", NounOf<FamilyHistory>().describe}});
}

Json RetirementsSchema() {
  return BuildSchema({.id = "rharness.retirements/v1",
                      .title = "rharness.retirements/v1",
                      .description = "Runs that are retired or are to be, each held to what was "
                                     "signed: rharness history retire list --json."},
                     ViewOf<RetirementsDocument, std::vector<RetirementTold>>().describe);
}

Json DeletionListSchema() {
  return SchemaOf<DeletionList>(
      {.id = "rharness.deletion_list/v1",
       .title = "rharness.deletion_list/v1",
       .description =
           "Files that are to be deleted: rharness history prune --list. Two people sign "
           "for its SHA-256; nothing of the day it was made is in it."});
}

Json RetentionSchema() {
  return SchemaOf<RetentionReport>({.id = "rharness.retention/v1",
                                    .title = "rharness.retention/v1",
                                    .description = "What rules of retention would delete and what "
                                                   "they keep: rharness history prune --json."});
}

Json DeletionsSchema() {
  return BuildSchema({.id = "rharness.deletions/v1",
                      .title = "rharness.deletions/v1",
                      .description = "Lists that were asked to be deleted, each held to what was "
                                     "signed: rharness history prune list --json."},
                     ViewOf<DeletionsDocument, std::vector<DeletionTold>>().describe);
}

}  // namespace rharness
