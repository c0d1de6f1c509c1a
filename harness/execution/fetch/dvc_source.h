// Data that DVC keeps: out of its cache, or a remote that is a folder, under the MD5 of the record.
//
// Role: a source of fetch.cc. Its data are trusted by their SHA-256 alone, as from all sources.
#ifndef RHARNESS_HARNESS_EXECUTION_FETCH_DVC_SOURCE_H_
#define RHARNESS_HARNESS_EXECUTION_FETCH_DVC_SOURCE_H_

#include <filesystem>
#include <functional>
#include <span>

#include "harness/records/manifest/manifest.h"

namespace rharness {

// Whether one of these folders has an object with the item's MD5 ("md5:..." as its other digest).
bool IsInDvcCache(std::span<const std::filesystem::path> caches, const DataItem& item);

// Copies the item's file, or assembles its directory from its listing and the listed files, as
// `to`, which must not exist. Follows no link below a cache, and copies no more than recorded.
// Errors: not_found (the object, or a file of a directory), integrity (more than recorded),
// invalid_input (a listing of another form), process (cancelled), io.
Status CopyFromDvcCache(std::span<const std::filesystem::path> caches, const DataItem& item,
                        const std::filesystem::path& to,
                        const std::function<bool()>& should_cancel);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_FETCH_DVC_SOURCE_H_
