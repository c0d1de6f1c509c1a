// The prompts that a server is asked.
//
// A file is JSON Lines if its first character is '{': an object a line with "prompt" (text) or
// "messages" (a list of objects, as chat completions take it), and perhaps "max_tokens" and "id".
// Else each line is a prompt; blank lines are skipped.
#ifndef RHARNESS_PROBES_ENDPOINT_PROMPTS_H_
#define RHARNESS_PROBES_ENDPOINT_PROMPTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

inline constexpr std::size_t kMostPrompts = 10'000;
inline constexpr int kMostAnswerTokens = 65'536;

struct EndpointPrompt {
  std::string name;  // "prompt 03 'The capital of Fra...'": unique; in the order of the file
  bool chat = false;
  Json content;  // of chat the messages, else the text
  int max_tokens = 0;
};

// `chat`: a plain prompt becomes the only message, by a user. `max_tokens`: of prompts that state
// none. Errors: invalid_input with file and line (no object, an unknown member, both or none of
// prompt and messages, an id twice, no prompt at all, more than kMostPrompts).
Result<std::vector<EndpointPrompt>> ParsePrompts(std::string_view text, std::string_view file,
                                                 bool chat, int max_tokens);

// SHA-256 of everything that is asked, in order: answers to other prompts do not compare.
std::string DigestOf(const std::vector<EndpointPrompt>& prompts);

// The same prompt behind `prefix`, in its text or its first message that is a text.
EndpointPrompt WithPrefix(const EndpointPrompt& prompt, std::string_view prefix);

}  // namespace rharness

#endif  // RHARNESS_PROBES_ENDPOINT_PROMPTS_H_
