// Tests a service while folders of its input are moved away and replaced by links.
#include <fcntl.h>
#include <stdio.h>

#include "status_server/status_server.hpp"
#include "tests/cli/watch_fixture.hpp"

namespace eckart::test {
namespace {

class WatchSymlinkTest : public WatchTest {
 protected:
  /// Starts with files whose settle time is so long that they wait until the folder is moved.
  void start_with_files() {
    write("eckart.yaml", "backend: cpu\ntelemetry: {listen: " + at("status.sock").string() +
                             "}\nwatches:\n  - {input: " + at("in").string() + ", output: " +
                             at("out").string() + ", settle_ms: 3000, after: delete}\n");
    fs::create_directories(at("in/day1"));
    fs::create_directories(at("archive"));
    start();
    wait_for_log("ready: ");
    for (const char* name : {"a.png", "b.png"}) write_png(fs::path("in/day1") / name);
    write("archive/theirs.png", encoded("png"));
  }
  /// Moves the input folder to the archive, with a link in its place.
  void archive_input_folder() const {
    fs::rename(at("in"), at("archive/in"));
    fs::create_directory_symlink("archive/in", at("in"));
  }
  /// A file that arrives last is ready last.
  void wait_for_later_file() {
    write_png("in/later.png");
    wait_until([&] { return !fs::exists(at("in/later.png")); });
  }
};

TEST_F(WatchSymlinkTest, keeps_the_files_of_a_folder_that_it_replaces) {
  start_with_files();
  fs::rename(at("in/day1"), at("archive/day1"));
  fs::create_directory_symlink("../archive/day1", at("in/day1"));
  wait_for_later_file();
  EXPECT_THAT(files("archive"), ElementsAre("day1/a.png", "day1/b.png", "theirs.png"));
  EXPECT_THAT(files("out"), ElementsAre("later.png"));
  EXPECT_EQ(stop().code, 0);
}

TEST_F(WatchSymlinkTest, keeps_the_files_of_an_input_folder_that_it_replaces) {
  start_with_files();
  archive_input_folder();
  wait_until([&] {
    const std::string text = status_server::http_get(at("status.sock").string(), "/status.txt");
    return text.find("NOT READY") != text.npos &&
           text.find("has become a symbolic link") != text.npos;
  });
  EXPECT_THAT(files("archive"), ElementsAre("in/day1/a.png", "in/day1/b.png", "theirs.png"));
  fs::remove(at("in"));
  fs::create_directory(at("in"));
  wait_for_log("is available again");
  wait_for_later_file();
  EXPECT_THAT(files("archive"), ElementsAre("in/day1/a.png", "in/day1/b.png", "theirs.png"));
  EXPECT_THAT(files("out"), ElementsAre("later.png"));
  EXPECT_EQ(stop().code, 0);
}

TEST_F(WatchSymlinkTest, is_followed_as_an_input_folder_after_a_reload) {
  start_with_files();
  archive_input_folder();
  wait_for_log("has become a symbolic link");
  service_->signal(SIGHUP);
  wait_until([&] { return files("archive") == Names{"theirs.png"}; });
  EXPECT_EQ(stop().code, 0);
}

TEST_F(WatchSymlinkTest, is_not_followed_when_exchanged_with_a_folder) {
  start_with_files();
  write("archive/a.png", encoded("png"));
  fs::create_directory_symlink(at("archive"), at("link"));
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(
        ::renameat2(AT_FDCWD, at("in/day1").c_str(), AT_FDCWD, at("link").c_str(), RENAME_EXCHANGE),
        0);
  }
  wait_for_later_file();
  EXPECT_THAT(files("archive"), ElementsAre("a.png", "theirs.png"));
  EXPECT_THAT(files("link"), ElementsAre("a.png", "b.png"));
  EXPECT_THAT(files("out"), ElementsAre("later.png"));
}

TEST_F(WatchSymlinkTest, is_processed_as_a_file_when_configured_and_its_target_kept) {
  write("archive/a.png", encoded("png"));
  fs::create_symlink(at("archive/a.png"), at("in/link.png"));
  configure("after: delete");
  start();
  wait_for_log("is a symbolic link and was ignored");
  wait_for_later_file();
  EXPECT_TRUE(fs::is_symlink(at("in/link.png")));
  EXPECT_EQ(stop().code, 0);
  configure("after: delete, links: files");
  start();
  wait_until([&] { return !fs::is_symlink(at("in/link.png")); });
  EXPECT_THAT(files("out"), ElementsAre("later.png", "link.png"));
  EXPECT_THAT(files("archive"), ElementsAre("a.png"));
}

TEST_F(WatchSymlinkTest, is_not_followed_to_the_output_folder) {
  fs::create_directories(at("out"));
  write("in/a.png", encoded("png"));
  fs::create_directory_symlink(at("out"), at("in/linked"));
  configure("after: delete, links: all");
  start();
  wait_for_log("linked leads to ");
  wait_for_later_file();
  EXPECT_THAT(files("out"), ElementsAre("a.png", "later.png"));
  EXPECT_EQ(stop().code, 0);
}

TEST_F(WatchSymlinkTest, is_followed_to_a_folder_when_configured) {
  write("archive/a.png", encoded("png"));
  fs::create_directory_symlink(at("archive"), at("in/linked"));
  configure("links: all");
  start();
  wait_for_outputs(1);
  EXPECT_THAT(files("out"), ElementsAre("linked/a.png"));
}

}  // namespace
}  // namespace eckart::test
