#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/operation/batch.hpp"
#include "bench/operation/call_times.hpp"
#include "bench/operation/ceilings.hpp"
#include "bench/operation/operation.hpp"
#include "bench/operation/pixel_reconstruction.hpp"

namespace eckart::bench {

/// The resolution of times by events of the GPU, according to the documentation of
/// cudaEventElapsedTime().
inline constexpr double kEventResolutionSeconds = 0.5e-6;

/// A way to compute an operation.
struct Variant {
  std::string name;
  int cores = 0;  ///< of the CPU; 0: on a GPU
  double occupancy =
      0;  ///< resident warps of a multiprocessor, as a share of its limit; 0: unknown
  bool uses_tensor_cores = false;
};

/// A result, and the time of the call that computed it.
struct Result {
  Array values;
  double compute_s = 0;  ///< 0: unknown
};

/// One operation with its operands in the memory of a device.
class PreparedOperation {
 public:
  virtual ~PreparedOperation() = default;
  virtual const std::vector<Variant>& variants() const = 0;
  /// Computes once.
  virtual CallTimes run(std::size_t variant) = 0;
  /// Computes into memory that was filled with NaN before, and returns the result.
  virtual Result result(std::size_t variant) = 0;
};

/// What computes operations. Functions throw std::runtime_error with the reason if the device
/// fails, and OutOfMemory.
class Device {
 public:
  virtual ~Device() = default;
  /// The device must outlive the operation.
  virtual std::unique_ptr<PreparedOperation> prepare(const Shape& shape,
                                                     const std::vector<Array>& operands) = 0;
  /// What the device can do at most, on the cores of the variant. Measured when it is first asked
  /// for, which takes about a second.
  virtual const Ceilings& ceilings(const Variant& variant) = 0;
};

struct GpuProperties {
  std::string name;
  std::string bus_id;  ///< as NVML has it, such as 00000000:3B:00.0
  std::int64_t memory_bytes = 0;
};

enum class Direction { to_device, from_device, both };
enum class Allocation {
  pinned,      ///< of the host
  registered,  ///< pins memory of the host that has pages
  device,
};

/// Work that can be repeated; returns what it took in seconds, by the clock of the host.
using RepeatableWork = std::function<double()>;

class Gpu : public Device {
 public:
  virtual GpuProperties properties() const = 0;

  /// Copies `bytes` bytes in each direction, until they have arrived. Before the first copy, it
  /// checks that a copy to the device and back is the same.
  virtual RepeatableWork copy(HostMemory memory, Direction direction, std::size_t bytes) = 0;
  /// Allocates memory and frees it again, or registers and unregisters it.
  virtual RepeatableWork allocation(Allocation kind, std::size_t bytes) = 0;
  /// Adds two vectors in pinned memory into a third one: by a kernel that reads and writes this
  /// memory, or with copies to and from the device. Throws if the sum is wrong.
  virtual RepeatableWork add_host_vectors(bool copies, std::size_t elements) = 0;

  /// The GPU must outlive the batch.
  virtual std::unique_ptr<PreparedBatch> prepare_batch(const BatchShape& shape, Schedule schedule,
                                                       int streams, HostMemory memory) = 0;
  /// m >= n, both multiples of 8. The GPU must outlive it.
  virtual std::unique_ptr<PixelReconstruction> prepare_pixels(const BatchShape& shape) = 0;
};

}  // namespace eckart::bench
