// The members of a manifest, in the order in which they are written. What is left out if it is
// empty came later: an older record keeps its bytes, which identify it in a history.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_MANIFEST_MEMBERS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_MANIFEST_MEMBERS_H_

#include "harness/base/strict_members.h"
#include "harness/records/manifest/environment_members.h"
#include "harness/records/manifest/file_members.h"
#include "harness/records/manifest/gang_members.h"
#include "harness/records/manifest/manifest.h"
#include "harness/records/manifest/observation_members.h"
#include "harness/records/manifest/origin_members.h"
#include "harness/records/manifest/property_members.h"
#include "harness/records/manifest/result_members.h"
#include "harness/records/manifest/setup_members.h"

namespace rharness {

// Properties: at most so many, each with a name of its own.
struct PropertiesKind {
  static void Read(JsonReader& reader, std::string_view, bool, std::vector<Property>* out) {
    ReadProperties(reader, out);
  }
  static Json Write(const std::vector<Property>& properties) {
    return ArrayOf(properties, [](const Property& one) { return ToJson(one); });
  }
  static Json Describe(SchemaNoun& schema);
};

// What a metric was measured on is known by its digest.
void CheckMembers(JsonReader& reader, const Manifest& manifest);

template <class Io, Is<Manifest> T>
void Members(Io& io, T& manifest) {
  io.Schema("rharness.manifest", kManifestVersion);
  io.Must(kRunIdText, "run_id", manifest.run_id);
  io.May(kPlainText, "family", manifest.family,
         About("Runs whose noise may be pooled: model, size class, hardware class.")
             .Examples("digits-mlp/epyc"));
  io.May(kRecordTime, "started", manifest.started, "When the command was started.");
  io.May(kRecordTime, "ended", manifest.ended, "When the command ended.");
  io.May("duration_seconds", manifest.duration_seconds,
         About("From start to end; agrees with both within 1 s or 1 %.").Examples("90.5"));
  io.MayObject("code", manifest.code);
  io.MayObject("image", manifest.image);
  io.List("data", manifest.data, "The inputs.");
  io.Must(kCommandLine, "command", manifest.command,
          About("Argument vector, never a shell string. Empty where an imported record does not "
                "say it.")
              .Examples(R"(["python3", "train.py", "--seed", "7"])"));
  io.May(kPathOrNone, "working_directory", manifest.working_directory,
         About("Relative to the workspace; empty: the workspace itself.").Examples("src"));
  io.May("hyperparameters", manifest.hyperparameters,
         About("Any JSON by name.").Examples(R"({"lr": 0.1, "layers": [64, 10]})"));
  io.May(kByName, "seeds", manifest.seeds, kAboutSeeds);
  io.May(kNames, "rng_sources", manifest.rng_sources,
         About("Every random number generator that the run draws from; each needs a seed.")
             .Examples(R"(["init", "shuffle"])"));
  io.MayObject("environment", manifest.environment);
  io.MayObject("determinism", manifest.determinism);
  io.May(kPathOrNone, "metrics_path", manifest.metrics_path,
         About("Relative file to which the run writes its metrics and curves; empty: none.")
             .Examples("metrics.json"));
  io.UnlessEmpty(kPlainText, "metrics_step", manifest.metrics_step,
                 About("The column or member of that file that is the step; absent: one with a "
                       "name that says so, such as step or epoch.")
                     .Examples("tokens_seen"));
  io.List("metrics", manifest.metrics, "What the run measured.");
  io.List("curves", manifest.curves, "Values by step.");
  io.List("artifacts", manifest.artifacts, "What the run made.");
  io.MayObject("resources", manifest.resources);
  io.May("notes", manifest.notes, "Findings of `rharness record`.");
  io.UnlessEmpty(kNames, "probe_families", manifest.probe_families,
                 "Families of probes that the run's arithmetic depends on, such as gemm, "
                 "reduction, convolution, collective, math or compiler (scalar arithmetic is "
                 "always one); absent or empty: all of them.");
  io.UnlessEmpty(PropertiesKind(), "properties", manifest.properties,
                 About("What the run claims that needs no recorded result; absent or empty: "
                       "nothing.")
                     .MostItems(static_cast<int>(kMostProperties)));
  io.UnlessEmpty(kUnreadMembers, "unread_metrics", manifest.unread_metrics, kAboutUnread);
  io.ObjectUnlessEmpty("observation", manifest.observation);
  io.UnlessEmpty(kAnyPath, "kept", manifest.kept,
                 About("The folder of what the record keeps beside it, by SHA-256: lock files and "
                       "the diff of a changed tree. A path, relative ones below --root. Absent "
                       "where nothing is kept.")
                     .Examples("runs/kept"));
  io.ObjectUnlessEmpty("origin", manifest.origin);
  io.ObjectUnlessEmpty("gang", manifest.gang);
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_MANIFEST_MEMBERS_H_
