// The queries of a Rebuilder, one per kind, and the answers that runs share. Private to this
// folder.
#ifndef RHARNESS_HARNESS_EXECUTION_REBUILD_ASKED_H_
#define RHARNESS_HARNESS_EXECUTION_REBUILD_ASKED_H_

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/subprocess.h"
#include "harness/execution/rebuild/rebuild.h"
#include "harness/execution/rerun/workspace.h"
#include "harness/net/http.h"

namespace rharness {

struct Answer {
  PartState state = PartState::kUnknown;
  std::string why;
};

struct Rebuilder::Asked {
  RebuildOptions options;
  std::map<std::string, Answer> known;  // by the question
  ContentCache hashes;

  // The cached answer to a question, or that of `ask`.
  Answer Once(const std::string& question, const std::function<Answer()>& ask);
  // A program without a shell, with its time limit and nothing on stdin.
  ProcessResult Run(std::vector<std::string> argv,
                    std::map<std::string, std::string> environment) const;
  HttpLimits Limits() const;  // one attempt, within the time limit
};

void AskForImage(const Manifest& manifest, Rebuilder::Asked* asked, std::vector<Part>* parts);
void AskForCode(const Manifest& manifest, Rebuilder::Asked* asked, std::vector<Part>* parts);
void AskForData(const Manifest& manifest, Rebuilder::Asked* asked, std::vector<Part>* parts);
// For data with a recorded maker: whether that is still available. `parts` has the answers about
// the data; a rerun does not need the maker of available data.
void AskForMakers(const Manifest& manifest, Rebuilder::Asked* asked, std::vector<Part>* parts);
// For a host run in an isolated environment: whether it is here, with the recorded packages.
void AskForPython(const Manifest& manifest, Rebuilder::Asked* asked, std::vector<Part>* parts);
void AskForPackages(const Manifest& manifest, Rebuilder::Asked* asked, std::vector<Part>* parts);

// "https://host:1/a/b" as "https://host:1" and "/a/b"; empty strings for another scheme.
std::pair<std::string, std::string> SplitUrl(const std::string& url);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_REBUILD_ASKED_H_
