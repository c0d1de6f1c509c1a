// The files of an attempt as lines in a log: for a dispatcher that sees a task's log but not its
// files.
//
// Role: carries the files of `rharness rerun` if node and harness share no folder. Pure: text in,
// files out, and back. The end marker among them proves them (end_marker.h), as for files in a
// shared folder.
//
// Each line is "@rharness TICKET ..." with the digest of the ticket; other lines may stand between
// them. TICKET begin BYTES SHA256 LINES, then LINES lines TICKET NUMBER BASE64, numbered from 1,
// then TICKET end. The framed content is, file after file, a line of JSON with path and size, and
// the bytes.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_FRAMED_LOG_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_FRAMED_LOG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

struct FramedFile {
  std::string path;  // relative, below the folder of `rharness rerun`
  std::string content;
};

// Of all files together. As lines that is 8.5 MB: kubelets rotate a log at 10 MiB, and return only
// the newest file.
inline constexpr std::uint64_t kMostFramedBytes = std::uint64_t{6} << 20;

// Errors: invalid_input for more bytes than that.
Result<std::string> FrameFiles(std::string_view ticket_sha256,
                               const std::vector<FramedFile>& files);

// None if no frame of this ticket begins in the log: its process did not come so far. Errors:
// integrity, with the line, for a frame that is cut off, has gaps, repeats or does not match its
// digest, and for paths that are not relative or repeated. A log may contain anything else.
Result<std::optional<std::vector<FramedFile>>> ParseFramedLog(std::string_view log,
                                                              std::string_view ticket_sha256);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_FRAMED_LOG_H_
