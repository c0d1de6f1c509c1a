// The grades of an imported manifest's fields, by name.
#include "harness/records/manifest/origin.h"

#include "harness/records/manifest/origin_members.h"

namespace rharness {

std::string_view GradeName(Grade grade) { return NameIn(kGradeNames, grade); }

}  // namespace rharness
