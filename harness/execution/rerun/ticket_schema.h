// The JSON Schema of a ticket.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_TICKET_SCHEMA_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_TICKET_SCHEMA_H_

#include "harness/base/json.h"

namespace rharness {

Json TicketSchema();

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_TICKET_SCHEMA_H_
