// Tests `eckart run --trace`.
#include <csignal>
#include <cstddef>
#include <vector>

#include "tests/cli/cli_fixture.hpp"
#include "tests/support/trace_reader.hpp"

namespace eckart::test {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;

class RunTraceTest : public CliTest {
 protected:
  Names arguments(const std::string& trace = "t.json") const {
    return {"run", "in", "-o", "out", "-k", "2", "--backend", "cpu", "-q", "--trace", trace};
  }
  Names names_of(const std::vector<TraceReader::Span>& spans) const {
    Names names;
    for (const auto& span : spans) names.push_back(span.name);
    return names;
  }
};

TEST_F(RunTraceTest, has_all_threads_images_and_results) {
  write_png("in/a.png");
  write_png("in/day \"1\"/\xff.png");
  write("in/bad.png", std::string("no image"));
  Names all = arguments();
  all.insert(all.end(),
             {"--set", "threads.load=3", "--set", "threads.write=2", "--set", "cpu.lanes=2"});
  EXPECT_EQ(run(all).code, 3);
  const TraceReader trace(at("t.json"));
  trace.expect_properly_nested();
  EXPECT_THAT(trace.thread_names(), IsSupersetOf({"source", "load 0", "load 1", "load 2", "batch",
                                                  "compute 0", "write 0", "write 1"}));
  EXPECT_THAT(names_of(trace.spans("load")),
              UnorderedElementsAre("a.png", "day \"1\"/\xEF\xBF\xBD.png", "bad.png"));
  const auto bad = trace.spans("write", "bad.png");
  ASSERT_EQ(bad.size(), 1U);
  EXPECT_EQ(bad[0].args.at("result"), "failed");
  EXPECT_EQ(bad[0].args.at("reason"), "not an image");
  EXPECT_EQ(bad[0].args.at("file"), "in/bad.png");
  const auto good = trace.spans("load", "a.png");
  ASSERT_EQ(good.size(), 1U);
  EXPECT_EQ(good[0].args.at("rows"), 24);
  EXPECT_EQ(good[0].args.at("bytes"), fs::file_size(at("in/a.png")));
  EXPECT_FALSE(good[0].args.contains("result"));
}

TEST_F(RunTraceTest, is_rejected_before_work_when_it_cannot_be_written) {
  write_png("in/a.png");
  const ProcessResult none = run(arguments("no/folder/t.json"));
  EXPECT_EQ(none.code, 73);
  EXPECT_THAT(none.err, HasSubstr("no/folder/t.json"));
  EXPECT_EQ(run(arguments("in/a.png")).code, 64);
  write("list.txt", std::string("in/a.png\nand others, so many that it could be taken for one\n"));
  EXPECT_EQ(run(arguments("list.txt")).code, 64);
  EXPECT_THAT(files("out"), IsEmpty());
  EXPECT_NO_THROW(decode("in/a.png"));
}

TEST_F(RunTraceTest, logs_a_write_failure_once) {
  for (int i = 0; i < 5; ++i) write_png("in/" + std::to_string(i) + ".png");
  const ProcessResult full = run(arguments("/dev/full"));
  EXPECT_EQ(full.code, 0) << full.err;
  EXPECT_EQ(count_occurrences(full.err, "trace /dev/full"), 1) << full.err;
  EXPECT_EQ(files("out").size(), 5U);
}

TEST_F(RunTraceTest, is_not_written_by_dry_run) {
  write_png("in/a.png");
  Names all = arguments();
  all.emplace_back("--dry-run");
  EXPECT_EQ(run(all).code, 0);
  EXPECT_FALSE(fs::exists(at("t.json")));
}

TEST_F(RunTraceTest, is_complete_after_a_stop) {
  const std::vector<std::byte> image = encoded("png", 256, 256);
  for (int i = 0; i < 400; ++i) write("in/" + std::to_string(i) + ".png", image);
  EckartProcess program(arguments(), {.folder = at(".")});
  wait_for([&] { return files("out").size() > 5; });
  program.signal(SIGINT);
  EXPECT_EQ(program.wait().code, 130);
  const TraceReader trace(at("t.json"));
  trace.expect_properly_nested();
  EXPECT_GE(trace.spans("write").size(), 5U);
}

TEST_F(RunTraceTest, continues_after_device_loss) {
  for (int i = 0; i < 30; ++i) write_png("in/" + std::to_string(i) + ".png");
  Names all = arguments();
  all[7] = "cuda";
  const ProcessResult result =
      run(all,
          {.program = fs::path(ECKART_FAKE_GPU) / "eckart",
           .environment = {{"LD_LIBRARY_PATH", ECKART_FAKE_GPU}, {"FAKE_GPU_LOST_AT_BATCH", "2"}}});
  EXPECT_EQ(result.code, 0) << result.err;
  const TraceReader trace(at("t.json"));
  trace.expect_properly_nested();
  EXPECT_GE(trace.spans("source").size(), 31U) << "of both processes";
  EXPECT_EQ(trace.process_names().at(2), "GPU 00000000:01:00.0");
}

}  // namespace
}  // namespace eckart::test
