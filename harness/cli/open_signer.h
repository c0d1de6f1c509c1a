// The options that name a signing key and the trust policy beside it, for verbs that sign.
#ifndef RHARNESS_HARNESS_CLI_OPEN_SIGNER_H_
#define RHARNESS_HARNESS_CLI_OPEN_SIGNER_H_

#include <memory>
#include <string>

#include "harness/base/result.h"
#include "harness/cli/command.h"
#include "harness/trust/attestation/signer.h"
#include "harness/trust/attestation/trust.h"

namespace rharness {

struct SignerOptions {
  std::string key;
  std::string passphrase_file;
  std::string trust;
};

// --key, --passphrase-file and --trust. `required`: each that must be there.
void AddSignerOptions(Command* verb, SignerOptions* options, bool required);

struct OpenedSigner {
  std::unique_ptr<Signer> signer;
  TrustPolicy trust;
};
// Errors: invalid_input where one of the two is not given; those of
// OpenSigner by its locator, and of LoadTrustPolicy.
Result<OpenedSigner> OpenSigner(const SignerOptions& options);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_OPEN_SIGNER_H_
