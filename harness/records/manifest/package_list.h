// Packages by name, with their versions and whether a run was seen to use them; cheap to copy.
//
// Role: the records of a history name the same thousand packages repeatedly. Equal lists share
// their memory, in a process and between threads.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_PACKAGE_LIST_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_PACKAGE_LIST_H_

#include <initializer_list>
#include <map>
#include <memory>
#include <string>

namespace rharness {

// Whether a process of the run was seen to use a package.
enum class PackageUse { kNotKnown, kUsed, kNotUsed };

struct Package {
  std::string version;
  PackageUse use = PackageUse::kNotKnown;
  // "sha256:..." or "md5:..." of the installed files (packages.h); empty: not known.
  std::string digest = {};
  bool operator==(const Package&) const = default;
};
using PackageMap = std::map<std::string, Package>;  // by name

class PackageList {
 public:
  PackageList() : PackageList(PackageMap()) {}
  PackageList(PackageMap packages);  // NOLINT: implicit
  PackageList(std::initializer_list<PackageMap::value_type> packages)
      : PackageList(PackageMap(packages)) {}

  PackageMap::const_iterator begin() const { return held_->begin(); }
  PackageMap::const_iterator end() const { return held_->end(); }
  std::size_t size() const { return held_->size(); }
  bool empty() const { return held_->empty(); }
  bool contains(const std::string& name) const { return held_->contains(name); }
  PackageMap::const_iterator find(const std::string& name) const { return held_->find(name); }
  const Package& at(const std::string& name) const { return held_->at(name); }
  bool operator==(const PackageList& other) const { return held_ == other.held_; }
  // The same pointer for equal lists, as long as one of them lives.
  const std::shared_ptr<const PackageMap>& shared() const { return held_; }

 private:
  std::shared_ptr<const PackageMap> held_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_PACKAGE_LIST_H_
