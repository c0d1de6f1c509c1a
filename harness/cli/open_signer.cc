// A key and a trust policy, from options.
#include "harness/cli/open_signer.h"

#include <utility>

#include "harness/trust/attestation/open_signer.h"

namespace rharness {

void AddSignerOptions(Command* verb, SignerOptions* options, bool required) {
  Option& key =
      verb->Add(
              "--key", &options->key,
              "The private key, Ed25519 or ECDSA P-256: a PEM file, pkcs11:... or vault:MOUNT/KEY")
          .File();
  verb->Add("--passphrase-file", &options->passphrase_file,
            "File whose first line opens an encrypted key")
      .File();
  Option& trust = verb->Add("--trust", &options->trust,
                            "The trust policy (rharness verify --help): whose key may sign it")
                      .File();
  if (!required) return;
  key.Required();
  trust.Required();
}

Result<OpenedSigner> OpenSigner(const SignerOptions& options) {
  if (options.key.empty()) return InvalidInput("is needed to sign", "--key");
  if (options.trust.empty())
    return InvalidInput("says whose key may sign; it is needed", "--trust");
  OpenedSigner opened;
  ASSIGN_OR_RETURN(opened.trust, LoadTrustPolicy(options.trust));
  ASSIGN_OR_RETURN(opened.signer, OpenSigner(options.key, options.passphrase_file));
  return opened;
}

}  // namespace rharness
