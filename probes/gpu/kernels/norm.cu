// Row sums of normalizations, in a known order: what a layer norm and a softmax of one's own add
// before they divide. One block a row of n values, 256 threads.

// Of a layer norm: each warp's lanes read four neighbours at a time, added pairwise; a thread adds
// every 256th such group, then warps exchange sums in halves, then the first warp does so with the
// warps' sums. n a multiple of 4.
extern "C" __global__ void layer_norm_rows(const float* in, float* out, int n) {
  __shared__ float partial[8];
  const float* row = in + (long long)blockIdx.x * n;
  float sum = 0.0f;
  for (int i = 4 * threadIdx.x; i < n; i += 4 * 256) {
    sum += (row[i] + row[i + 1]) + (row[i + 2] + row[i + 3]);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  }
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = threadIdx.x < 8 ? partial[threadIdx.x] : 0.0f;
  for (int offset = 4; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// Of a softmax, of terms that already are exponentials: a thread adds every 256th value, and the
// block folds in halves through shared memory.
extern "C" __global__ void softmax_rows(const float* in, float* out, int n) {
  __shared__ float partial[256];
  const float* row = in + (long long)blockIdx.x * n;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 256) sum += row[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}
