// The members of properties. property.cc says which of them a kind of property has.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_PROPERTY_MEMBERS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_PROPERTY_MEMBERS_H_

#include "harness/base/strict_members.h"
#include "harness/records/manifest/property.h"
#include "harness/records/manifest/property_kinds.h"

namespace rharness {

class MemberSchema;

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
void CheckMembers(JsonReader& reader, const OtherWay& way);
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

template <class Io, Is<OtherWay> T>
void Members(Io& io, T& way) {
  io.Must(LabelKind(), "label", way.label, About("Names the leg.").Examples("reversed"));
  io.UnlessEmpty(kArguments, "arguments", way.arguments,
                 About("Set as those of resumed are.").Examples(R"(["--order=reversed"])"));
  io.UnlessEmpty(kArguments, "command", way.command,
                 About("The whole command instead.").Examples(R"(["python3", "score.py"])"));
  io.UnlessEmpty(OtherVariablesKind(), "environment", way.environment,
                 About("Variables; null unsets one.").Examples(R"({"PREFIX_CACHE": "0"})"));
}

template <class Io, Is<Property> T>
void BatchMembers(Io& io, T& property) {
  io.UnlessEmpty(CutPointsKind(), "sizes", property.sizes,
                 About("Of batch_invariant: items in a batch, each a leg; strictly increasing.")
                     .Examples("[1, 4, 16]"));
  io.ListUnlessEmpty("ways", property.ways,
                     About("Of batch_invariant: further legs, such as another order, chunked "
                           "prefill, a prefix cache or a number of GPUs.")
                         .LeastItems(1));
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
          "evaluated_twice: one checkpoint, evaluated twice. batch_invariant: an item's answer is "
          "the same alone, in other batches, orders and settings.");
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
                       "set as those of resumed are. Of batch_invariant: with {size}.")
                     .Examples(R"(["--batch=8", "--accumulate=4"])"));
  io.UnlessEmpty(kArguments, "command", property.command,
                 About("Of accumulated, loader_workers and processes: the other way as a whole "
                       "command; of batch_invariant with {size}. Of evaluated_twice: the "
                       "evaluation, with {checkpoint}.")
                     .Examples(R"(["torchrun", "--nproc-per-node=2", "train.py"])"));
  io.UnlessEmpty(OtherVariablesKind(), "environment", property.environment,
                 About("Of accumulated, loader_workers and processes: variables of the other way; "
                       "null unsets one. Of batch_invariant: with {size}.")
                     .Examples(R"({"OMP_NUM_THREADS": "1"})"));
  io.UnlessEmpty(kArguments, "again", property.again,
                 About("Of evaluated_twice: arguments that are set the second time and must not "
                       "matter.")
                     .Examples(R"(["--batch=7"])"));
  io.ListUnlessEmpty("steps", property.steps,
                     About("Of resharded: commands that each load {checkpoint}, which is what the "
                           "one before saved, and save it again.")
                         .LeastItems(1));
  BatchMembers(io, property);
  io.ObjectUnlessEmpty("within", property.within,
                       "How far the two may lie apart. What is not named is claimed to the bit.");
  if constexpr (std::same_as<Io, MemberSchema>) DescribeRules(io);
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_PROPERTY_MEMBERS_H_
