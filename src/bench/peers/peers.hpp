#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "bench/operation/device.hpp"

namespace eckart::bench {

/// A batch of images that libraries of Python decompose and reconstruct.
class PeerImages {
 public:
  virtual ~PeerImages() = default;
  virtual const std::vector<Variant>& variants() const = 0;
  /// Once, from pixels to pixels in the memory of Python. Returns seconds.
  virtual double run(std::size_t variant) = 0;
  /// The pixels of all images, one after the other.
  virtual std::vector<std::uint8_t> pixels(std::size_t variant) = 0;
};

/// Libraries of Python, such as NumPy and PyTorch, which compute the same for comparison, in a
/// process of its own. All times are by the clock of the host; operands come from pageable memory.
/// One thing is prepared at a time. Functions throw std::runtime_error with the reason if a library
/// fails.
class Peers : public Device {
 public:
  /// The names of the libraries that were found, and their versions.
  virtual const std::map<std::string, std::string>& versions() const = 0;
  virtual pid_t process() const = 0;
  /// Square 8-bit gray images of n x n, one after the other, at rank k.
  virtual std::unique_ptr<PeerImages> prepare_images(std::span<const std::uint8_t> pixels, int n,
                                                     int k) = 0;
};

/// Starts `python`, searched in PATH. `cpu` and `gpu` have the ceilings; without `gpu`, only the
/// libraries of the CPU compute. Both must outlive the peers. Python ends after a stop request, and
/// everything fails then. Throws std::runtime_error with the reason if it does not run.
std::unique_ptr<Peers> start_peers(const std::string& python, Device& cpu, Device* gpu, int cores,
                                   const std::stop_token& stop);

}  // namespace eckart::bench
