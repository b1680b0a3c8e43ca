#pragma once

#include <filesystem>

namespace eckart::io {

/// Brings the entries of a folder to the disk, and once, or a few times, in the life of the process
/// those of all around it: whoever made them, they may not be there yet. That one may not be read,
/// or is gone, is passed over. Throws EnvironmentError. Thread-safe.
void sync_with_those_around(const std::filesystem::path& folder);

}  // namespace eckart::io
