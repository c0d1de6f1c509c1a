// The identity of a fingerprint's stack, and where and when it was taken.
//
// Role: the first part of a fingerprint. Reads the machine; separates compared facts from those
// that only identify one measurement.
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
// time, host name, address or serial number. Unknown facts are left out.
Json DescribeStack(const Environment& environment, const std::string& device,
                   const std::map<std::string, Json>& libraries);

// {"made", "host", "gpus": [UUID]}: where and when, never compared.
Json CaptureContext(const Environment& environment);

}  // namespace rharness

#endif  // RHARNESS_PROBES_STACK_H_
