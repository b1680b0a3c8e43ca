#include "io/watch/polled_file_system.hpp"

#include <gtest/gtest.h>
#include <linux/magic.h>

#include "io/root_directory.hpp"

namespace eckart::io {
namespace {

TEST(PolledFileSystem, names_network_and_overlay_file_systems) {
  EXPECT_EQ(polled_file_system(NFS_SUPER_MAGIC), "NFS");
  EXPECT_EQ(polled_file_system(SMB_SUPER_MAGIC), "SMB");
  EXPECT_EQ(polled_file_system(CIFS_SUPER_MAGIC), "CIFS");
  EXPECT_EQ(polled_file_system(SMB2_SUPER_MAGIC), "SMB2");
  EXPECT_EQ(polled_file_system(FUSE_SUPER_MAGIC), "FUSE");
  EXPECT_EQ(polled_file_system(V9FS_MAGIC), "9P");
  EXPECT_EQ(polled_file_system(OVERLAYFS_SUPER_MAGIC), "overlay");
  EXPECT_EQ(polled_file_system(AFS_SUPER_MAGIC), "AFS");
  EXPECT_EQ(polled_file_system(AFS_FS_MAGIC), "AFS");
  EXPECT_EQ(polled_file_system(CEPH_SUPER_MAGIC), "Ceph");
  EXPECT_EQ(polled_file_system(CODA_SUPER_MAGIC), "Coda");
  EXPECT_EQ(polled_file_system(std::int32_t(CIFS_SUPER_MAGIC)), "CIFS")
      << "negative as a 32-bit integer";
}

TEST(PolledFileSystem, is_empty_for_local_file_systems) {
  for (const long magic : {long(EXT4_SUPER_MAGIC), long(XFS_SUPER_MAGIC), long(BTRFS_SUPER_MAGIC),
                           long(TMPFS_MAGIC)}) {
    EXPECT_EQ(polled_file_system(magic), "");
  }
  const RootDirectoryPtr proc = RootDirectory::open("/proc");
  ASSERT_TRUE(proc);
  EXPECT_EQ(polled_file_system_of(*proc->open_below({})), "");
}

}  // namespace
}  // namespace eckart::io
