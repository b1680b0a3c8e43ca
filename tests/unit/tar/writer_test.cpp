#include "tar/writer.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>

#include "tar/archive.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::tar {
namespace {

class WriterTest : public testing::Test {
 protected:
  static std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text));
  }
  std::string bytes_;
  const std::unique_ptr<Writer> writer_ = make_writer([this](std::span<const std::byte> bytes) {
    bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
};

TEST_F(WriterTest, writes_what_an_archive_reads) {
  const std::string long_name = std::string(300, 'n') + "/\xFF\xC3\xA9.png";
  const std::string large(70000, 'x');
  writer_->add("a.png", bytes_of("one"), 0);
  writer_->add(long_name, bytes_of(large), 1234567890123456789);
  writer_->add("empty", {}, -1);
  writer_->finish();
  const test::TempFolder folder;
  std::ofstream(folder.path() / "a.tar", std::ios::binary) << bytes_;
  const Archive archive(files::FileDescriptor(::open((folder.path() / "a.tar").c_str(), O_RDONLY)));
  EXPECT_EQ(archive.damage(), "");
  ASSERT_EQ(archive.members().size(), 3u);
  const auto content = [&](const Member& member) {
    return bytes_.substr(std::size_t(member.offset), std::size_t(member.size));
  };
  EXPECT_EQ(archive.members()[0].name, "a.png");
  EXPECT_EQ(content(archive.members()[0]), "one");
  EXPECT_EQ(archive.members()[1].name, long_name);
  EXPECT_EQ(content(archive.members()[1]), large);
  EXPECT_EQ(archive.members()[2].name, "empty");
  EXPECT_EQ(archive.members()[2].size, 0);
}

TEST(FailingWriter, throws_what_its_function_throws) {
  const std::unique_ptr<Writer> writer =
      make_writer([](std::span<const std::byte>) { throw std::out_of_range("full"); });
  const std::string large(1 << 20, 'x');
  EXPECT_THROW(
      {
        writer->add("a.png", std::as_bytes(std::span(large)), 0);
        writer->finish();
      },
      std::out_of_range);
}

}  // namespace
}  // namespace eckart::tar
