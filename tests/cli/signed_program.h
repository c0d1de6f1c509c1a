// The program with the keys of Ada, who has a second one at home, of Bob, and of Eve, whom nobody
// trusts.
#ifndef RHARNESS_TESTS_CLI_SIGNED_PROGRAM_H_
#define RHARNESS_TESTS_CLI_SIGNED_PROGRAM_H_

#include <string>

#include "tests/cli/drill_program.h"
#include "tests/trust/approval/people.h"

namespace rharness {

class SignedProgram : public DrillProgram {
 protected:
  void SetUp() override {
    Secret("ada.pem", Ed25519Pem(kAdaSeed));
    Secret("home.pem", Ed25519Pem(std::string(64, '7')));
    Secret("bob.pem", P256Pem(kBobScalar));
    Secret("eve.pem", Ed25519Pem(std::string(64, '3')));
    Write("ada.pub", PublicPem(std::string(kEd25519Head) + kAdaPublic));
    Write("home.pub", PublicPem(std::string(kEd25519Head) + kSevensPublic));
    Write("bob.pub", PublicPem(std::string(kP256Head) + kBobPublic));
    Write("trust.yaml",
          "version: 1\nkeys:\n  - {name: ada, owner: Ada, public_key: ada.pub}\n"
          "  - {name: home, owner: ada, public_key: home.pub}\n"
          "  - {name: bob, owner: Bob, public_key: bob.pub}\nrules:\n"
          "  - {predicates: [\"urn:rharness:retirement:*\", \"urn:rharness:withdrawal:*\", "
          "\"urn:rharness:deletion:*\"], keys: [ada, home, bob]}\n");
  }

 private:
  void Secret(const std::string& name, const std::string& text) const {
    Write(name, text);
    std::filesystem::permissions(At(name), std::filesystem::perms(0600));
  }
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_CLI_SIGNED_PROGRAM_H_
