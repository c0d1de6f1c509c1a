// The database of rpm as it lies in a file: a header a package.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_RPM_DATABASE_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_RPM_DATABASE_H_

#include <filesystem>
#include <functional>
#include <string_view>

namespace rharness {

// Of rpmdb.sqlite: table Packages, column blob. Of a file that is missing, is none or is larger
// than 512 MiB nothing is told; of one that is damaged, what came before. The file is read into
// memory first, so that nothing in it makes SQLite open another one; what has not been written back
// from a transaction that is under way is not seen.
void ForEachRpmHeader(const std::filesystem::path& path,
                      const std::function<void(std::string_view header)>& take);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_RPM_DATABASE_H_
