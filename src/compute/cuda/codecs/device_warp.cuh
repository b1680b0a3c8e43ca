#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "compute/cuda/layout/warp.hpp"

namespace eckart::compute::cuda {

/// The threads of a warp, for functions that kernels and the host share. See HostWarp. All threads
/// of the warp must call each function.
class DeviceWarp {
 public:
  static constexpr int kLanes = kWarpSize;

  template <class T>
  class PerLane {
   public:
    __device__ T& operator[](int /*lane*/) { return value_; }
    __device__ const T& operator[](int /*lane*/) const { return value_; }

   private:
    T value_{};
  };

  __device__ explicit DeviceWarp(int lane) : lane_(lane) {}

  template <class Step>
  __device__ void each(const Step& step) {
    __syncwarp();
    step(lane_);
    __syncwarp();
  }
  template <class Step>
  __device__ void once(const Step& step) {
    __syncwarp();
    if (lane_ == 0) step();
    __syncwarp();
  }
  __device__ std::uint32_t ballot(const PerLane<bool>& values) const {
    return __ballot_sync(kAllLanes, values[lane_]);
  }
  template <class T>
  __device__ T value_of(const PerLane<T>& values, int lane) const {
    return T(__shfl_sync(kAllLanes, shuffled(values[lane_]), lane));
  }
  template <class T>
  __device__ PerLane<T> before(const PerLane<T>& values) const {
    PerLane<T> result;
    result[lane_] = T(__shfl_up_sync(kAllLanes, shuffled(values[lane_]), 1));
    return result;
  }
  template <class T>
  __device__ PerLane<T> sums_before(const PerLane<T>& values) const {
    T sum = values[lane_];
    for (int distance = 1; distance < kLanes; distance *= 2) {
      const T lower = T(__shfl_up_sync(kAllLanes, shuffled(sum), unsigned(distance)));
      if (lane_ >= distance) sum += lower;
    }
    PerLane<T> result;
    result[lane_] = T(sum - values[lane_]);
    return result;
  }

 private:
  /// As a type that can be shuffled.
  template <class T>
  __device__ static auto shuffled(T value) {
    if constexpr (sizeof(T) <= sizeof(unsigned)) {
      return unsigned(value);
    } else {
      return (unsigned long long)(value);
    }
  }

  int lane_;
};

}  // namespace eckart::compute::cuda
