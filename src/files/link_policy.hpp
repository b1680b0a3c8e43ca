#pragma once

#include "core/enum_names.hpp"

namespace eckart::files {

/// Which symbolic links below a root are followed. Those in the path of the root are resolved when
/// it is opened first: see io::RootPath.
enum class LinkPolicy {
  none,
  files,  ///< links to regular files, wherever they lead
  all,    ///< links to directories, too
};

constexpr auto enum_names(LinkPolicy) {
  return std::to_array<EnumName<LinkPolicy>>(
      {{LinkPolicy::none, "none"}, {LinkPolicy::files, "files"}, {LinkPolicy::all, "all"}});
}

}  // namespace eckart::files
