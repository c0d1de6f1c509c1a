// How whatever reruns things to answer a question begins, and is resumed: one folder, one journal,
// whose header is the settings.
//
// Role: above Reruns, which carries the reruns out. What is rerun, and what becomes of the
// evidence, is the experiment's own.
#ifndef RHARNESS_HARNESS_DRILL_EXPERIMENT_H_
#define RHARNESS_HARNESS_DRILL_EXPERIMENT_H_

#include <filesystem>
#include <string>
#include <utility>

#include "harness/base/files.h"
#include "harness/drill/drill_folder.h"
#include "harness/drill/reruns.h"
#include "harness/drill/settings.h"
#include "reports/document.h"

namespace rharness {

// Options with a member `drill`, its places made absolute. Errors: those of WithAbsolutePaths.
template <class Options>
Result<Options> WithExperimentPaths(Options options) {
  ASSIGN_OR_RETURN(options.drill, WithAbsolutePaths(options.drill));
  return options;
}

// `gather()` makes the Settings of a new experiment, and refuses before anything is written;
// `parse(header, where)` reads those of one that is resumed; `adopt(&settings)` applies what the
// command line may change of them; `carry_out(settings, folder)` does the rest. Settings have a
// member `drill` and ToJson. Errors: those of the four; invalid_input for a folder that holds
// something else; those of BeginWorkFolder, ResumeWorkFolder and ResumeSettings.
template <class Gather, class Parse, class Adopt, class CarryOut>
auto RunExperiment(const DrillOptions& options, Gather gather, Parse parse, Adopt adopt,
                   CarryOut carry_out)
    -> decltype(carry_out(std::move(gather()).value(), std::declval<WorkFolder>())) {
  if (!options.resume) {
    RETURN_IF_ERROR(RefuseForeignFolder(options.out));
    ASSIGN_OR_RETURN(auto settings, gather());
    ASSIGN_OR_RETURN(WorkFolder folder, BeginWorkFolder(options.out, ToJson(settings)));
    return carry_out(std::move(settings), std::move(folder));
  }
  ASSIGN_OR_RETURN(WorkFolder folder, ResumeWorkFolder(options.out));
  ASSIGN_OR_RETURN(auto settings,
                   parse(folder.past.header, (options.out / "journal.jsonl").string()));
  RETURN_IF_ERROR(ResumeSettings(options, &settings.drill));
  RETURN_IF_ERROR(adopt(&settings));
  return carry_out(std::move(settings), std::move(folder));
}

// NAME.json and the document's pages (reports/document.h) into the folder.
template <class ReportType>
Status WriteReport(const std::filesystem::path& out, const std::string& name,
                   const ReportType& report) {
  RETURN_IF_ERROR(WriteJsonFile(out / (name + ".json"), ToJson(report)));
  return WriteDocument(out, DocumentOf(report));
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_EXPERIMENT_H_
