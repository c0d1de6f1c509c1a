// libp11-kit, loaded at the first use of a token.
//
// Role: private to pkcs11_signer.cc. rharness does not link to it: signing with files needs none.
// It parses PKCS#11 URIs, finds this machine's modules, and loads them.
#ifndef RHARNESS_HARNESS_TRUST_ATTESTATION_P11_KIT_H_
#define RHARNESS_HARNESS_TRUST_ATTESTATION_P11_KIT_H_

#include <p11-kit/p11-kit.h>
#include <p11-kit/pkcs11.h>
#include <p11-kit/uri.h>

#include <memory>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

struct P11Kit {
  decltype(&p11_kit_be_quiet) be_quiet = nullptr;
  decltype(&p11_kit_message) message = nullptr;
  decltype(&p11_kit_strerror) strerror = nullptr;
  decltype(&p11_kit_module_load) module_load = nullptr;
  decltype(&p11_kit_module_initialize) module_initialize = nullptr;
  decltype(&p11_kit_module_finalize) module_finalize = nullptr;
  decltype(&p11_kit_module_release) module_release = nullptr;
  decltype(&p11_kit_module_get_name) module_get_name = nullptr;
  decltype(&p11_kit_modules_load_and_initialize) modules_load = nullptr;
  decltype(&p11_kit_modules_finalize_and_release) modules_release = nullptr;
  decltype(&p11_kit_uri_new) uri_new = nullptr;
  decltype(&p11_kit_uri_free) uri_free = nullptr;
  decltype(&p11_kit_uri_parse) uri_parse = nullptr;
  decltype(&p11_kit_uri_message) uri_message = nullptr;
  decltype(&p11_kit_uri_any_unrecognized) uri_any_unrecognized = nullptr;
  decltype(&p11_kit_uri_get_attribute) uri_attribute = nullptr;
  decltype(&p11_kit_uri_get_pin_value) uri_pin_value = nullptr;
  decltype(&p11_kit_uri_get_pin_source) uri_pin_source = nullptr;
  decltype(&p11_kit_uri_get_module_path) uri_module_path = nullptr;
  decltype(&p11_kit_uri_get_module_name) uri_module_name = nullptr;
  decltype(&p11_kit_uri_get_slot_id) uri_slot_id = nullptr;
  decltype(&p11_kit_uri_match_module_info) match_module = nullptr;
  decltype(&p11_kit_uri_match_slot_info) match_slot = nullptr;
  decltype(&p11_kit_uri_match_token_info) match_token = nullptr;
};

// The same one for the life of the process. Errors: unsupported, with the package's name.
Result<const P11Kit*> LoadP11Kit();

// The modules to search, initialised, and released with the object.
class P11Modules {
 public:
  // `path`: one module; empty: p11-kit's configured ones. Errors: not_found, io.
  static Result<std::unique_ptr<P11Modules>> Load(const P11Kit* kit, const std::string& path);
  P11Modules(const P11Modules&) = delete;
  P11Modules& operator=(const P11Modules&) = delete;
  ~P11Modules();
  const std::vector<CK_FUNCTION_LIST*>& all() const { return all_; }

 private:
  explicit P11Modules(const P11Kit* kit) : kit_(kit) {}
  const P11Kit* kit_;
  CK_FUNCTION_LIST* one_ = nullptr;
  CK_FUNCTION_LIST** registered_ = nullptr;
  std::vector<CK_FUNCTION_LIST*> all_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_ATTESTATION_P11_KIT_H_
