// The members of properties. property.cc says which of them a kind of property has.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_PROPERTY_MEMBERS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_PROPERTY_MEMBERS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/strict_members.h"
#include "harness/records/manifest/property.h"
#include "harness/records/manifest/record_map_kinds.h"

namespace rharness {

class MemberSchema;

inline constexpr NameTable<PropertyKind, 7> kPropertyKindNames = {
    {{PropertyKind::kRepeated, "repeated"},
     {PropertyKind::kResumed, "resumed"},
     {PropertyKind::kAccumulated, "accumulated"},
     {PropertyKind::kLoaderWorkers, "loader_workers"},
     {PropertyKind::kProcesses, "processes"},
     {PropertyKind::kResharded, "resharded"},
     {PropertyKind::kEvaluatedTwice, "evaluated_twice"}}};

// Arguments: at least one.
struct ArgumentsKind {
  static void Read(JsonReader& reader, std::string_view key, bool required,
                   std::vector<std::string>* out);
  static Json Describe(SchemaNoun&);
};
inline constexpr ArgumentsKind kArguments;
struct LabelKind {
  static void Read(JsonReader& reader, std::string_view key, bool, std::string* out);
  static Json Describe(SchemaNoun&);
};
// Steps of 1 or more, strictly increasing.
struct CutPointsKind {
  static void Read(JsonReader& reader, std::string_view key, bool, std::vector<std::int64_t>* out);
  static Json Describe(SchemaNoun&);
};
// A relative path that is not empty.
void ReadPlace(JsonReader& reader, std::string_view key, Presence presence, std::string* out);
inline constexpr TextKind<ReadPlace, DescribeRelativePath> kPlace;
struct OtherVariablesKind {
  static void Read(JsonReader& reader, std::string_view key, bool,
                   std::map<std::string, std::optional<std::string>>* out);
  static Json Describe(SchemaNoun& schema) { return VariablesKind::Describe(schema); }
};
struct MarginsKind {
  static void Read(JsonReader& reader, std::string_view key, bool,
                   std::map<std::string, double>* out);
  static Json Describe(SchemaNoun&);
};
// At least 0 and less than 1.
struct RelativeDistanceKind {
  static void Read(JsonReader& reader, std::string_view key, bool, double* out);
  static Json Describe(SchemaNoun&);
};

template <class Io, Is<Within> T>
void Members(Io& io, T& within) {
  io.NotEmpty();
  io.UnlessEmpty(MarginsKind(), "metrics", within.metrics,
                 About("By the name of a metric, and of every value of a curve of that name: the "
                       "difference, in its unit.")
                     .Examples(R"({"loss": 0.0001})"));
  io.UnlessEmpty(RelativeDistanceKind(), "tensors", within.tensors,
                 About("Of each floating-point tensor: the norm of the difference over the norm "
                       "of the straight run's (L2).")
                     .Examples("1e-06"));
}

void CheckMembers(JsonReader& reader, const Within& within);
void CheckMembers(JsonReader& reader, const ReshardStep& step);
void CheckMembers(JsonReader& reader, const Property& property);
// What each kind of property needs.
void DescribeRules(MemberSchema& io);

template <class Io, Is<ReshardStep> T>
void Members(Io& io, T& step) {
  io.Must(kArguments, "command", step.command,
          About("Loads {checkpoint} and saves it.")
              .Examples(R"(["python3", "reshard.py", "{checkpoint}", "out/shards"])"));
  io.Must(kPlace, "saved", step.saved,
          About("The file or folder that it leaves.").Examples("out/shards"));
}

template <class Io, Is<Property> T>
void Members(Io& io, T& property) {
  io.Noun(
      "What must be the same between two ways of running the program; rharness properties "
      "runs both. No recorded result is needed, and a claim is no part of the run's "
      "configuration.");
  io.Must(EnumKind<kPropertyKindNames>(), "name", property.kind,
          "repeated: the run twice. resumed: straight is stopped and gone on. accumulated: one "
          "batch is its parts. loader_workers: one worker that loads data is several. processes: "
          "one process is several. resharded: a checkpoint is the same, loaded and saved again. "
          "evaluated_twice: one checkpoint, evaluated twice.");
  io.UnlessEmpty(
      LabelKind(), "label", property.label,
      About("Tells several of one name apart: letters, digits, '.', '_' and '-'.").Examples("two"));
  io.UnlessEmpty(CutPointsKind(), "at", property.at,
                 About("Of resumed: the steps after which the run is cut, each on its own; "
                       "strictly increasing.")
                     .Examples("[4, 7]"));
  io.UnlessEmpty(kArguments, "stop", property.stop,
                 About("Of resumed: arguments that end the run after {step}; set in place of the "
                       "command's own of that name, else appended.")
                     .Examples(R"(["--stop-after={step}"])"));
  io.UnlessEmpty(kArguments, "resume", property.resume,
                 About("Of resumed: arguments that go on from {checkpoint}, and may say {step}.")
                     .Examples(R"(["--resume", "{checkpoint}"])"));
  io.UnlessEmpty(kPlace, "checkpoint", property.checkpoint,
                 About("Of resumed, resharded and evaluated_twice: the file or folder that the "
                       "first leg leaves and the next is given, relative to the working "
                       "directory; of resumed it may have {step} in it.")
                     .Examples("out/state.pt"));
  io.UnlessEmpty(kPlace, "laid_at", property.laid_at,
                 About("Where the next leg finds the checkpoint; where it was, if it is not said.")
                     .Examples("in/state.pt"));
  io.UnlessEmpty(kArguments, "arguments", property.arguments,
                 About("Of accumulated, loader_workers and processes: arguments of the other way, "
                       "set as those of resumed are.")
                     .Examples(R"(["--batch=8", "--accumulate=4"])"));
  io.UnlessEmpty(kArguments, "command", property.command,
                 About("Of accumulated, loader_workers and processes: the other way as a whole "
                       "command. Of evaluated_twice: the evaluation, with {checkpoint}.")
                     .Examples(R"(["torchrun", "--nproc-per-node=2", "train.py"])"));
  io.UnlessEmpty(OtherVariablesKind(), "environment", property.environment,
                 About("Of accumulated, loader_workers and processes: variables of the other way; "
                       "null unsets one.")
                     .Examples(R"({"OMP_NUM_THREADS": "1"})"));
  io.UnlessEmpty(kArguments, "again", property.again,
                 About("Of evaluated_twice: arguments that are set the second time and must not "
                       "matter.")
                     .Examples(R"(["--batch=7"])"));
  io.ListUnlessEmpty("steps", property.steps,
                     About("Of resharded: commands that each load {checkpoint}, which is what the "
                           "one before saved, and save it again.")
                         .LeastItems(1));
  io.ObjectUnlessEmpty("within", property.within,
                       "How far the two may lie apart. What is not named is claimed to the bit.");
  if constexpr (std::same_as<Io, MemberSchema>) DescribeRules(io);
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_PROPERTY_MEMBERS_H_
