// By what a run is looked for beside its name: what the table 'lookups' has of its manifest.
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

// "registry/repository:tag@digest", without what is empty; as the migration that made the table
// spells it of a manifest's text.
std::string LookupImage(const Image& image);

// Whether these are those of a manifest's text. One that is no manifest is told by who holds it to
// its digest, and passes. Cost: of a text as it is written today its beginning is read, and all of
// another one.
bool AreLookupsOf(std::string_view manifest, const LookupTexts& texts);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_LOOKUP_TEXTS_H_
