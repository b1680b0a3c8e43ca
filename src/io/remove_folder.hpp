#pragma once

#include <filesystem>

namespace eckart::io {

/// Removes a folder with its files, on at most this number of threads: most of the time, the kernel
/// frees their pages. Ignores errors, as ~ScratchFolder() does. No other process uses the folder.
void remove_folder(const std::filesystem::path& folder, int max_threads);

}  // namespace eckart::io
