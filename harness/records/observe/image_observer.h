// Observes one run in a container: the parts put into it, and a program of ours beside it that sees
// what the run uses and reads the image's files when it has ended.
//
// Role: used by a rerun around any launcher of images; door.h describes how the two ends meet. The
// image and its programs are untrusted: rharness-look opens their files with the container's root
// as its own, so that no link leads out of it, keeps the limits of files_seen.h, and is killed if
// it does not end. Nothing here can fail a run: what could not be observed is a sentence in
// Observation::unseen.
#ifndef RHARNESS_HARNESS_RECORDS_OBSERVE_IMAGE_OBSERVER_H_
#define RHARNESS_HARNESS_RECORDS_OBSERVE_IMAGE_OBSERVER_H_

#include <atomic>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "harness/base/descriptor.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/observation.h"
#include "harness/records/observe/observer.h"

namespace rharness {

// The input of rharness-look. The request's paths are those in the container.
struct LookRequest {
  ObserveRequest request;           // `recorded` is empty
  std::set<std::string> variables;  // names of the variables that the command gets
};
Json ToJson(const LookRequest& request);
Result<LookRequest> ParseLookRequest(const Json& json);

// What it says when the run has ended.
struct ImageSeen {
  Observation observation;
  // errno of the command that could not start in the container; 0: it started.
  int not_started = 0;
  bool has_entered = false;  // the run's first program reported
};
Json ToJson(const ImageSeen& seen);
// Errors: invalid_input.
Result<ImageSeen> ParseImageSeen(const Json& json);

// An observation in which nothing was seen, with the reason.
Observation NothingSeen(const std::string& why);

class ImageObserver {
 public:
  // Starts rharness-look. `folder`: new and empty, ours alone; absolute.
  ImageObserver(const std::filesystem::path& folder, const LookRequest& request,
                const Result<ObserveParts>& parts = FindObserveParts());
  ImageObserver(const ImageObserver&) = delete;
  ImageObserver& operator=(const ImageObserver&) = delete;
  ~ImageObserver();

  // Why nothing is put into the container; empty: the two folders and the command are.
  const std::string& problem() const { return problem_; }
  // Mount it read-only at kInsideParts and kInsideDoor.
  const std::filesystem::path& parts() const { return parts_; }
  const std::filesystem::path& door() const { return door_; }
  // What is to be run in place of this command.
  std::vector<std::string> Enter(const std::vector<std::string>& command) const;

  // After the run, while its files still exist. Once.
  ImageSeen Collect();

 private:
  Status Prepare(const LookRequest& request, const Result<ObserveParts>& parts);
  void End();

  std::filesystem::path folder_;
  std::filesystem::path parts_;
  std::filesystem::path door_;
  bool python_ = false;
  std::string problem_;
  Descriptor look_;  // its pidfd
  std::atomic<int> pid_{0};
  std::atomic<bool> give_up_{false};
  ProcessResult result_;
  std::thread thread_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_OBSERVE_IMAGE_OBSERVER_H_
