#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace eckart {

/// Takes the place of the threads of a warp on a CPU: functions that kernels and the host share are
/// written for a warp, this one or DeviceWarp. Its threads are called lanes. They do a step, an
/// argument of each(), before any of them does the next. Here the last lane comes first, so that
/// tests find lanes that need what another one does in the same step. Outside of steps, all lanes
/// do the same.
class HostWarp {
 public:
  static constexpr int kLanes = 32;

  /// A variable of which each lane has its own.
  template <class T>
  class PerLane {
   public:
    ECKART_HOST_DEVICE T& operator[](int lane) { return values_[lane]; }
    ECKART_HOST_DEVICE const T& operator[](int lane) const { return values_[lane]; }

   private:
    T values_[kLanes]{};
  };

  /// step(lane) by each lane. What lanes wrote to memory before is visible in it.
  template <class Step>
  ECKART_HOST_DEVICE void each(const Step& step) {
    for (int lane = kLanes - 1; lane >= 0; --lane) step(lane);
  }
  /// step() by one lane.
  template <class Step>
  ECKART_HOST_DEVICE void once(const Step& step) {
    step();
  }
  /// The lanes whose value is true: bit i for lane i.
  ECKART_HOST_DEVICE std::uint32_t ballot(const PerLane<bool>& values) const {
    std::uint32_t lanes = 0;
    for (int lane = 0; lane < kLanes; ++lane) lanes |= std::uint32_t(values[lane]) << lane;
    return lanes;
  }
  /// The value of one lane.
  template <class T>
  ECKART_HOST_DEVICE T value_of(const PerLane<T>& values, int lane) const {
    return values[lane];
  }
  /// For each lane, the value of the lane before it; of the first lane its own.
  template <class T>
  ECKART_HOST_DEVICE PerLane<T> before(const PerLane<T>& values) const {
    PerLane<T> result;
    for (int lane = 0; lane < kLanes; ++lane) result[lane] = values[lane == 0 ? 0 : lane - 1];
    return result;
  }
  /// For each lane, the sum of the values of the lanes before it.
  template <class T>
  ECKART_HOST_DEVICE PerLane<T> sums_before(const PerLane<T>& values) const {
    PerLane<T> result;
    for (int lane = 1; lane < kLanes; ++lane) result[lane] = T(result[lane - 1] + values[lane - 1]);
    return result;
  }
};

}  // namespace eckart
