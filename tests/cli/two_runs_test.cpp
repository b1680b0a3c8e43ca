// Tests a run into the output folder of another run that has not ended.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cli/resume_fixture.hpp"

namespace eckart::test {
namespace {

/// A run that waits for the next line of its list, with one image done.
class ConcurrentRunTest : public ResumeTest {
 protected:
  void SetUp() override {
    ResumeTest::SetUp();
    ASSERT_EQ(mkfifo(at("list").c_str(), 0600), 0);
    writer_ = open(at("list").c_str(), O_RDWR | O_CLOEXEC);  // keeps the pipe open
    const std::string line = "in/a.png\n";
    ASSERT_EQ(::write(writer_, line.data(), line.size()), ssize_t(line.size()));
    first_ = std::make_unique<EckartProcess>(
        std::vector<std::string>{"run", "--files-from", "list", "-o", "both", "-k", "2", "--report",
                                 "report"},
        EckartProcess::Options{.folder = at(".")});
    wait_for([&] { return fs::exists(at("both/in/a.png")); });
  }
  void TearDown() override { close(writer_); }

  int writer_ = -1;
  std::unique_ptr<EckartProcess> first_;
};

TEST_F(ConcurrentRunTest, reports_each_image_when_it_is_done) {
  const auto tells = [&] {
    return fs::exists(at("report.part")) && fs::file_size(at("report.part")) > 0;
  };
  wait_for(tells);
  EXPECT_TRUE(tells());
  EXPECT_FALSE(fs::exists(at("report"))) << "which is whole as long as it is there";
}

TEST_F(ConcurrentRunTest, does_not_share_an_output_folder) {
  const ProcessResult second = run({"run", "in", "-o", "both", "-k", "2"});
  EXPECT_EQ(second.code, int(ExitCode::temporary));
  EXPECT_THAT(second.err, HasSubstr("both is in use by process "));
  EXPECT_THAT(files("both"), ElementsAre("in/a.png"));
}

TEST_F(ConcurrentRunTest, keeps_temporaries_of_the_other_run) {
  write("both/.eckart-0123456789abcdef-7.tmp", "half");
  EXPECT_EQ(run({"run", "in", "-o", "both", "-k", "2"}).code, int(ExitCode::temporary));
  EXPECT_TRUE(fs::exists(at("both/.eckart-0123456789abcdef-7.tmp")));
}

TEST_F(ConcurrentRunTest, stops_when_its_folder_is_moved) {
  fs::rename(at("both"), at("moved"));
  const std::string line = "in/b.png\n";
  ASSERT_EQ(::write(writer_, line.data(), line.size()), ssize_t(line.size()));
  const ProcessResult result = first_->wait();
  EXPECT_EQ(result.code, int(ExitCode::io_error)) << result.err;
  EXPECT_THAT(result.err, HasSubstr("both was moved, removed or replaced"));
  EXPECT_THAT(result.err, HasSubstr("To finish, run the same command on the moved output folder"));
  EXPECT_FALSE(fs::exists(at("both/in/b.png")));
  EXPECT_FALSE(fs::exists(at("moved/in/b.png")));
}

TEST_F(ConcurrentRunTest, starts_after_a_killed_run) {
  first_->signal(SIGKILL);
  first_->wait();
  EXPECT_EQ(run({"run", "in", "-o", "both", "-k", "2"}).code, 0);
}

}  // namespace
}  // namespace eckart::test
