#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "io/source.hpp"

namespace eckart::io {

/// Whether a folder yields the file: it has the name of an image or of a tar archive, and is not
/// hidden.
bool is_input_file_name(std::string_view name);

/// Returns a source for the images in a tar archive, in the order of the archive. The path of an
/// item leads into the archive; see MemberPath. Its path below the output folder is `output_prefix`
/// and its name. A member that cannot be read yields a failed item, and so does an archive that
/// cannot be read or ends early. Hidden members are ignored.
std::unique_ptr<Source> make_archive_source(const std::filesystem::path& archive,
                                            const std::filesystem::path& output_prefix);

}  // namespace eckart::io
