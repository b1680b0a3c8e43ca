#pragma once

#include <filesystem>
#include <vector>

namespace eckart::cli {

/// Replaces each output folder in `logs` by the throughput logs of its shards. Throws
/// FatalError(no_input) if a folder has none.
std::vector<std::filesystem::path> log_files(const std::vector<std::filesystem::path>& logs);

}  // namespace eckart::cli
