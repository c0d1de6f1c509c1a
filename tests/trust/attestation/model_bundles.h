// Bundles that model-signing 1.1.1 of PyPI wrote, with Bob's key, of the model "tiny".
//
// tiny: "a.b" with "x", "a/z" with 20 times "y", "empty", and "model.safetensors" with one F32 "w"
// of the bytes "abcd".
#ifndef RHARNESS_TESTS_TRUST_ATTESTATION_MODEL_BUNDLES_H_
#define RHARNESS_TESTS_TRUST_ATTESTATION_MODEL_BUNDLES_H_

#include <filesystem>
#include <string>
#include <string_view>

namespace rharness {

// One tensor "w" of one F32.
std::string OneTensorFile(std::string_view four_bytes);
// The model, as FOLDER/tiny; its path.
std::filesystem::path WriteTinyModel(const std::filesystem::path& folder);

// By files; by shards of 32 bytes; of the file model.safetensors alone.
extern const char kTinyByFiles[];
extern const char kTinyByShards[];
extern const char kTinyOneFile[];

// SHA-256 over the digests of its files, as the first of these says.
inline constexpr char kTinyRoot[] =
    "965edd658b0b8ae111cebff97e4381fba1fa72ae4860adff607643c9ac2bf276";

}  // namespace rharness

#endif  // RHARNESS_TESTS_TRUST_ATTESTATION_MODEL_BUNDLES_H_
