#pragma once

#include <filesystem>

namespace eckart::app {

/// Below `quarantine`, a place for the file that is at `relative` in the tree of the inputs: there,
/// or where a file is at the place of one of its folders, or a folder at its own place or at that
/// of its reason, under a name with a number: q.png/x.png beside a quarantined file q.png is at
/// 2-q.png/x.png. Relative to `quarantine`. Follows no links.
std::filesystem::path quarantine_place(const std::filesystem::path& quarantine,
                                       const std::filesystem::path& relative);

}  // namespace eckart::app
