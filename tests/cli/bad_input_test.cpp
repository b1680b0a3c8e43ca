// One bad input costs one input, which is named with its reason.
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cli/cli_fixture.hpp"
#include "tests/unit/io/jpeg_maker.hpp"
#include "tests/unit/io/png_maker.hpp"

namespace eckart::test {
namespace {

class BadInput : public CliTest {
 protected:
  void SetUp() override { write_png("in/good.png"); }

  /// Everything but in/`name` is done, and in/`name` is named with this reason.
  void expect_named(const std::string& name, const std::string& reason,
                    Program::Options options = {}) {
    const Finished result = run({"run", "in", "-o", "out", "-k", "2"}, options);
    EXPECT_EQ(result.code, 3) << result.err;
    EXPECT_THAT(line_with(result.err, "in/" + name + ": "), HasSubstr("(" + reason)) << result.err;
    EXPECT_THAT(result.err, HasSubstr("1 done, 1 failed"));
    EXPECT_THAT(files("out"), ElementsAre("good.png"));
  }
};

TEST_F(BadInput, an_empty_file) {
  write("in/bad.png", "");
  expect_named("bad.png", "empty file");
}

TEST_F(BadInput, a_truncated_png) {
  const auto whole = encoded("png", 64, 64);
  write("in/bad.png", std::span(whole).first(whole.size() / 2));
  expect_named("bad.png", "corrupt");
}

TEST_F(BadInput, a_truncated_jpeg) {
  const auto whole = encoded("jpeg", 64, 64);
  write("in/bad.jpg", std::span(whole).first(whole.size() / 2));
  expect_named("bad.jpg", "corrupt");
}

TEST_F(BadInput, a_text_named_like_an_image) {
  write("in/bad.jpg", "Dear diary,\n");
  expect_named("bad.jpg", "not an image");
}

TEST_F(BadInput, a_png_with_alpha) {
  write("in/bad.png", PngMaker(1, 1, 8, 6).pixels(std::string(5, '\0')).end());
  expect_named("bad.png", "unsupported");
}

TEST_F(BadInput, sixteen_bits_where_jpeg_is_wanted) {
  write("in/bad.png",
        io::codec_named("png").encode(synthesize({.rows = 8, .cols = 8, .depth = Depth::u16}), {}));
  const Finished result = run({"run", "in", "-o", "out", "-k", "2", "--format", "jpeg"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(
      line_with(result.err, "in/bad.png: "),
      HasSubstr("JPEG has no 16-bit samples; use output.format=png (not encodable, in load)"));
  EXPECT_THAT(files("out"), ElementsAre("good.jpg"));
}

TEST_F(BadInput, an_image_over_the_limit) {
  write("in/bad.png", encoded("png", 100, 100));
  write("c.yaml", "limits: {side: 50}\n");
  const Finished result = run({"run", "in", "-o", "out", "-k", "2", "--config", "c.yaml"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(line_with(result.err, "in/bad.png"), HasSubstr("limits.side = 50"));
}

TEST_F(BadInput, an_image_that_takes_too_long_to_decode) {
  write("in/bad.jpg", with_last_scan_repeated(make_jpeg(Image({6000, 6000, 3, Depth::u8}),
                                                        {.progressive = true, .refined = false}),
                                              490));
  const Finished result = run({"run", "in", "-o", "out", "-k", "2", "--set", "limits.decode_s=1"});
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(line_with(result.err, "in/bad.jpg: "),
              HasSubstr("over limits.decode_s = 1 (too large, in load)"));
  EXPECT_THAT(files("out"), ElementsAre("good.png"));
}

TEST_F(BadInput, a_progressive_jpeg_that_there_is_no_memory_for) {
  if (kSanitized) GTEST_SKIP() << "no limit leaves the address space that sanitizers take";
  write("in/bad.jpg", make_jpeg(Image({10000, 10000, 3, Depth::u8}), {.progressive = true}));
  const Finished result = run({"run", "in", "-o", "out", "-k", "2", "--set", "cpu.lanes=1"},
                              {.folder = {}, .in = {}, .address_space_mb = 1100});
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(line_with(result.err, "in/bad.jpg: "), HasSubstr("(out of memory, in load)"));
  EXPECT_THAT(files("out"), ElementsAre("good.png"));
}

TEST_F(BadInput, an_image_that_there_is_no_memory_for) {
  if (kSanitized) GTEST_SKIP() << "no limit leaves the address space that sanitizers take";
  write("in/bad.png",
        io::codec_named("png").encode(
            synthesize({.kind = SynthKind::gradient, .rows = 9000, .cols = 9000}), {}));
  write_png("in/late.png");
  const Finished result = run({"run", "in", "-o", "out", "-k", "2", "--set", "cpu.lanes=1"},
                              {.folder = {}, .in = {}, .address_space_mb = 1500});
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(line_with(result.err, "in/bad.png: "), HasSubstr("(out of memory, in compute)"));
  EXPECT_THAT(files("out"), ElementsAre("good.png", "late.png"));
}

TEST_F(BadInput, a_broken_link) {
  fs::create_symlink("nowhere", at("in/bad.png"));
  expect_named("bad.png", "not found");
}

TEST_F(BadInput, a_pipe) {
  ASSERT_EQ(mkfifo(at("in/bad.png").c_str(), 0600), 0);
  expect_named("bad.png", "unreadable");
}

TEST_F(BadInput, a_file_that_may_not_be_read) {
  write_png("in/bad.png");
  fs::permissions(at("in/bad.png"), fs::perms::none);
  fs::permissions(at("."), fs::perms::all);
  expect_named("bad.png", "unreadable", {.folder = {}, .in = {}, .as_nobody = getuid() == 0});
}

TEST_F(BadInput, a_folder_that_is_not_there_among_good_ones) {
  const Finished result = run({"run", "nowhere", "in", "-o", "out", "-k", "2"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(line_with(result.err, "nowhere: "), HasSubstr("no such file or folder"));
  EXPECT_THAT(files("out"), ElementsAre("good.png"));
}

TEST_F(BadInput, a_line_of_a_list_that_names_nothing) {
  write("list", "in/good.png\nnowhere.png\n");
  const Finished result = run({"run", "--files-from", "list", "-o", "out", "-k", "2"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(line_with(result.err, "nowhere.png: "), HasSubstr("no such file or folder"));
}

TEST_F(BadInput, two_inputs_with_one_usual_output_of_which_the_second_gets_its_full_name) {
  fs::remove(at("in/good.png"));
  for (int i = 0; i < 20; ++i) {
    const std::string stem = "in/" + std::to_string(i);
    write(stem + ".jpg", encoded("jpeg"));
    write_png(stem + ".png");
  }
  const Finished result = run({"run", "in", "-o", "out", "-k", "2", "--set", "threads.load=4"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(files("out").size(), 40u);
  for (int i = 0; i < 20; ++i) {
    const std::string name = std::to_string(i) + ".png";
    EXPECT_TRUE(fs::exists(at("out/" + name + ".png")));
    EXPECT_THAT(line_with(result.err, "in/" + name + ": "),
                HasSubstr("its output is out/" + name + ".png: out/" + name + " belongs to"));
  }
}

TEST_F(BadInput, an_image_that_its_output_would_replace) {
  const auto before = io::read_file(at("in/good.png"), 1);
  const Finished result = run({"run", "in/good.png", "-o", "in", "-k", "2"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(line_with(result.err, "in/good.png: "), HasSubstr("would replace it"));
  EXPECT_EQ(io::read_file(at("in/good.png"), 1), before);
}

TEST_F(BadInput, an_input_that_another_input_would_replace) {
  write("in/two.jpg", encoded("jpeg"));
  write_png("in/two.png");
  const auto before = io::read_file(at("in/two.png"), 1);
  const Finished result = run({"run", "in/two.jpg", "in/two.png", "-o", "in", "-k", "2"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(line_with(result.err, "in/two.jpg: "), HasSubstr("would replace an input"));
  EXPECT_EQ(io::read_file(at("in/two.png"), 1), before);
}

TEST_F(BadInput, an_input_that_another_folder_has_the_output_of) {
  write("a/x.jpg", encoded("jpeg"));
  write_png("b/x.png");
  const auto before = io::read_file(at("b/x.png"), 1);
  const Finished result = run({"run", "a/x.jpg", "b/x.png", "-o", "b", "-k", "2"});
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(line_with(result.err, "a/x.jpg: "), HasSubstr("b/x.png would replace an input"));
  EXPECT_EQ(io::read_file(at("b/x.png"), 1), before);
}

TEST_F(BadInput, an_input_folder_below_the_output_gets_no_files) {
  write("here/scans/scans/a.jpg", encoded("jpeg"));
  write_png("here/scans/a.png");
  const Finished result = run({"run", "here/scans", "-o", "here", "-k", "2"});
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(line_with(result.err, "scans/scans/a.jpg: "),
              HasSubstr("here/scans/a.png would be in the input here/scans"));
  EXPECT_THAT(files("here"), ElementsAre("a.png", "scans/a.png", "scans/scans/a.jpg"));
}

TEST_F(BadInput, a_listed_folder_in_the_output_folder) {
  write("list", "in\n");
  const Finished result = run({"run", "--files-from", "list", "-o", ".", "-k", "2,3"});
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(line_with(result.err, "in: "), HasSubstr("it is in the output folder ."));
  EXPECT_THAT(files("in"), ElementsAre("good.png"));
}

TEST_F(BadInput, a_list_with_null_bytes_is_refused) {
  write("list", std::string("in/good.png\0in/good.png\0", 24));
  const Finished result = run({"run", "--files-from", "list", "-o", "out", "-k", "2"});
  EXPECT_EQ(result.code, 64);
  EXPECT_THAT(result.err, HasSubstr("null byte"));
  EXPECT_THAT(files("out"), IsEmpty());
}

TEST_F(BadInput, a_list_from_a_system_with_other_line_ends_is_read) {
  write("list", "in/good.png\r\n");
  EXPECT_EQ(run({"run", "--files-from", "list", "-o", "out", "-k", "2"}).code, 0);
}

TEST_F(BadInput, a_name_cannot_command_the_terminal) {
  write("in/\x1b[31m\n.png", "no image");
  const Finished result = run({"run", "in", "-o", "out", "-k", "2"});
  EXPECT_THAT(result.err, HasSubstr("in/\\x1b[31m\\n.png: "));
  EXPECT_THAT(result.err, Not(HasSubstr("\x1b[31m")));
}

TEST_F(BadInput, a_name_cannot_pose_as_another) {
  write("in/\u202egnp.a.png", "no image");
  write("in/b\u200b\u009b.png", "no image");
  write("in/c\xff.png", "no image");
  write("in/ä.png", "no image");
  const Finished result = run({"run", "in", "-o", "out", "-k", "2", "--report", "-"});
  EXPECT_THAT(result.err, HasSubstr("in/\\u{202e}gnp.a.png: "));
  EXPECT_THAT(result.err, HasSubstr("in/b\\u{200b}\\u{9b}.png: "));
  EXPECT_THAT(result.err, HasSubstr("in/c\\xff.png: "));
  EXPECT_THAT(result.err, HasSubstr("in/ä.png: "));
  EXPECT_THAT(result.out, HasSubstr("{\"file\":\"in/\\u202egnp.a.png\""));
  EXPECT_THAT(result.out, HasSubstr("{\"file\":\"in/b\\u200b\\u009b.png\""));
  const std::string status = run({"status", "out"}).out;
  EXPECT_THAT(status, HasSubstr("in/\\u{202e}gnp.a.png: "));
  const Finished flag = run({"run", "in", "-o", "out", "--\u202e\x1b[2J"});
  EXPECT_THAT(flag.err, HasSubstr("--\\u{202e}\\x1b[2J"));
  const Finished command = run({"\u202e"});
  EXPECT_THAT(command.err, HasSubstr("'\\u{202e}'"));
}

TEST_F(BadInput, an_output_among_the_programs_own_files_is_refused) {
  write_png(".eckart/lock.png");
  write("list", "in/good.png\n.eckart/lock.png\n");
  const Finished result =
      run({"run", "--files-from", "list", "-o", "out", "-k", "2", "--set", "output.name={stem}"});
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(line_with(result.err, ".eckart/lock.png: "), HasSubstr("eckart's own files"));
}

/// A slip of the hand.
TEST_F(BadInput, what_is_no_report_and_no_ledger_is_not_replaced_by_one) {
  write("list", "in/good.png\n");
  write_png("scan");
  const auto image = io::read_file(at("scan"), 1), list = io::read_file(at("list"), 1);
  write("some.json", "{\"a\": 1}");
  EXPECT_EQ(run({"run", "in", "-o", "out", "-k", "2", "--report", "some.json"}).code, 64);
  for (const std::string name : {"scan", "list"}) {
    const Finished report = run({"run", "in", "-o", "out", "-k", "2", "--report", name});
    EXPECT_EQ(report.code, 64);
    EXPECT_THAT(report.err, HasSubstr("report " + name + ": this file is there"));
    const Finished ledger = run({"run", "in", "-o", "out", "-k", "2", "--ledger", name});
    EXPECT_EQ(ledger.code, 64);
    EXPECT_THAT(ledger.err,
                HasSubstr("ledger " + name +
                          ": this file is there, and is no ledger of eckart; it was not changed"));
  }
  EXPECT_EQ(io::read_file(at("scan"), 1), image);
  EXPECT_EQ(io::read_file(at("list"), 1), list);
}

TEST_F(BadInput, an_empty_rank_is_refused) {
  const Finished result = run({"run", "in", "-o", "out", "-k", ""});
  EXPECT_EQ(result.code, 64);
  EXPECT_THAT(result.err, HasSubstr("--rank"));
}

TEST_F(BadInput, an_output_that_cannot_be_written_ends_with_74) {
  write_png("in/sub/bad.png");
  fs::create_directories(at("out/sub"));
  fs::permissions(at("out/sub"), fs::perms(0555));
  for (const char* folder : {".", "out"}) fs::permissions(at(folder), fs::perms::all);
  const Finished result = run({"run", "in", "-o", "out", "-k", "2"},
                              {.folder = {}, .in = {}, .as_nobody = getuid() == 0});
  EXPECT_EQ(result.code, 74);
  const std::string line = line_with(result.err, "in/sub/bad.png: ");
  EXPECT_THAT(line, HasSubstr("cannot write out/sub/bad.png: Permission denied"));
  EXPECT_THAT(line, HasSubstr("not written"));
  EXPECT_THAT(files("out"), ElementsAre("good.png"));
}

/// With --overwrite as well, which replaces outputs alone.
TEST_F(BadInput, a_file_in_the_place_of_an_output_s_folder_is_a_collision_of_that_image) {
  write_png("in/sub/bad.png");
  const std::string text = "a file where a folder must be";
  write("out/sub", text);
  const std::vector<std::vector<std::string>> commands{
      {"run", "in", "-o", "out", "-k", "2"}, {"run", "in", "-o", "out", "-k", "2", "--overwrite"}};
  for (const std::vector<std::string>& arguments : commands) {
    const Finished result = run(arguments);
    EXPECT_EQ(result.code, 3);
    const std::string line = line_with(result.err, "in/sub/bad.png: ");
    EXPECT_THAT(line, HasSubstr("out/sub/bad.png is in the way (out/sub is not a directory)"));
    EXPECT_THAT(line, HasSubstr("output collision"));
    EXPECT_THAT(files("out"), ElementsAre("good.png", "sub")) << "and no temporaries";
    EXPECT_EQ(fs::file_size(at("out/sub")), text.size());
  }
}

}  // namespace
}  // namespace eckart::test
