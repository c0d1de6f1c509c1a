// An input of a run, as in manifests and evidence, and its producer.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_DATA_ITEM_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_DATA_ITEM_H_

#include <cstdint>
#include <optional>
#include <string>

#include "harness/base/member_facts.h"
#include "harness/records/manifest/empty_folders.h"

namespace rharness {

// The transform that wrote a piece of data. At least one member is set.
struct MadeBy {
  std::string repository;  // folder or URL of its code, without credentials
  std::string commit;      // full: 40 or 64 hex digits
  std::string version;     // its authors' version: "2.3.1"
  bool operator==(const MadeBy&) const = default;
};

// What a DataItem is; kDelta: a version of a Delta Lake table.
enum class DataKind { kNotStated, kFile, kDirectory, kDelta };
inline constexpr NameTable<DataKind, 4> kDataKindNames = {{{DataKind::kFile, "file"},
                                                           {DataKind::kDirectory, "directory"},
                                                           {DataKind::kDelta, "delta"},
                                                           {DataKind::kNotStated, ""}}};

struct DataItem {
  std::string name;      // unique in the manifest
  std::string location;  // source of the bytes: a path (relative ones below --root); default: path
  std::string path;      // as the command sees it: relative to its working directory, or absolute
  DataKind kind = DataKind::kNotStated;
  std::string sha256;  // content hash: of the file, HashTree of the directory, or the snapshot's
  std::uint64_t size_bytes = 0;
  EmptyFolders empty_folders;  // of a directory: what sha256 does not cover
  // The digest of an imported record in its place: "md5:..." of DVC, "mlflow:..." of MLflow. Never
  // a pin.
  std::string other_digest;
  // URL of the content, if `location` is missing or gone: "https://...",
  // "s3://BUCKET/KEY?versionId=ID", "lakefs://REPOSITORY/COMMIT/PATH". Without credentials. For a
  // table "delta:FOLDER@VERSION", which names the version.
  std::string source;
  std::optional<MadeBy> made_by;  // empty: not stated; never in evidence, which saw the bytes alone
};

// Whether it is code outside of the run's folder, which is pinned as data is: a Python file by its
// absolute path.
inline bool IsCodeOutside(const DataItem& item) {
  return item.path.starts_with('/') && item.path.ends_with(".py");
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_DATA_ITEM_H_
