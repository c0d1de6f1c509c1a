// A transformer of PyTorch that draws tokens one by one, and scores them again in padded batches:
// the numbers of the comparison are those that torch computes from the same values.
//
// RHARNESS_PEERS names the folder that `./dev peers` made; without it, or without PyTorch in it,
// this test says so and is skipped.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <sstream>

#include "compare/tokens/compare_tokens.h"
#include "harness/base/files.h"
#include "harness/base/subprocess.h"

namespace rharness {
namespace {

// Prints, for float32 and bfloat16: tokens, equal ones, the largest distance, k1, k3, tokens beyond
// a ratio of 2 and the effective number of answers.
constexpr std::string_view kProgram = R"py(
import json, math, sys
try:
    import numpy as np, torch
except ImportError:
    sys.exit(77)
F = torch.nn.functional
V, D, H, N = 512, 64, 4, 32
torch.manual_seed(1)
layer = lambda a, b: torch.randn(a, b) * .35 / math.sqrt(a) * 3
W = [dict(q=layer(D, D), k=layer(D, D), v=layer(D, D), o=layer(D, D), u=layer(D, 4 * D),
          d=layer(4 * D, D)) for _ in range(3)]
E, P = torch.randn(V, D), torch.randn(96, D) * .3
def logits(ids, dtype):  # [batch, length], causal; padding stands at the end
    x = (E[ids] + P[:ids.shape[1]]).to(dtype)
    for w in W:
        w = {k: v.to(dtype) for k, v in w.items()}
        h = F.layer_norm(x, (D,))
        q, k, v = ((h @ w[n]).view(*ids.shape, H, D // H).transpose(1, 2) for n in 'qkv')
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + a.transpose(1, 2).reshape(*ids.shape, D) @ w['o']
        x = x + F.gelu(F.layer_norm(x, (D,)) @ w['u']) @ w['d']
    return (F.layer_norm(x, (D,)) @ E.T.to(dtype) * .4).float()
rng = torch.Generator().manual_seed(3)
answers = []
for j in range(N):
    ids = torch.randint(V, (1, 4), generator=rng)
    drawn = []
    for _ in range(int(torch.randint(8, 60, (1,), generator=rng))):
        lp = torch.log_softmax(logits(ids, torch.float32)[0, -1], -1)
        t = torch.multinomial(lp.exp(), 1, generator=rng)
        drawn.append(float(lp[t]))
        ids = torch.cat([ids, t[None]], 1)
    answers.append((ids[0], drawn))
with open('served.jsonl', 'w') as f:
    for j, (ids, drawn) in enumerate(answers):
        content = [dict(token=f'token_id:{t}', logprob=l) for t, l in zip(ids[4:].tolist(), drawn)]
        choice = dict(index=0, logprobs=dict(content=content))
        f.write(json.dumps(dict(custom_id=str(j), response=dict(body=dict(choices=[choice])))) + '\n')
for name, dtype in (('f32', torch.float32), ('bf16', torch.bfloat16)):
    L = max(len(ids) for ids, _ in answers)
    padded = torch.zeros(N, L, dtype=torch.long)
    for j, (ids, _) in enumerate(answers): padded[j, :len(ids)] = ids
    lp = torch.cat([torch.log_softmax(logits(padded[i:i + 8], dtype)[:, :-1], -1)
                    for i in range(0, N, 8)]).gather(-1, padded[:, 1:, None])[..., 0]
    mask = np.zeros((N, L - 1), bool)
    for j, (ids, _) in enumerate(answers): mask[j, 3:len(ids) - 1] = True
    np.savez(f'{name}.npz', input_ids=padded.numpy(), old_log_probs=lp.numpy(), loss_mask=mask,
             prompt_id=np.arange(N))
    a = [lp[j, 3:len(ids) - 1].double() for j, (ids, _) in enumerate(answers)]
    b = [torch.tensor(drawn, dtype=torch.double) for _, drawn in answers]
    r = torch.cat(a) - torch.cat(b)  # drawn by B
    w = torch.tensor([float((x - y).sum()) for x, y in zip(a, b)]).double().exp()
    print(name, len(r), int((r == 0).sum()), repr(float(r.abs().max())), repr(float(-r.mean())),
          repr(float((torch.expm1(r) - r).mean())), int((r.abs() > math.log(2)).sum()),
          repr(float(w.sum() ** 2 / (w ** 2).sum())))
)py";

TEST(TokenPeers, TorchComputesTheSameNumbers) {
  const char* peers = std::getenv("RHARNESS_PEERS");
  if (peers == nullptr) {
    GTEST_SKIP() << "./dev peers installs PyTorch; set RHARNESS_PEERS to its folder";
  }
  const ScopedTempDir folder = ScopedTempDir::Make().value();
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "program.py", kProgram).ok());
  ProcessSpec spec;
  spec.argv = {std::string(peers) + "/venv/bin/python", (folder.path() / "program.py").string()};
  spec.environment = PickEnvironment({"PATH", "HOME"});
  spec.working_directory = folder.path();
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(100);
  const ProcessResult result = RunProcess(spec, limits);
  if (result.outcome.exit_code == 77) GTEST_SKIP() << "there is no PyTorch in " << peers;
  ASSERT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
  const auto served = LoadTokenScores(folder.path() / "served.jsonl");
  ASSERT_TRUE(served.ok()) << served.error().ToString();
  std::istringstream lines(result.stdout_text);
  std::string name;
  std::uint64_t tokens = 0, equal = 0, beyond = 0;
  double farthest = 0.0, k1 = 0.0, k3 = 0.0, effective = 0.0;
  int compared = 0;
  while (lines >> name >> tokens >> equal >> farthest >> k1 >> k3 >> beyond >> effective) {
    const std::string file = (folder.path() / (name + ".npz")).string();
    const auto checkpoint = OpenCheckpoint(file);
    ASSERT_TRUE(checkpoint.ok());
    const auto trainer = LoadTokenScores(**checkpoint, file);
    ASSERT_TRUE(trainer.ok()) << trainer.error().ToString();
    const TokenComparison comparison = CompareTokens(*trainer, *served, {.kl_margin = 0.01});
    const TokenDifference& d = comparison.difference;
    EXPECT_EQ(d.tokens, tokens);
    EXPECT_EQ(d.tokens - d.differing, equal);
    EXPECT_EQ(d.max_abs, farthest);
    EXPECT_TRUE(d.sampled_by_b && d.sampler_stated);
    EXPECT_NEAR(d.k1.value, k1, 1e-12 + 1e-9 * std::fabs(k1));
    EXPECT_NEAR(d.k3.value, k3, 1e-16 + 1e-6 * k3);
    EXPECT_EQ(d.beyond_two, beyond);
    EXPECT_NEAR(d.effective_sequences, effective, 1e-6);
    EXPECT_EQ(comparison.decision->verdict, MetricVerdict::kWithin);
    fmt::print("{}: {} of {} tokens equal, at most {:.3g} apart, k3 {:.3g} [{:.3g}, {:.3g}]\n",
               name, equal, tokens, farthest, d.k3.value, d.k3.interval.low, d.k3.interval.high);
    ++compared;
  }
  EXPECT_EQ(compared, 2);
}

}  // namespace
}  // namespace rharness
