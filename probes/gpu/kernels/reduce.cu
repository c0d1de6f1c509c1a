// Sums in a known order, and one in none: controls of the suite. One block a row of n values.

// Each thread adds every 256th value, then warps fold in halves, then the first warp folds the
// warps' sums in halves.
extern "C" __global__ void reduce_rows(const float* in, float* out, int n) {
  __shared__ float partial[8];
  const float* row = in + (long long)blockIdx.x * n;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 256) sum += row[i];
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, offset);
  }
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = threadIdx.x < 8 ? partial[threadIdx.x] : 0.0f;
  for (int offset = 4; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, offset);
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// One thread adds a row from its first value to its last.
extern "C" __global__ void reduce_serial(const float* in, float* out, int n) {
  const float* row = in + (long long)blockIdx.x * n;
  float sum = row[0];
  for (int i = 1; i < n; ++i) sum += row[i];
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// Every thread of every block adds its values to one place: the order is the scheduler's.
extern "C" __global__ void reduce_atomic(const float* in, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(out, in[i]);
  }
}
