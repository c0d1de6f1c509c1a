// Fetching: the data of runs brought into a cache before a drill, under the hash that they must
// have.
//
// Role: fills what `drill --data-cache` reads (rerun/data_cache.h). Nothing is believed: what comes
// is hashed, and only what has its recorded SHA-256 gets in.
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
  kNowhere,   // neither at its location nor at a source that can be asked
  kFailed,    // the source refused it, or sent something else
};
std::string_view FetchStateName(FetchState state);  // "cached", "in place", ...

struct Fetched {
  std::string run_id;
  std::string name;  // of the data item
  FetchState state = FetchState::kNowhere;
  std::uint64_t size_bytes = 0;  // as recorded
  std::string detail;            // of what could not be had: why
};

struct FetchOptions {
  std::filesystem::path cache;
  std::vector<std::filesystem::path> dvc_caches;  // of DVC, or its remotes that are folders
  Places places;
  std::uint64_t budget_bytes = 0;  // of what is brought; 0: none
  bool copy = false;               // what is at its location, too
  bool dry_run = false;
  std::function<bool()> should_cancel;
  RemoteOptions remote;  // how sources are asked; should_cancel is the above
};

// One content is brought once, however many runs have it. Sources: DVC's caches (dvc_source.h),
// then those of remote.h (files). Later ones that fit the budget are still brought after one that
// does not. What a killed fetch left in the cache a day ago is removed.
class Fetcher {
 public:
  explicit Fetcher(FetchOptions options) : options_(std::move(options)) {}
  // Of every data item of the run. Errors: io of the cache itself.
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
