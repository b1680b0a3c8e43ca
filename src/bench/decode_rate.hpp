#pragma once

#include <filesystem>
#include <span>
#include <stop_token>

#include "bench/rate.hpp"
#include "settings/settings.hpp"

namespace eckart::bench {

/// Decodes files from memory, again and again for `seconds`, with the decoder and the limits of the
/// settings. Files that cannot be decoded count too. Throws ItemError if a file cannot be read.
Rate measure_decoding(std::span<const std::filesystem::path> files,
                      const settings::Settings& settings, int threads, double seconds,
                      const std::stop_token& stop);

}  // namespace eckart::bench
