#include "trace/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "core/error.hpp"
#include "tests/support/max_file_size.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/trace_reader.hpp"

namespace eckart::trace {
namespace {

using test::TraceReader;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Trace::Track kTrack{Trace::kHost, 1000};
Trace::Time time_at(std::int64_t ns) { return Trace::Time(std::chrono::nanoseconds(ns)); }

class TraceFileTest : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "t.json"; }
  void write(const std::string& text) const { std::ofstream(file(), std::ios::binary) << text; }
  std::string text() const { return TraceReader::read(file()); }

  const test::TempFolder folder_;
};

TEST_F(TraceFileTest, is_valid_json_without_events) {
  Trace(file()).close();
  const TraceReader trace(file());
  EXPECT_EQ(trace.process_names().at(Trace::kHost), "eckart");
  EXPECT_TRUE(trace.spans().empty());
}

TEST_F(TraceFileTest, has_all_events) {
  Trace trace(file());
  trace.name_process(2, "GPU 00000000:3B:00.0");
  trace.name_thread(kTrack, "load 0");
  trace.span(
      kTrack, "load", "a.png", time_at(17'000'123'456'789), time_at(17'000'123'466'790),
      TraceArgs().add("bytes", 7).add("dB", 1.5).add("none", 0.0 / 0.0).add("result", "done"));
  trace.flow(Trace::Flow::start, "image", 3, kTrack, time_at(17'000'123'456'790));
  trace.flow(Trace::Flow::end, "image", 3, kTrack, time_at(17'000'123'456'791));
  trace.async_span(Trace::kHost, "batch", 1, "gathering", time_at(5), time_at(2000));
  trace.counter(Trace::kHost, "queue", time_at(6), {{"waiting", 4}});
  trace.close();
  trace.span(kTrack, "load", "too late", time_at(1), time_at(2));

  const TraceReader read(file());
  ASSERT_EQ(read.spans().size(), 1U);
  const TraceReader::Span span = read.spans().front();
  EXPECT_EQ(span.name, "a.png");
  EXPECT_EQ(span.begin_ns, 17'000'123'456'789) << "to the nanosecond";
  EXPECT_EQ(span.end_ns, 17'000'123'466'790);
  EXPECT_EQ(span.args, (TraceReader::Json{{"bytes", 7}, {"dB", 1.5}, {"result", "done"}}));
  EXPECT_EQ(read.thread_names(), std::vector<std::string>{"load 0"});
  EXPECT_EQ(read.process_names().at(2), "GPU 00000000:3B:00.0");
  EXPECT_THAT(read.flow_path("image", 3), ElementsAre("load", "load"));
  EXPECT_EQ(read.count("b", "batch"), 1);
  EXPECT_EQ(read.count("e", "batch"), 1);
  EXPECT_EQ(read.count("C", "counter"), 1);
}

TEST_F(TraceFileTest, escapes_hostile_text) {
  const std::string all = [] {
    std::string bytes;
    for (int byte = 0; byte < 256; ++byte) bytes.push_back(char(byte));
    return bytes;
  }();
  const std::vector<std::string> names{
      "\"",      "\\",    "\"}],\n", "\xff\xfe.png", std::string("a\0b", 3),
      "\x1b[2J", "ä.png", all,       "</script>"};
  {
    Trace trace(file());
    for (const std::string& name : names) {
      trace.name_thread(kTrack, name);
      trace.span(kTrack, "load", name, time_at(1), time_at(2), TraceArgs().add("file", name));
    }
  }
  const TraceReader read(file());
  ASSERT_EQ(read.spans().size(), names.size());
  EXPECT_EQ(read.spans()[2].name, names[2]);
  EXPECT_EQ(read.spans()[2].args.at("file"), names[2]);
  EXPECT_EQ(read.spans()[3].name, "\xEF\xBF\xBD\xEF\xBF\xBD.png") << "what is not UTF-8";
  EXPECT_EQ(read.spans()[6].name, names[6]);
  for (const char byte : text()) EXPECT_TRUE(byte == '\n' || (byte >= ' ' && byte <= '~'));
}

TEST_F(TraceFileTest, is_thread_safe) {
  constexpr int kThreads = 8, kSpans = 3000;
  {
    Trace trace(file());
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&trace, i] {
        const Trace::Track track{Trace::kHost, 1000 + i};
        trace.name_thread(track, std::to_string(i));
        for (int k = 0; k < kSpans; ++k)
          trace.span(track, "load", std::to_string(k), time_at(10 * k + 1), time_at(10 * k + 11),
                     TraceArgs().add("image", k));
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  const TraceReader read(file());
  read.expect_properly_nested();
  std::map<TraceReader::Track, int> next;
  for (const auto& span : read.spans()) EXPECT_EQ(span.args.at("image"), next[span.track]++);
  EXPECT_EQ(next.size(), std::size_t(kThreads));
  EXPECT_EQ(read.spans().size(), std::size_t(kThreads * kSpans));
}

TEST_F(TraceFileTest, ends_with_a_complete_event_after_a_kill) {
  Trace trace(file());
  for (int k = 0; k < 5000; ++k)
    trace.span(kTrack, "load", "a.png", time_at(k + 1), time_at(k + 2));
  const std::string unfinished = text();  // the file while the process runs
  EXPECT_GT(unfinished.size(), 100'000U);
  EXPECT_THAT(unfinished, ::testing::EndsWith("}"));
  EXPECT_GT(TraceReader(unfinished + "]").spans().size(), 1000U);
}

TEST_F(TraceFileTest, is_appended_to_after_a_restart) {
  const auto add = [&](int restarts) {
    Trace trace(file(), restarts);
    trace.span(kTrack, "load", "a.png", time_at(100 * restarts + 1), time_at(100 * restarts + 9));
    trace.flow(Trace::Flow::start, "image", 1, kTrack, time_at(100 * restarts + 2));
  };
  add(0);
  add(1);
  add(2);
  const TraceReader read(file());
  EXPECT_EQ(read.spans().size(), 3U);
  EXPECT_EQ(read.flow_path("image", 1).size(), 1U) << "another process's image has another arrow";
  add(0);
  EXPECT_EQ(TraceReader(file()).spans().size(), 1U) << "a new run replaces it";
  std::filesystem::resize_file(file(), 0);  // the first process ended before it wrote
  add(1);
  EXPECT_EQ(TraceReader(file()).spans().size(), 1U);
}

void expect_refused(const std::filesystem::path& file, ExitCode code) {
  try {
    Trace trace(file);
    ADD_FAILURE() << file;
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(file.filename().native()));
  }
}

TEST_F(TraceFileTest, throws_when_the_file_cannot_be_created) {
  expect_refused(folder_.path() / "none" / "t.json", ExitCode::cannot_create);
  expect_refused(folder_.path(), ExitCode::cannot_create);
}

TEST_F(TraceFileTest, throws_when_nothing_reads_its_pipe) {
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  try {
    Trace trace(file());
    ADD_FAILURE();
  } catch (const FatalError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("t.json cannot be created: no process reads"));
  }
}

TEST_F(TraceFileTest, replaces_only_a_trace) {
  for (const std::string content :
       {"[1, 2, 3] and much more, so that it is longer than what a trace "
        "begins with, which is a hundred bytes",
        "short"}) {
    write(content);
    expect_refused(file(), ExitCode::usage);
    EXPECT_EQ(text(), content);
  }
  write("");
  Trace(file()).close();
  EXPECT_THAT(text(), Not(HasSubstr("short")));
}

TEST_F(TraceFileTest, ends_with_a_complete_event_after_a_full_disk) {
  {
    const test::MaxFileSize full(100'000);  // the second buffer is written only in part
    Trace trace(file());
    for (int k = 0; k < 5000; ++k)
      trace.span(kTrack, "load", "a.png", time_at(k + 1), time_at(k + 2));
  }
  EXPECT_GT(TraceReader(file()).spans().size(), 100U);
}

TEST_F(TraceFileTest, does_not_throw_when_writing_fails) {
  Trace trace("/dev/full");
  for (int k = 0; k < 5000; ++k)
    trace.span(kTrack, "load", "a.png", time_at(k + 1), time_at(k + 2));
  trace.close();
}

/// As viewers expect them. An end before its begin becomes the begin.
TEST_F(TraceFileTest, has_each_event_in_the_format_of_viewers) {
  Trace trace(file(), 1);
  const Trace::Track track{2, 30};
  trace.name_thread(track, "t");
  trace.span(track, "load", "a", time_at(2'003'004), time_at(2'003'004 + 1'000'070));
  trace.span(track, "load", "b", time_at(9000), time_at(8000), TraceArgs().add("n", 5));
  trace.async_span(2, "batch", 4, "g", time_at(7000), time_at(6000));
  for (const auto flow : {Trace::Flow::start, Trace::Flow::step, Trace::Flow::end})
    trace.flow(flow, "image", 3, track, time_at(1000));
  trace.counter(2, "queue", time_at(6000), {{"waiting", 4}, {"held", 5}});
  trace.close();
  const std::string all = text();
  EXPECT_EQ(all.substr(all.find("}},\n") + 4),
            R"({"name":"thread_name","ph":"M","pid":2,"tid":30,"args":{"name":"t"}},
{"name":"thread_sort_index","ph":"M","pid":2,"tid":30,"args":{"sort_index":30}},
{"name":"a","cat":"load","ph":"X","pid":2,"tid":30,"ts":2003.004,"dur":1000.070},
{"name":"b","cat":"load","ph":"X","pid":2,"tid":30,"ts":9.000,"dur":0.000,"args":{"n":5}},
{"name":"g","cat":"batch","ph":"b","pid":2,"tid":2,"ts":7.000,"id":1099511627780,"args":{}},
{"name":"g","cat":"batch","ph":"e","pid":2,"tid":2,"ts":7.000,"id":1099511627780,"args":{}},
{"name":"image","cat":"image","ph":"s","pid":2,"tid":30,"ts":1.000,"id":1099511627779},
{"name":"image","cat":"image","ph":"t","pid":2,"tid":30,"ts":1.000,"id":1099511627779},
{"name":"image","cat":"image","ph":"f","pid":2,"tid":30,"ts":1.000,"id":1099511627779,"bp":"e"},
{"name":"queue","cat":"counter","ph":"C","pid":2,"tid":2,"ts":6.000,"args":{"waiting":4,"held":5}}
]
)");
}

/// Otherwise a long run needs much memory, and a killed one leaves little of its trace.
TEST_F(TraceFileTest, writes_events_before_it_is_closed) {
  Trace trace(file());
  const std::string name(1000, 'x');
  for (int i = 0; i < 100; ++i) trace.span(kTrack, "load", name, time_at(1), time_at(2));
  EXPECT_GT(std::filesystem::file_size(file()), 65'000U);
}

/// For example, that of a run without a lost GPU before.
TEST_F(TraceFileTest, replaces_the_trace_of_another_run) {
  for (const char* name : {"earlier", "later"}) {
    Trace trace(file());
    trace.span(kTrack, "load", name, time_at(1), time_at(2));
  }
  EXPECT_THAT(text(), AllOf(HasSubstr("later"), Not(HasSubstr("earlier"))));
}

}  // namespace
}  // namespace eckart::trace
