// Lists of packages as bundles of facts.
#include "harness/judge/package_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "harness/records/manifest/packages.h"

namespace rharness {
namespace {

FactUse UseOf(PackageUse use) {
  switch (use) {
    case PackageUse::kNotKnown:
      return FactUse::kNotKnown;
    case PackageUse::kUsed:
      return FactUse::kUsed;
    case PackageUse::kNotUsed:
      return FactUse::kNotUsed;
  }
  Abort("unknown PackageUse");
}

std::shared_ptr<const FactBundle> MakeBundle(const std::string& prefix, const PackageList& list) {
  auto bundle = std::make_shared<FactBundle>();
  bundle->facts.reserve(list.size());
  std::vector<std::string> lines;
  for (const auto& [name, package] : list) {
    bundle->facts.push_back({.layer = Layer::kEnvironment,
                             .key = prefix + name,
                             .value = package.version,
                             .use = UseOf(package.use),
                             .digest = package.digest});
    lines.push_back(prefix + name + "=" + package.version + "\n");
  }
  std::ranges::sort(lines);
  for (const std::string& line : lines) bundle->lines += line;
  return bundle;
}

// The facts of equal lists are made once: thousands of runs have the same thousand packages.
class BundleTable {
 public:
  std::shared_ptr<const FactBundle> Get(const std::string& prefix, const PackageList& list) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[{prefix, list.shared().get()}];
    if (entry.bundle != nullptr && entry.list.lock() == list.shared()) return entry.bundle;
    if (entries_.size() > kMost) {
      entries_.clear();
      return MakeBundle(prefix, list);
    }
    entry = {list.shared(), MakeBundle(prefix, list)};
    return entry.bundle;
  }

 private:
  static constexpr std::size_t kMost = 256;
  struct Entry {
    std::weak_ptr<const PackageMap> list;  // a new list may reuse a dead list's address
    std::shared_ptr<const FactBundle> bundle;
  };
  std::mutex mutex_;
  std::map<std::pair<std::string, const PackageMap*>, Entry> entries_;
};

}  // namespace

void AddPackages(const Environment& environment, const std::string& host_digest,
                 std::vector<Fact>* facts) {
  static BundleTable* const kBundles = new BundleTable();
  const auto& lists = environment.packages;
  const auto add = [&](const char* manager, const char* in_words, bool is_expected) {
    const std::string prefix = fmt::format("package.{}.", manager);
    Fact fact{.layer = Layer::kEnvironment, .key = prefix, .value = in_words};
    if (const auto list = lists.find(manager); list != lists.end()) {
      fact.kind = FactKind::kComplete;
      fact.bundle = kBundles->Get(prefix, list->second);
    } else if (is_expected) {
      fact.kind = FactKind::kNotKnown;
    } else {
      return;
    }
    facts->push_back(std::move(fact));
  };
  add(kPython, "Python packages", true);
  const bool has_other = lists.contains(kRpm) || lists.contains(kApk);
  add(kDpkg, "the host's packages", host_digest.empty() && !has_other);
  for (const char* manager : {kRpm, kApk}) add(manager, "the host's packages", false);
  // What no conda was ever seen in is not waited for, and records of before never looked.
  add(kConda, "conda packages", false);
}

}  // namespace rharness
