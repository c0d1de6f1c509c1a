// Fetches the data of runs into a cache before a drill, under their recorded hash.
//
// Role: fills the cache of `drill --data-cache` (rerun/data_cache.h). Trusts nothing: all data are
// hashed, and only data with their recorded SHA-256 get in.
#ifndef RHARNESS_HARNESS_EXECUTION_FETCH_FETCH_H_
#define RHARNESS_HARNESS_EXECUTION_FETCH_FETCH_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/execution/fetch/remote.h"
#include "harness/execution/rerun/places.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

enum class FetchState {
  kCached,   // in the cache already
  kInPlace,  // at its location, with the recorded size
  kFetched,  // brought into the cache
  kOverBudget,
  kUnpinned,  // has no SHA-256 in the record
  kNowhere,   // neither at its location nor at a usable source
  kFailed,    // the source refused it, or sent other data
};
std::string_view FetchStateName(FetchState state);  // "cached", "in place", ...

struct Fetched {
  std::string run_id;
  std::string name;  // of the data item
  FetchState state = FetchState::kNowhere;
  std::uint64_t size_bytes = 0;  // as recorded
  std::string detail;            // why it is not available
};

struct FetchOptions {
  std::filesystem::path cache;
  std::vector<std::filesystem::path> dvc_caches;  // of DVC, or its remotes that are folders
  Places places;
  std::uint64_t budget_bytes = 0;  // of fetched data; 0: none
  bool copy = false;               // also data at their location
  bool dry_run = false;
  std::function<bool()> should_cancel;
  RemoteOptions remote;  // how to query sources; should_cancel is the above
};

// Fetches one content once, however many runs have it. Sources: DVC's caches (dvc_source.h), then
// those of remote.h (files). If one does not fit the budget, later ones that fit are still fetched.
// Removes day-old leftovers of a killed fetch from the cache.
class Fetcher {
 public:
  explicit Fetcher(FetchOptions options) : options_(std::move(options)) {}
  // For every data item of the run. Errors: io of the cache itself.
  Result<std::vector<Fetched>> Fetch(const Manifest& manifest);
  std::uint64_t brought_bytes() const { return brought_bytes_; }

 private:
  Result<Fetched> FetchItem(const Manifest& manifest, const DataItem& item);
  Status Copy(const std::filesystem::path& from, const DataItem& item);
  Status CopyFromDvc(const DataItem& item);
  Status Download(const DataItem& item);

  FetchOptions options_;
  std::uint64_t brought_bytes_ = 0;
  bool cleared_ = false;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_FETCH_FETCH_H_
