// Separates trouble of the machine from faults of the thing itself.
//
// Role: decides whether a failure answers the question. A missing or forbidden file is an answer;
// an unreadable or full disk is none.
#ifndef RHARNESS_HARNESS_BASE_TROUBLE_H_
#define RHARNESS_HARNESS_BASE_TROUBLE_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/base/subprocess.h"

namespace rharness {

// io, process, timeout and internal: a retry may succeed.
bool IsTrouble(const Error& error);

// Why a path could not be reached, by errno: not_found if it does not exist, invalid_input for
// faults of the path itself (permissions, loops of links, too long a name), io for the rest.
Error PathError(std::string_view what, int error_number, const std::filesystem::path& path);

// Whether a failed program gave an answer: it exited by itself, and its last words name no trouble.
// Its messages must be in English (LC_ALL=C.UTF-8).
bool IsAnswer(const ProcessResult& failed);

// Why files on the file system of `folder` cannot be trusted: less than a megabyte or no inode is
// left. Empty: there is room, or it is not known. Source: statvfs(3).
std::optional<std::string> WhyFull(const std::filesystem::path& folder);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_TROUBLE_H_
