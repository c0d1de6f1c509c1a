// The identity of the stack that a fingerprint is of, and where and when it was taken.
//
// Role: the first part of a fingerprint. Reads the machine; what is compared is kept apart from
// what only tells one taking from another.
#ifndef RHARNESS_PROBES_STACK_H_
#define RHARNESS_PROBES_STACK_H_

#include <map>
#include <string>

#include "harness/base/json.h"
#include "harness/records/manifest/environment.h"

namespace rharness {

// {"device", "os", "kernel", "glibc", "cpu": {"architecture", "model", "microcode", "isa",
// "logical_cores"}, "gpu_driver", "cuda_driver", "gpus": [{"model", "memory_bytes"}], "libraries":
// {soname: description}, "environment": {name: value}}: the variables of numeric libraries. No
// time, host name, address or serial number. What the machine does not say is left out.
Json DescribeStack(const Environment& environment, const std::string& device,
                   const std::map<std::string, Json>& libraries);

// {"made", "host", "gpus": [UUID]}: who and when, never compared.
Json CaptureContext(const Environment& environment);

}  // namespace rharness

#endif  // RHARNESS_PROBES_STACK_H_
