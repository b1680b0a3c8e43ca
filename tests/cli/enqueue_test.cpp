// Tests `eckart enqueue` with a real RabbitMQ.
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "tests/cli/broker_fixture.hpp"
#include "tests/support/free_port.hpp"

namespace eckart::test {
namespace {

class EnqueueTest : public BrokerCliTest {
 protected:
  void SetUp() override {
    BrokerCliTest::SetUp();
    for (const char* name : {"in/a.png", "in/b.png", "in/deep/c.png", "in/deep/d.png"})
      write_png(name);
  }
};

TEST_F(EnqueueTest, publishes_each_image_once) {
  const ProcessResult result = run_amqp({"enqueue", "in", "--images-per-message", "2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "published 4 images in 2 messages to the queue " + queue_ + " of " +
                            broker_->url() + "/\n");
  EXPECT_EQ(messages().size(), 2u);
  EXPECT_THAT(queued(), ::testing::UnorderedElementsAre(
                            at("in/a.png").native(), at("in/b.png").native(),
                            at("in/deep/c.png").native(), at("in/deep/d.png").native()));
}

TEST_F(EnqueueTest, describes_the_files) {
  ASSERT_EQ(run_amqp({"enqueue", "in/deep"}).code, 0);
  struct stat status {};
  ASSERT_EQ(::stat(at("in/deep/c.png").c_str(), &status), 0);
  const std::vector<broker::WorkMessage> found = messages();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].images[0].relative, "c.png");
  EXPECT_EQ(found[0].images[0].state.size, status.st_size);
  EXPECT_EQ(found[0].images[0].state.mtime_ns, files::in_ns(status.st_mtim));
  EXPECT_EQ(found[0].images[0].state.inode, std::int64_t(status.st_ino));
}

TEST_F(EnqueueTest, has_another_hash_for_other_settings) {
  ASSERT_EQ(run_amqp({"enqueue", "in", "--rank", "3"}).code, 0);
  ASSERT_EQ(run_amqp({"enqueue", "in", "--set", "rank=3"}).code, 0);
  ASSERT_EQ(run_amqp({"enqueue", "in", "--rank", "4"}).code, 0);
  ASSERT_EQ(run_amqp({"enqueue", "in", "--rank", "3", "--name", "{stem}-x"}).code, 0);
  const std::vector<broker::WorkMessage> found = messages();
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].settings_hash, found[1].settings_hash);
  EXPECT_NE(found[0].settings_hash, found[2].settings_hash);
  EXPECT_NE(found[0].settings_hash, found[3].settings_hash);
}

/// One worker names their outputs.
TEST_F(EnqueueTest, has_images_in_one_message_whose_outputs_may_have_the_same_name) {
  fs::copy_file(at("in/a.png"), at("in/a.PNG"));
  ASSERT_EQ(run_amqp({"enqueue", "in", "--images-per-message", "1"}).code, 0);
  std::multiset<std::size_t> sizes;
  for (const broker::WorkMessage& message : messages()) sizes.insert(message.images.size());
  EXPECT_EQ(sizes, (std::multiset<std::size_t>{1, 1, 1, 2}));
}

TEST_F(EnqueueTest, publishes_only_images_without_output_after_a_scan) {
  ASSERT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 0);
  write_png("in/new.png");
  fs::remove(at("out/b.png"));
  const ProcessResult result =
      run_amqp({"enqueue", "in", "-k", "2", "--scan", "-o", "out", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const nlohmann::json json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json.at("images"), 2);
  EXPECT_EQ(json.at("done"), 3);
  EXPECT_THAT(queued(),
              ::testing::UnorderedElementsAre(at("in/b.png").native(), at("in/new.png").native()));
}

/// The outputs of workers are in ledgers of their own.
TEST_F(EnqueueTest, publishes_images_whose_output_has_no_record) {
  ASSERT_EQ(run({"run", "in", "-o", "whole", "-k", "2"}).code, 0);
  fs::create_directory(at("out"));
  fs::copy_file(at("whole/a.png"), at("out/a.png"));
  const ProcessResult result = run_amqp({"enqueue", "in", "-k", "2", "--scan", "-o", "out"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(queued().count(at("in/a.png").native()), 1u);
}

TEST_F(EnqueueTest, scans_the_ledgers_of_all_machines) {
  ASSERT_EQ(run({"shard", "in", "--count", "2", "-o", "m"}).code, 0);
  ASSERT_EQ(run({"run", "--shard", "m:1/2", "-o", "out", "-k", "2"}).code, 0);
  ASSERT_EQ(run_amqp({"enqueue", "in", "-k", "2", "--scan", "-o", "out"}).code, 0);
  EXPECT_EQ(queued().size(), 2u);
  ASSERT_EQ(run({"run", "--shard", "m:2/2", "-o", "out", "-k", "2"}).code, 0);
  EXPECT_THAT(run_amqp({"enqueue", "in", "-k", "2", "--scan", "-o", "out"}).out,
              HasSubstr("published 0 images"));
}

TEST_F(EnqueueTest, names_inputs_that_are_in_no_message) {
  write("list", "in/a.png\nin/none.png\n");
  const ProcessResult result = run_amqp({"enqueue", "--files-from", "list"});
  EXPECT_EQ(result.code, int(ExitCode::some_failed));
  EXPECT_THAT(result.err, HasSubstr("in/none.png: no such file or folder; it is in no message"));
  EXPECT_EQ(queued().size(), 1u);
}

TEST_F(EnqueueTest, has_the_exit_code_of_the_cause) {
  const FreePort unused;
  const std::string closed = "amqp://guest:s3cret@127.0.0.1:" + std::to_string(unused.number());
  const std::string refused = "amqp://guest:s3cret@127.0.0.1:" + std::to_string(broker_->port());
  for (const auto& [code, arguments] : std::vector<std::pair<ExitCode, Names>>{
           {ExitCode::usage, {"enqueue", "in"}},
           {ExitCode::usage, {"enqueue", "--amqp", broker_->url()}},
           {ExitCode::usage, {"enqueue", "in", "--amqp", "amqp://guest:s3cret@:x"}},
           {ExitCode::usage, {"enqueue", "in", "--amqp", broker_->url(), "--scan"}},
           {ExitCode::usage, {"enqueue", "in", "--amqp", broker_->url(), "--amqp-ca", "ca.pem"}},
           {ExitCode::usage, {"enqueue", "in", "--amqp", broker_->url(), "--queue", "amq.x"}},
           {ExitCode::no_input, {"enqueue", "none", "--amqp", broker_->url()}},
           {ExitCode::unavailable, {"enqueue", "in", "--amqp", closed}},
           {ExitCode::no_permission, {"enqueue", "in", "--amqp", refused}},
           {ExitCode::configuration, {"enqueue", "in", "--amqp", broker_->url() + "/none"}}}) {
    const ProcessResult result = run(arguments);
    EXPECT_EQ(result.code, int(code)) << result.err;
    EXPECT_THAT(result.out + result.err, Not(HasSubstr("s3cret")));
  }
}

TEST_F(EnqueueTest, reads_credentials_from_a_file_or_the_environment) {
  write("credentials", "guest\nguest\n");
  fs::permissions(at("credentials"), fs::perms::owner_read);
  const std::string url = "amqp://nobody:s3cret@127.0.0.1:" + std::to_string(broker_->port());
  const Names arguments{"enqueue", "in", "--amqp", url, "--queue", queue_};
  EXPECT_EQ(run(arguments).code, int(ExitCode::no_permission));
  EXPECT_EQ(run(arguments,
                {.environment = {{"ECKART_AMQP_USER", "guest"}, {"ECKART_AMQP_PASSWORD", "guest"}}})
                .code,
            0);
  Names with_file = arguments;
  with_file.insert(with_file.end(), {"--amqp-credentials", "credentials"});
  EXPECT_EQ(run(with_file).code, 0);
  fs::permissions(at("credentials"), fs::perms::group_read, fs::perm_options::add);
  EXPECT_EQ(run(with_file).code, int(ExitCode::no_permission));
}

TEST_F(EnqueueTest, publishes_over_tls) {
  if (!broker_->has_tls()) GTEST_SKIP() << "needs /usr/bin/openssl";
  const std::string url = "amqps://localhost:" + std::to_string(broker_->tls_port());
  const Names arguments{"enqueue",     "in",
                        "--amqp",      url,
                        "--queue",     queue_,
                        "--amqp-ca",   broker_->ca(),
                        "--amqp-cert", broker_->client_certificate(),
                        "--amqp-key",  broker_->client_key()};
  const ProcessResult result = run(arguments);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(queued().size(), 4u);
}

}  // namespace
}  // namespace eckart::test
