// A jump for each function of libpq, and where each leads.
//
// In assembler, since a jump hands on whatever arguments there are.
#include "harness/history/libpq_calls.h"

// Those of SOCI 4.0.
#define RHARNESS_LIBPQ_CALLS(CALL) \
  CALL(PQclear);                   \
  CALL(PQcmdTuples);               \
  CALL(PQconnectdb);               \
  CALL(PQerrorMessage);            \
  CALL(PQexec);                    \
  CALL(PQexecParams);              \
  CALL(PQexecPrepared);            \
  CALL(PQfformat);                 \
  CALL(PQfinish);                  \
  CALL(PQfname);                   \
  CALL(PQfsize);                   \
  CALL(PQftype);                   \
  CALL(PQgetResult);               \
  CALL(PQgetisnull);               \
  CALL(PQgetvalue);                \
  CALL(PQnfields);                 \
  CALL(PQntuples);                 \
  CALL(PQprepare);                 \
  CALL(PQresultErrorField);        \
  CALL(PQresultErrorMessage);      \
  CALL(PQresultStatus);            \
  CALL(PQsendPrepare);             \
  CALL(PQsendQuery);               \
  CALL(PQsendQueryParams);         \
  CALL(PQsendQueryPrepared);       \
  CALL(PQserverVersion);           \
  CALL(PQsetSingleRowMode);        \
  CALL(PQstatus);                  \
  CALL(lo_close);                  \
  CALL(lo_lseek);                  \
  CALL(lo_open);                   \
  CALL(lo_read);                   \
  CALL(lo_write);

#if defined(__x86_64__)
#define RHARNESS_JUMP(to) "endbr64; jmp *" #to "(%rip)"
#elif defined(__aarch64__)
#define RHARNESS_JUMP(to) "adrp x16, " #to "; ldr x16, [x16, #:lo12:" #to "]; br x16"
#endif

#define RHARNESS_CALL(name)                                                                \
  __attribute__((visibility("hidden"), used)) void (*rharness_libpq_##name)() = nullptr;   \
  __asm__(".text; .hidden " #name "; .globl " #name "; .type " #name ", %function; " #name \
          ": " RHARNESS_JUMP(rharness_libpq_##name))
extern "C" {
RHARNESS_LIBPQ_CALLS(RHARNESS_CALL)
}

namespace rharness {

void LeadLibpqCallsTo(SharedLibrary* library) {
#define RHARNESS_LEAD(name) library->Find(#name, &rharness_libpq_##name)
  RHARNESS_LIBPQ_CALLS(RHARNESS_LEAD)
}

}  // namespace rharness
