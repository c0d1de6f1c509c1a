// Reads the database file of rpm: one header per package.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_RPM_DATABASE_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_RPM_DATABASE_H_

#include <filesystem>
#include <functional>
#include <string_view>

namespace rharness {

// Of rpmdb.sqlite: table Packages, column blob. Yields nothing for a missing or invalid file or one
// larger than 512 MiB; for a damaged one, the headers before the damage. Reads the file into memory
// first, so that nothing in it makes SQLite open another file; it does not see uncommitted writes.
void ForEachRpmHeader(const std::filesystem::path& path,
                      const std::function<void(std::string_view header)>& take);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_RPM_DATABASE_H_
