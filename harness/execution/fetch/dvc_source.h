// Data that DVC keeps: out of its cache, or a remote that is a folder, under the MD5 of the record.
//
// Role: a source of fetch.cc. What comes is believed by its SHA-256 alone, as from all sources.
#ifndef RHARNESS_HARNESS_EXECUTION_FETCH_DVC_SOURCE_H_
#define RHARNESS_HARNESS_EXECUTION_FETCH_DVC_SOURCE_H_

#include <filesystem>
#include <functional>
#include <span>

#include "harness/records/manifest/manifest.h"

namespace rharness {

// Whether one of these folders has an object with the item's MD5 ("md5:..." as its other digest).
bool IsInDvcCache(std::span<const std::filesystem::path> caches, const DataItem& item);

// Copies the item's file, or puts its directory together from its listing and the files that this
// names, as `to`, which is not there. No link below a cache is followed, and no more is copied than
// the record says. Errors: not_found (the object, or a file of a directory), integrity (more than
// recorded), invalid_input (a listing of another form), process (cancelled), io.
Status CopyFromDvcCache(std::span<const std::filesystem::path> caches, const DataItem& item,
                        const std::filesystem::path& to,
                        const std::function<bool()>& should_cancel);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_FETCH_DVC_SOURCE_H_
