// Croissant: a publisher's description of the files of a data set, merged into a manifest's data.
//
// Role: the effects behind `rharness import --complete --croissant`. It describes data and no run,
// so it is no source of imports. Source: Croissant 1.0 and 1.1 (docs.mlcommons.org/croissant).
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_CROISSANT_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_CROISSANT_H_

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

struct CroissantFile {  // a cr:FileObject
  std::string where;    // "distribution[2]"
  std::string id;
  std::string name;
  std::string content_url;
  std::string sha256;        // 64 lower-case hexadecimal digits, or empty
  std::string stated;        // text in place of a SHA-256 that is none: "croissant-sha256:..."
  std::string contained_in;  // the id of an archive; empty: a file of its own
  MadeBy made_by;            // of prov:wasGeneratedBy, its own or the data set's; may be empty
};

struct Croissant {
  std::string name;
  std::string version;
  MadeBy made_by;                    // what generated it as a whole, if stated
  std::vector<CroissantFile> files;  // the first 10,000
  std::vector<std::string> remarks;  // its oddities, a sentence each
};

// Remarks report a "sha256" that is no SHA-256 (the specification's own examples have 32 and 63
// characters), a live data set, and FileSets, whose files have no hashes. Errors: invalid_input for
// a file that is no Croissant.
Result<Croissant> ParseCroissant(const Json& json, std::string_view file);

struct CroissantUse {
  std::size_t files = 0;     // now data of the manifest
  std::size_t verified = 0;  // of these, found here with the stated SHA-256
  std::vector<std::string> remarks;
};

// Fills the data of `manifest`: an item with the name, the path or the file name of a file gets its
// SHA-256 and source; a file outside of archives that is no item yet becomes one. Each field is a
// hint in the origin. A file at its relative contentUrl, below `folder`, or at the item's location,
// is hashed and must have the stated SHA-256. Errors: invalid_input if the record, the Croissant
// and the file at hand disagree, both named; io.
Result<CroissantUse> ApplyCroissant(const Croissant& croissant, const std::filesystem::path& folder,
                                    const std::filesystem::path& root, WallTime now,
                                    Manifest* manifest);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_CROISSANT_H_
