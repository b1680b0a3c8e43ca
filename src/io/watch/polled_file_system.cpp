#include "io/watch/polled_file_system.hpp"

#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace eckart::io {
namespace {

// Source: linux/magic.h, the kernel sources, and statfs(2).
constexpr std::array<std::pair<std::uint32_t, std::string_view>, 18> kPolledFileSystems = {{
    {0x6969, "NFS"},
    {0x517B, "SMB"},
    {0xFF534D42, "CIFS"},
    {0xFE534D42, "SMB2"},
    {0x65735546, "FUSE"},
    {0x01021997, "9P"},
    {0x794C7630, "overlay"},
    {0x5346414F, "AFS"},
    {0x6B414653, "AFS"},
    {0x00C36400, "Ceph"},
    {0x0BD00BD0, "Lustre"},
    {0x47504653, "GPFS"},
    {0x786F4256, "vboxsf"},
    {0x73757245, "Coda"},
    {0x19830326, "BeeGFS"},
    {0x01161970, "GFS2"},
    {0x7461636F, "OCFS2"},
    {0xBACBACBC, "vmhgfs"},
}};

}  // namespace

std::string_view polled_file_system(long type) {
  const auto* const found =
      std::find_if(kPolledFileSystems.begin(), kPolledFileSystems.end(), [&](const auto& entry) {
        return entry.first == std::uint32_t(type);  // negative if long has 32 bits
      });
  return found == kPolledFileSystems.end() ? std::string_view() : found->second;
}

std::string_view polled_file_system_of(const Directory& directory) {
  struct statfs status {};
  if (::fstatfs(directory.descriptor(), &status) != 0) return {};
  return polled_file_system(long(status.f_type));
}

}  // namespace eckart::io
