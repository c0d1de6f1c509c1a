// Keys out of known numbers, a policy that names them, and a verdict that they sign.
#ifndef RHARNESS_TESTS_TRUST_ATTESTATION_ATTESTED_H_
#define RHARNESS_TESTS_TRUST_ATTESTATION_ATTESTED_H_

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/files.h"
#include "harness/trust/attestation/envelope.h"
#include "harness/trust/attestation/signer.h"
#include "harness/trust/attestation/trust.h"
#include "harness/trust/attestation/verdict_statement.h"

namespace rharness {

std::string FromHex(std::string_view hex);

// PEM of a key with these 32 bytes, in hex: an Ed25519 seed (RFC 8410), a scalar of P-256.
std::string Ed25519Pem(std::string_view seed);
std::string P256Pem(std::string_view scalar);
// A SubjectPublicKeyInfo of these bytes, in hex.
std::string PublicPem(std::string_view der);
inline constexpr char kEd25519Head[] = "302a300506032b6570032100";
inline constexpr char kP256Head[] = "3059301306072a8648ce3d020106082a8648ce3d03010703420004";

// The key of RFC 8032, section 7.1, TEST 2, and that of the test vector of DSSE.
inline constexpr char kAdaSeed[] =
    "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
inline constexpr char kAdaPublic[] =
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
inline constexpr char kBobScalar[] =
    "d73ec437fd6346e3619c5ebfdfff0f6916804955ad32ac9ac492b0ede1f6ffb7";

inline constexpr char kBobPublic[] =
    "67cd390f77aa359cb08c2235f652270493a9ed832b0abcc01f70954c0390d238"
    "0c782bd54e269125a44f4433aff1432ce94e12bca73aa67ac80cea12608ddf74";

// A folder with key files, each readable by its owner alone.
class KeyFolder {
 public:
  std::filesystem::path Put(const std::string& name, const std::string& text,
                            int mode = 0600) const;
  std::filesystem::path At(const std::string& name) const { return folder_.path() / name; }
  // Aborts where it is no key.
  std::unique_ptr<Signer> Load(const std::string& pem) const;

 private:
  ScopedTempDir folder_ = *ScopedTempDir::Make("rharness-keys-");
};

// A drifted run of two checkpoints and one rerun, decided at noon of 2026-06-01.
AttestedVerdict ExampleVerdict();

// Ada and Bob may sign verdicts of families "mlp*"; one of them is enough. Eve is in no policy.
struct AttestedWorld {
  AttestedWorld();
  std::string PolicyText(const std::string& rule = "keys: [ada, bob]") const;
  TrustPolicy Policy(const std::string& rule = "keys: [ada, bob]") const;
  // The verdict, signed by these.
  SignedEnvelope Signed(const std::vector<Signer*>& signers) const;

  KeyFolder folder;
  std::unique_ptr<Signer> ada, bob, eve;
  AttestedVerdict verdict = ExampleVerdict();
  WallTime now;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_TRUST_ATTESTATION_ATTESTED_H_
