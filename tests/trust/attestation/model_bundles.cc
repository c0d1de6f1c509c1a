// The model "tiny", and the bytes of its bundles.
#include "tests/trust/attestation/model_bundles.h"

#include <gtest/gtest.h>

#include "harness/base/files.h"

namespace rharness {

const char kTinyByFiles[] =
    "{\"mediaType\":\"application/vnd.dev.sigstore.bundle.v0.3+json\",\"verificationMaterial\""
    ":{\"publicKey\":{\"hint\":\"0208b83a6f7cb3a71b25443312dc3063661cd8f474cfe938f3c2568f7d46"
    "5a8d\"},\"tlogEntries\":[]},\"dsseEnvelope\":{\"payload\":\"ewogICJfdHlwZSI6ICJodHRwczov"
    "L2luLXRvdG8uaW8vU3RhdGVtZW50L3YxIiwKICAic3ViamVjdCI6IFsKICAgIHsKICAgICAgIm5hbWUiOiAidGlu"
    "eSIsCiAgICAgICJkaWdlc3QiOiB7CiAgICAgICAgInNoYTI1NiI6ICI5NjVlZGQ2NThiMGI4YWUxMTFjZWJmZjk3"
    "ZTQzODFmYmExZmE3MmFlNDg2MGFkZmY2MDc2NDNjOWFjMmJmMjc2IgogICAgICB9CiAgICB9CiAgXSwKICAicHJl"
    "ZGljYXRlVHlwZSI6ICJodHRwczovL21vZGVsX3NpZ25pbmcvc2lnbmF0dXJlL3YxLjAiLAogICJwcmVkaWNhdGUi"
    "OiB7CiAgICAic2VyaWFsaXphdGlvbiI6IHsKICAgICAgIm1ldGhvZCI6ICJmaWxlcyIsCiAgICAgICJpZ25vcmVf"
    "cGF0aHMiOiBbCiAgICAgICAgIi5naXRodWIiLAogICAgICAgICIuZ2l0IiwKICAgICAgICAiLmdpdGF0dHJpYnV0"
    "ZXMiLAogICAgICAgICIuZ2l0aWdub3JlIgogICAgICBdLAogICAgICAiaGFzaF90eXBlIjogInNoYTI1NiIsCiAg"
    "ICAgICJhbGxvd19zeW1saW5rcyI6IGZhbHNlCiAgICB9LAogICAgInJlc291cmNlcyI6IFsKICAgICAgewogICAg"
    "ICAgICJuYW1lIjogImEveiIsCiAgICAgICAgImFsZ29yaXRobSI6ICJzaGEyNTYiLAogICAgICAgICJkaWdlc3Qi"
    "OiAiNmRiY2IxMjc0YzFkNGFjNGQ1YjUzYWY5ZWEzMDA3YTdhMWY4NGI5OGMxMGUxNTI5ODZiNzJlZjg1YTliNTk1"
    "OSIKICAgICAgfSwKICAgICAgewogICAgICAgICJuYW1lIjogImEuYiIsCiAgICAgICAgImFsZ29yaXRobSI6ICJz"
    "aGEyNTYiLAogICAgICAgICJkaWdlc3QiOiAiMmQ3MTE2NDJiNzI2YjA0NDAxNjI3Y2E5ZmJhYzMyZjVjODUzMGZi"
    "MTkwM2NjNGRiMDIyNTg3MTc5MjFhNDg4MSIKICAgICAgfSwKICAgICAgewogICAgICAgICJuYW1lIjogImVtcHR5"
    "IiwKICAgICAgICAiYWxnb3JpdGhtIjogInNoYTI1NiIsCiAgICAgICAgImRpZ2VzdCI6ICJlM2IwYzQ0Mjk4ZmMx"
    "YzE0OWFmYmY0Yzg5OTZmYjkyNDI3YWU0MWU0NjQ5YjkzNGNhNDk1OTkxYjc4NTJiODU1IgogICAgICB9LAogICAg"
    "ICB7CiAgICAgICAgIm5hbWUiOiAibW9kZWwuc2FmZXRlbnNvcnMiLAogICAgICAgICJhbGdvcml0aG0iOiAic2hh"
    "MjU2IiwKICAgICAgICAiZGlnZXN0IjogImY4NjFhMTEzNjEwNjI4NmVkYWY5NjMxYmQ4YzA5Y2UzYzUxMTExOWQ2"
    "YjliNWNkYTJmNDIzZWVmY2Q4MjA2MzciCiAgICAgIH0KICAgIF0KICB9Cn0=\",\"payloadType\":\"applica"
    "tion/vnd.in-toto+json\",\"signatures\":[{\"sig\":\"MEUCIQCkhT7d13ZDH8RGUOUTaqi3aw8xOk3Ah"
    "Y+RGQg6irS7/wIgIYMxaHw5MLuaeE5++pVCkugPCzt8LSg1uMMg7iwAhro=\",\"keyid\":\"\"}]}}";

const char kTinyByShards[] =
    "{\"mediaType\":\"application/vnd.dev.sigstore.bundle.v0.3+json\",\"verificationMaterial\""
    ":{\"publicKey\":{\"hint\":\"0208b83a6f7cb3a71b25443312dc3063661cd8f474cfe938f3c2568f7d46"
    "5a8d\"},\"tlogEntries\":[]},\"dsseEnvelope\":{\"payload\":\"ewogICJfdHlwZSI6ICJodHRwczov"
    "L2luLXRvdG8uaW8vU3RhdGVtZW50L3YxIiwKICAic3ViamVjdCI6IFsKICAgIHsKICAgICAgIm5hbWUiOiAidGlu"
    "eSIsCiAgICAgICJkaWdlc3QiOiB7CiAgICAgICAgInNoYTI1NiI6ICJhYjA1MTI4ZjEwOWQ1YzI4ZWIzYWRiZmEy"
    "NjJhNjdjOGRlMTcxYTQ2NTcwOGUyZDIyYTcwYWQ4ZjE4MmM5YWU0IgogICAgICB9CiAgICB9CiAgXSwKICAicHJl"
    "ZGljYXRlVHlwZSI6ICJodHRwczovL21vZGVsX3NpZ25pbmcvc2lnbmF0dXJlL3YxLjAiLAogICJwcmVkaWNhdGUi"
    "OiB7CiAgICAic2VyaWFsaXphdGlvbiI6IHsKICAgICAgIm1ldGhvZCI6ICJzaGFyZHMiLAogICAgICAiaWdub3Jl"
    "X3BhdGhzIjogWwogICAgICAgICIuZ2l0aHViIiwKICAgICAgICAiLmdpdCIsCiAgICAgICAgIi5naXRhdHRyaWJ1"
    "dGVzIiwKICAgICAgICAiLmdpdGlnbm9yZSIKICAgICAgXSwKICAgICAgImhhc2hfdHlwZSI6ICJzaGEyNTYiLAog"
    "ICAgICAiYWxsb3dfc3ltbGlua3MiOiBmYWxzZSwKICAgICAgInNoYXJkX3NpemUiOiAzMi4wCiAgICB9LAogICAg"
    "InJlc291cmNlcyI6IFsKICAgICAgewogICAgICAgICJuYW1lIjogImEvejowOjIwIiwKICAgICAgICAiYWxnb3Jp"
    "dGhtIjogInNoYTI1Ni1zaGFyZGVkLTMyIiwKICAgICAgICAiZGlnZXN0IjogIjZkYmNiMTI3NGMxZDRhYzRkNWI1"
    "M2FmOWVhMzAwN2E3YTFmODRiOThjMTBlMTUyOTg2YjcyZWY4NWE5YjU5NTkiCiAgICAgIH0sCiAgICAgIHsKICAg"
    "ICAgICAibmFtZSI6ICJhLmI6MDoxIiwKICAgICAgICAiYWxnb3JpdGhtIjogInNoYTI1Ni1zaGFyZGVkLTMyIiwK"
    "ICAgICAgICAiZGlnZXN0IjogIjJkNzExNjQyYjcyNmIwNDQwMTYyN2NhOWZiYWMzMmY1Yzg1MzBmYjE5MDNjYzRk"
    "YjAyMjU4NzE3OTIxYTQ4ODEiCiAgICAgIH0sCiAgICAgIHsKICAgICAgICAibmFtZSI6ICJtb2RlbC5zYWZldGVu"
    "c29yczowOjMyIiwKICAgICAgICAiYWxnb3JpdGhtIjogInNoYTI1Ni1zaGFyZGVkLTMyIiwKICAgICAgICAiZGln"
    "ZXN0IjogIjAwN2NiMmZlMGZmYjVmMjhhYWVmYmRkZjdmYjgyNWY1N2ExOWExMTkyNTU2ZTJhNWY5N2Y3Mjk4ZWIz"
    "ZDIzZDciCiAgICAgIH0sCiAgICAgIHsKICAgICAgICAibmFtZSI6ICJtb2RlbC5zYWZldGVuc29yczozMjo2NCIs"
    "CiAgICAgICAgImFsZ29yaXRobSI6ICJzaGEyNTYtc2hhcmRlZC0zMiIsCiAgICAgICAgImRpZ2VzdCI6ICI3YTJj"
    "MGYwZGRhNDU5MGIzNzk5NTY5YWVjMzljODk5Njc3MWIzNjc2NjhlYmRhMDRkNDc5NzBlYjJiYTQyOGEyIgogICAg"
    "ICB9LAogICAgICB7CiAgICAgICAgIm5hbWUiOiAibW9kZWwuc2FmZXRlbnNvcnM6NjQ6NjciLAogICAgICAgICJh"
    "bGdvcml0aG0iOiAic2hhMjU2LXNoYXJkZWQtMzIiLAogICAgICAgICJkaWdlc3QiOiAiYTZiMGY5MGQyYWMyYjhk"
    "MWYyNTBjNjg3MzAxYWVmMTMyMDQ5ZTkwMTZkZjkzNjY4MGU4MWZhN2JjN2Q4MWQ3MCIKICAgICAgfQogICAgXQog"
    "IH0KfQ==\",\"payloadType\":\"application/vnd.in-toto+json\",\"signatures\":[{\"sig\":\"M"
    "EUCIQC+RX88iB91TduM3Y2vImz6AscD9s0Wcg8AEtu2AGIOPAIgDIRaTej8zY8RXBj/U1yYxGGqtrq9h6JTpVxgR"
    "ZulKaY=\",\"keyid\":\"\"}]}}";

const char kTinyOneFile[] =
    "{\"mediaType\":\"application/vnd.dev.sigstore.bundle.v0.3+json\",\"verificationMaterial\""
    ":{\"publicKey\":{\"hint\":\"0208b83a6f7cb3a71b25443312dc3063661cd8f474cfe938f3c2568f7d46"
    "5a8d\"},\"tlogEntries\":[]},\"dsseEnvelope\":{\"payload\":\"ewogICJfdHlwZSI6ICJodHRwczov"
    "L2luLXRvdG8uaW8vU3RhdGVtZW50L3YxIiwKICAic3ViamVjdCI6IFsKICAgIHsKICAgICAgIm5hbWUiOiAibW9k"
    "ZWwuc2FmZXRlbnNvcnMiLAogICAgICAiZGlnZXN0IjogewogICAgICAgICJzaGEyNTYiOiAiMzc4Y2Q4OGIzYzVh"
    "NjgzNjhkMWRmNGE0NGMzOGU4ZjY2YWNmYWM2NGU5NzNmMDIwNDViNmQxYjhhMTc1ZWQwZSIKICAgICAgfQogICAg"
    "fQogIF0sCiAgInByZWRpY2F0ZVR5cGUiOiAiaHR0cHM6Ly9tb2RlbF9zaWduaW5nL3NpZ25hdHVyZS92MS4wIiwK"
    "ICAicHJlZGljYXRlIjogewogICAgInNlcmlhbGl6YXRpb24iOiB7CiAgICAgICJtZXRob2QiOiAiZmlsZXMiLAog"
    "ICAgICAiaWdub3JlX3BhdGhzIjogWwogICAgICAgICIuZ2l0aHViIiwKICAgICAgICAiLmdpdCIsCiAgICAgICAg"
    "Ii5naXRhdHRyaWJ1dGVzIiwKICAgICAgICAiLmdpdGlnbm9yZSIKICAgICAgXSwKICAgICAgImhhc2hfdHlwZSI6"
    "ICJzaGEyNTYiLAogICAgICAiYWxsb3dfc3ltbGlua3MiOiBmYWxzZQogICAgfSwKICAgICJyZXNvdXJjZXMiOiBb"
    "CiAgICAgIHsKICAgICAgICAibmFtZSI6ICIuIiwKICAgICAgICAiYWxnb3JpdGhtIjogInNoYTI1NiIsCiAgICAg"
    "ICAgImRpZ2VzdCI6ICJmODYxYTExMzYxMDYyODZlZGFmOTYzMWJkOGMwOWNlM2M1MTExMTlkNmI5YjVjZGEyZjQy"
    "M2VlZmNkODIwNjM3IgogICAgICB9CiAgICBdCiAgfQp9\",\"payloadType\":\"application/vnd.in-toto"
    "+json\",\"signatures\":[{\"sig\":\"MEUCIHMHNXXZ/2/3NdmLAGdLGrtQ4t8plNEmw2VU8GO+kdWyAiEAh"
    "EkD8J457iIImOliKPxHAt7CA1xOG8g0q+mu3x7A1Jg=\",\"keyid\":\"\"}]}}";

std::string OneTensorFile(std::string_view four_bytes) {
  const std::string header = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}} )";
  std::string text(8, '\0');
  text[0] = static_cast<char>(header.size());
  return text + header + std::string(four_bytes);
}

std::filesystem::path WriteTinyModel(const std::filesystem::path& folder) {
  const auto model = folder / "tiny";
  EXPECT_TRUE(WriteFileAtomic(model / "a.b", "x").ok());
  EXPECT_TRUE(WriteFileAtomic(model / "a/z", std::string(20, 'y')).ok());
  EXPECT_TRUE(WriteFileAtomic(model / "empty", "").ok());
  EXPECT_TRUE(WriteFileAtomic(model / "model.safetensors", OneTensorFile("abcd")).ok());
  return model;
}

}  // namespace rharness
