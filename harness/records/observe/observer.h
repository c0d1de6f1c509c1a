// Observes one run: gives its processes the library and the hooks that write notes, and reads the
// notes afterwards.
//
// Role: used by `record` and by a rerun around the same command, so that both see in the same way;
// for a run in a container by the program that observes it (image_observer.h). Nothing here can
// fail a run or its record: what cannot be observed is a sentence in Observation::unseen.
#ifndef RHARNESS_HARNESS_RECORDS_OBSERVE_OBSERVER_H_
#define RHARNESS_HARNESS_RECORDS_OBSERVE_OBSERVER_H_

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/footprint.h"
#include "harness/base/held_folder.h"
#include "harness/records/manifest/observation.h"
#include "harness/records/manifest/packages.h"
#include "harness/records/observe/python_notes.h"

namespace rharness {

// The parts put into a run, beside this program: observe/ in its own folder, or, installed,
// ../lib/rharness/observe.
struct ObserveParts {
  std::filesystem::path preload;  // the library
  std::filesystem::path python;   // the folder of sitecustomize.py
  std::filesystem::path kernels;  // the library for the CUDA driver; it may be missing
};
// Errors: not_found with the places searched.
Result<ObserveParts> FindObserveParts();

inline constexpr std::size_t kMostInputs = 64;  // that an observation lists

struct ObserveRequest {
  bool python_hooks = false;
  bool kernels = false;             // GPU kernels are noted
  std::set<std::string> variables;  // watched beside those of every record
  std::vector<std::string> command;
  std::filesystem::path working_directory;  // of the command, absolute
  // The code's root for the command, absolute and without links.
  std::filesystem::path base;
  // Files and folders of the run, absolute and without links: data, code, and others not to report.
  std::vector<std::filesystem::path> declared;
  // Which of these files, by their paths below `base`, a record covers otherwise, as by its commit;
  // called once, after the run; may be empty.
  std::function<std::set<std::string>(const std::vector<std::string>&)> recorded;
  std::size_t most_inputs = kMostInputs;
  // Whether files that are opened for writing are noted.
  bool outputs = false;
};

// The parts that a container's first program gave the run (door.h).
struct Lent {
  bool preload = false;
  bool python = false;
  bool kernels = false;
  std::string why_not_preload;      // in words; empty: it was
  std::string program;              // the command's file in the image; empty: not found
  std::set<std::string> variables;  // names of the variables that the command got
};

// Prepares the notes' folder, which is new and empty, for the library and the hooks. Errors: io.
Status PrepareNotes(const std::filesystem::path& folder, const ObserveRequest& request);

class Observer {
 public:
  // For a run in a container, in a process whose root is the container's root once the notes are
  // read. `parts`: as they are in the container.
  Observer(HeldFolder notes, ObserveRequest request, ObserveParts parts, const Lent& lent);
  // `folder`: new and empty, writable by the run; absolute. If `parts` is not found, that is
  // reported.
  Observer(std::filesystem::path folder, ObserveRequest request,
           const Result<ObserveParts>& parts = FindObserveParts());

  // Additions to the command's environment: RHARNESS_OBSERVE, LD_PRELOAD, PYTHONPATH,
  // CUDA_INJECTION64_PATH.
  void AddTo(std::map<std::string, std::string>* environment);

  // After the run; otherwise the first function that needs the notes calls it: reads the processes'
  // notes.
  void ReadNotes();
  // After the run: programs and libraries that processes noted, beside the sampled ones.
  void Complete(Footprint* footprint);
  // After Complete. `started`: of the run; files written since then are its own.
  Observation Collect(const Footprint& footprint, const PackageOwners& owners, WallTime started);

 private:
  void AddPreload(std::map<std::string, std::string>* environment);
  void AddPython(std::map<std::string, std::string>* environment);
  void AddKernels(std::map<std::string, std::string>* environment);
  void ReadKernels();
  void CollectPython(const std::set<std::string>& programs);
  void CollectVariables(const std::set<std::string>& programs);
  void AddMentioned();
  void CollectLosses();

  std::filesystem::path folder_;
  ObserveRequest request_;
  std::optional<ObserveParts> parts_;
  std::optional<HeldFolder> held_;
  bool are_read_ = false;
  PythonNotes python_notes_;
  std::set<std::string> noted_libraries_;
  std::set<SeenProgram> noted_pythons_;
  bool preload_ = false;  // in the environment
  bool python_ = false;
  bool kernels_ = false;
  std::set<std::string> kept_;       // recorded variables: set, watched or named
  std::set<std::string> variables_;  // read, as noted
  std::set<std::string> files_;
  std::set<std::string> begun_from_;  // see ArenaNotes
  std::map<std::string, std::string> links_;
  std::set<std::string> outputs_;
  std::set<std::string> programs_;
  std::set<std::string> hooked_;  // Pythons that wrote notes
  std::set<std::string> hooked_processes_;
  bool is_full_ = false;
  std::map<int, int> child_ends_;  // see ArenaNotes
  std::map<std::string, int> shell_ends_;
  std::set<std::pair<int, std::string>> not_written_;
  Observation seen_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_OBSERVE_OBSERVER_H_
