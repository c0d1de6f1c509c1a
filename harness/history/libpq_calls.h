// The functions of libpq that SOCI's backend calls, where that backend is an archive.
//
// Role: private to libpq.cc, for builds with RHARNESS_ARCHIVES. The archive would have libpq
// linked, with a directory and a Kerberos client; so each of its calls jumps to the library that is
// loaded.
#ifndef RHARNESS_HARNESS_HISTORY_LIBPQ_CALLS_H_
#define RHARNESS_HARNESS_HISTORY_LIBPQ_CALLS_H_

#include "harness/base/shared_library.h"

namespace rharness {

// Lets them lead into `library`; before that none may be called. What the library lacks is in its
// status().
void LeadLibpqCallsTo(SharedLibrary* library);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_LIBPQ_CALLS_H_
