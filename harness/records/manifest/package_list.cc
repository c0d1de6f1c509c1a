// The table of the lists that are held.
#include "harness/records/manifest/package_list.h"

#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace rharness {
namespace {

std::size_t HashOf(const PackageMap& packages) {
  std::size_t hash = packages.size();
  const auto mix = [&hash](std::size_t value) { hash = hash * 1099511628211u ^ value; };
  for (const auto& [name, package] : packages) {
    mix(std::hash<std::string>()(name));
    mix(std::hash<std::string>()(package.version));
    mix(static_cast<std::size_t>(package.use));
    mix(std::hash<std::string>()(package.digest));
  }
  return hash;
}

class Table {
 public:
  std::shared_ptr<const PackageMap> Share(PackageMap packages) {
    const std::size_t hash = HashOf(packages);
    const std::lock_guard lock(mutex_);
    const auto [first, last] = lists_.equal_range(hash);
    for (auto at = first; at != last;) {
      const std::shared_ptr<const PackageMap> held = at->second.lock();
      if (held != nullptr && *held == packages) return held;
      at = held == nullptr ? lists_.erase(at) : std::next(at);
    }
    auto list = std::make_shared<const PackageMap>(std::move(packages));
    lists_.emplace(hash, list);
    return list;
  }

 private:
  std::mutex mutex_;
  std::unordered_multimap<std::size_t, std::weak_ptr<const PackageMap>> lists_;
};

}  // namespace

PackageList::PackageList(PackageMap packages) {
  static Table* const kTable = new Table();  // outlives every list
  held_ = kTable->Share(std::move(packages));
}

}  // namespace rharness
