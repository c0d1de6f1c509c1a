// Trouble of the machine, told from what is wrong with a thing itself.
//
// Role: what decides whether a failure says anything about what was asked for. A missing or
// forbidden file is an answer; a disk that cannot be read, or that is full, is none.
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

// io, process, timeout and internal: the same may succeed at another time.
bool IsTrouble(const Error& error);

// Why a path could not be reached, by errno: not_found where there is nothing, invalid_input for
// what lies in the path itself (permissions, loops of links, too long a name), io for the rest.
Error PathError(std::string_view what, int error_number, const std::filesystem::path& path);

// Whether a program that failed gave an answer: it exited by itself, and its last words name no
// trouble. Its messages must be in English (LC_ALL=C.UTF-8).
bool IsAnswer(const ProcessResult& failed);

// Why whatever was written on the file system of `folder` cannot be trusted: less than a megabyte
// or no file is left on it. Empty: there is room, or it cannot be told. Source: statvfs(3).
std::optional<std::string> WhyFull(const std::filesystem::path& folder);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_TROUBLE_H_
