// Search keys of a run beside its name: the content of the table 'lookups' for its manifest.
//
// Role: private to this folder; pure.
#ifndef RHARNESS_HARNESS_HISTORY_LOOKUP_TEXTS_H_
#define RHARNESS_HARNESS_HISTORY_LOOKUP_TEXTS_H_

#include <string>
#include <string_view>

#include "harness/records/manifest/manifest.h"

namespace rharness {

struct LookupTexts {
  std::string code_commit;
  std::string image;
  bool operator==(const LookupTexts&) const = default;
};

// "registry/repository:tag@digest", without empty parts; the same spelling as in the migration that
// made the table.
std::string LookupImage(const Image& image);

// Whether these match a manifest's text. A text that is no manifest passes; the check of its digest
// reports it. Cost: reads only the beginning of a text in today's format, and all of any other.
bool AreLookupsOf(std::string_view manifest, const LookupTexts& texts);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_LOOKUP_TEXTS_H_
