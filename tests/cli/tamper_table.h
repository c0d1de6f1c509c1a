// Tamperings as rows of a table: what is changed, and what is said of it.
//
// A new thing that is signed gets a group: the words of the command that verifies it, and rows.
// What they are about is made in tamper_test.cc.
#ifndef RHARNESS_TESTS_CLI_TAMPER_TABLE_H_
#define RHARNESS_TESTS_CLI_TAMPER_TABLE_H_

#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "harness/trust/attestation/signer.h"

namespace rharness {

enum class Tamper {
  kText,       // `from` in the file becomes `to`
  kPayload,    // in the payload of its envelope, whose signatures stay
  kSignedBy,   // that, and the envelope is signed anew by the key whose name stands after `to`
  kSignature,  // of the first signature: "first", "last" (byte), "short", "zeros", "none"
  kRemove,     // the file is gone
  kLink,       // it is a link to a copy of itself
  kCut,        // half of it is left
  kAppend,     // `to` is added at its end
  kCopyOf,     // it is a copy of the file `to`
};

struct TamperRow {
  const char* name;
  const char* file;
  Tamper how = Tamper::kText;
  const char* from = "";
  const char* to = "";
  const char* says = "";  // part of what it prints: the first bad entry, and why
  int exit_code = 5;
  const char* signer = "";  // of kSignedBy: "ada", "bob", "eve"
};

// The command, by its words after "rharness", which ends with 0 on what nobody touched.
struct TamperGroup {
  const char* name;
  const char* command;  // words with a blank between them
  std::span<const TamperRow> rows;
};

// All groups, in the order of the table.
std::span<const TamperGroup> TamperGroups();

using TamperKeys = std::map<std::string, Signer*>;
// Does to the files in `folder` what the row says; a row that changes nothing fails the test.
void DoTamper(const std::filesystem::path& folder, const TamperRow& row, const TamperKeys& keys);

}  // namespace rharness

#endif  // RHARNESS_TESTS_CLI_TAMPER_TABLE_H_
