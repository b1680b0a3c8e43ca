#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tar/archive.hpp"

namespace eckart::tar {

/// Returns the part of a name that the files of one sample share, by the conventions of WebDataset:
/// the folder and the file name up to its first dot.
std::string_view sample_key(std::string_view name);

/// Returns the index of an archive that the WebDataset reader of NVIDIA DALI reads (its version
/// 1.2): the number of samples, then a line for each, with the extension, offset, size and name of
/// each of its files. Returns nullopt if a name has white space, which separates the values.
std::optional<std::string> dali_index(std::span<const Member> members);

}  // namespace eckart::tar
