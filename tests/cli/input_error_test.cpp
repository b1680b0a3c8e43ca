// A bad input fails alone, and is named with its reason.
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cli/cli_fixture.hpp"
#include "tests/unit/codec/make_jpeg.hpp"
#include "tests/unit/codec/png_maker.hpp"

namespace eckart::test {
namespace {

class InputErrorTest : public CliTest {
 protected:
  void SetUp() override { write_png("in/good.png"); }

  /// Expects that in/`name` fails with this reason and all other inputs are done.
  void expect_named(const std::string& name, const std::string& reason,
                    EckartProcess::Options options = {}) {
    const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2"}, options);
    EXPECT_EQ(result.code, 3) << result.err;
    EXPECT_THAT(line_containing(result.err, "in/" + name + ": "), HasSubstr("(" + reason))
        << result.err;
    EXPECT_THAT(result.err, HasSubstr("1 done, 1 failed"));
    EXPECT_THAT(files("out"), ElementsAre("good.png"));
  }
};

TEST_F(InputErrorTest, is_reported_for_an_empty_file) {
  write("in/bad.png", "");
  expect_named("bad.png", "empty file");
}

TEST_F(InputErrorTest, is_reported_for_a_truncated_png) {
  const auto whole = encoded("png", 64, 64);
  write("in/bad.png", std::span(whole).first(whole.size() / 2));
  expect_named("bad.png", "corrupt");
}

TEST_F(InputErrorTest, is_reported_for_a_truncated_jpeg_only_by_the_strict_decoder) {
  const auto whole = encoded("jpeg", 64, 64);
  write("in/bad.jpg", std::span(whole).first(whole.size() / 2));
  expect_named("bad.jpg", "corrupt");
  const ProcessResult result =
      run({"run", "in", "-o", "out", "-k", "2", "--overwrite", "--set", "input.decoder=opencv"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(decode("out/bad.png").shape().rows, 64);
}

/// tools/malformed-input-test tests more files.
TEST_F(InputErrorTest, is_reported_for_decompression_bombs_by_both_decoders) {
  write("in/pixels.png", encoded("png", 1, 6001));
  write("in/scans.jpg",
        with_last_scan_repeated(make_jpeg(Image({6000, 6000, 3, Depth::u8}),
                                          {.progressive = true, .has_refinement_scans = false}),
                                490));
  for (const std::string decoder : {"strict", "opencv"}) {
    const ProcessResult result =
        run({"run", "in", "-o", "out-" + decoder, "-k", "2", "--set", "input.decoder=" + decoder,
             "--set", "limits.side=6000", "--set", "limits.decode_s=1"});
    EXPECT_EQ(result.code, 3);
    EXPECT_THAT(line_containing(result.err, "in/pixels.png: "),
                HasSubstr("exceeds limits.side = 6000 (too large, in load)"));
    EXPECT_THAT(line_containing(result.err, "in/scans.jpg: "),
                HasSubstr("limits.decode_s = 1 (too large, in load)"));
    EXPECT_THAT(files("out-" + decoder), ElementsAre("good.png"));
  }
}

TEST_F(InputErrorTest, is_reported_for_text_with_image_extension) {
  write("in/bad.jpg", "Dear diary,\n");
  expect_named("bad.jpg", "not an image");
}

TEST_F(InputErrorTest, is_reported_for_a_16_bit_image_with_jpeg_output) {
  write("in/bad.png",
        codec::codec_for(ImageFormat::png)
            .encode(synth::synthesize({.rows = 8, .cols = 8, .depth = Depth::u16}), {}));
  const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2", "--format", "jpeg"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(
      line_containing(result.err, "in/bad.png: "),
      HasSubstr(
          "JPEG does not support 16-bit samples; use output.format=png (not encodable, in load)"));
  EXPECT_THAT(files("out"), ElementsAre("good.jpg"));
}

TEST_F(InputErrorTest, is_reported_for_an_image_over_the_size_limit) {
  write("in/bad.png", encoded("png", 100, 100));
  write("c.yaml", "limits: {side: 50}\n");
  const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2", "--config", "c.yaml"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(line_containing(result.err, "in/bad.png"), HasSubstr("limits.side = 50"));
}

TEST_F(InputErrorTest, is_reported_for_a_decode_timeout) {
  write("in/bad.jpg",
        with_last_scan_repeated(make_jpeg(Image({6000, 6000, 3, Depth::u8}),
                                          {.progressive = true, .has_refinement_scans = false}),
                                490));
  const ProcessResult result =
      run({"run", "in", "-o", "out", "-k", "2", "--set", "limits.decode_s=1"});
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(line_containing(result.err, "in/bad.jpg: "),
              HasSubstr("than limits.decode_s = 1 (too large, in load)"));
  EXPECT_THAT(files("out"), ElementsAre("good.png"));
}

TEST_F(InputErrorTest, is_reported_when_load_is_out_of_memory) {
  if (kIsSanitized) GTEST_SKIP() << "no limit leaves the address space that sanitizers take";
  // Its pixels alone exceed the address space, so that the load takes none from the other stages.
  constexpr int kFrameHeader = 0xC0, kSide = 20000;
  write("in/bad.jpg", with_announced_size(encoded("jpeg", 8, 8, 3), kFrameHeader, kSide, kSide));
  const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2", "--set", "cpu.lanes=1",
                                    "--set", "limits.pixels=400000000"},
                                   {.folder = {}, .in = {}, .address_space_mb = 1000});
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(line_containing(result.err, "in/bad.jpg: "), HasSubstr("(out of memory, in load)"));
  EXPECT_THAT(files("out"), ElementsAre("good.png"));
}

TEST_F(InputErrorTest, is_reported_when_compute_is_out_of_memory) {
  if (kIsSanitized) GTEST_SKIP() << "no limit leaves the address space that sanitizers take";
  write("in/bad.png",
        codec::codec_for(ImageFormat::png)
            .encode(
                synth::synthesize({.kind = synth::SynthKind::gradient, .rows = 9000, .cols = 9000}),
                {}));
  write_png("in/late.png");
  const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2", "--set", "cpu.lanes=1"},
                                   {.folder = {}, .in = {}, .address_space_mb = 1050});
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(line_containing(result.err, "in/bad.png: "),
              HasSubstr("(out of memory, in compute)"));
  EXPECT_THAT(files("out"), ElementsAre("good.png", "late.png"));
}

TEST_F(InputErrorTest, is_reported_for_a_broken_symlink) {
  fs::create_symlink("nowhere", at("in/bad.png"));
  expect_named("bad.png", "not found");
}

TEST_F(InputErrorTest, is_reported_for_a_fifo) {
  ASSERT_EQ(mkfifo(at("in/bad.png").c_str(), 0600), 0);
  expect_named("bad.png", "unreadable");
}

TEST_F(InputErrorTest, is_reported_for_a_file_without_read_permission) {
  write_png("in/bad.png");
  fs::permissions(at("in/bad.png"), fs::perms::none);
  fs::permissions(at("."), fs::perms::all);
  expect_named("bad.png", "unreadable", {.folder = {}, .in = {}, .as_nobody = getuid() == 0});
}

TEST_F(InputErrorTest, is_reported_for_a_missing_file_of_a_list) {
  write("list", "in/good.png\nnowhere.png\n");
  const ProcessResult result = run({"run", "--files-from", "list", "-o", "out", "-k", "2"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(line_containing(result.err, "nowhere.png: "), HasSubstr("no such file or folder"));
}

TEST_F(InputErrorTest, does_not_occur_for_two_inputs_of_one_output_name) {
  fs::remove(at("in/good.png"));
  for (int i = 0; i < 20; ++i) {
    const std::string stem = "in/" + std::to_string(i);
    write(stem + ".jpg", encoded("jpeg"));
    write_png(stem + ".png");
  }
  const ProcessResult result =
      run({"run", "in", "-o", "out", "-k", "2", "--set", "threads.load=4"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(files("out").size(), 40u);
  for (int i = 0; i < 20; ++i) {
    const std::string name = std::to_string(i) + ".png";
    EXPECT_TRUE(fs::exists(at("out/" + name + ".png")));
    EXPECT_THAT(line_containing(result.err, "in/" + name + ": "),
                HasSubstr("output is out/" + name + ".png, because out/" + name + " is reserved"));
  }
}

TEST_F(InputErrorTest, is_reported_for_an_output_that_would_replace_its_input) {
  const auto before = io::read_file(at("in/good.png"), 1);
  const ProcessResult result = run({"run", "in/good.png", "-o", "in", "-k", "2"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(line_containing(result.err, "in/good.png: "),
              HasSubstr("would overwrite the input itself"));
  EXPECT_EQ(io::read_file(at("in/good.png"), 1), before);
}

TEST_F(InputErrorTest, is_reported_for_an_output_that_would_replace_another_input) {
  write("in/two.jpg", encoded("jpeg"));
  write_png("in/two.png");
  const auto before = io::read_file(at("in/two.png"), 1);
  const ProcessResult result = run({"run", "in/two.jpg", "in/two.png", "-o", "in", "-k", "2"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(line_containing(result.err, "in/two.jpg: "),
              HasSubstr("would overwrite another input"));
  EXPECT_EQ(io::read_file(at("in/two.png"), 1), before);
}

TEST_F(InputErrorTest, is_reported_for_an_output_that_would_replace_input_elsewhere) {
  write("a/x.jpg", encoded("jpeg"));
  write_png("b/x.png");
  const auto before = io::read_file(at("b/x.png"), 1);
  const ProcessResult result = run({"run", "a/x.jpg", "b/x.png", "-o", "b", "-k", "2"});
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(line_containing(result.err, "a/x.jpg: "),
              HasSubstr("b/x.png would overwrite another input"));
  EXPECT_EQ(io::read_file(at("b/x.png"), 1), before);
}

TEST_F(InputErrorTest, is_reported_for_an_output_inside_an_input_folder) {
  write("here/scans/scans/a.jpg", encoded("jpeg"));
  write_png("here/scans/a.png");
  const ProcessResult result = run({"run", "here/scans", "-o", "here", "-k", "2"});
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(line_containing(result.err, "scans/scans/a.jpg: "),
              HasSubstr("here/scans/a.png would be inside the input folder here/scans"));
  EXPECT_THAT(files("here"), ElementsAre("a.png", "scans/a.png", "scans/scans/a.jpg"));
}

TEST_F(InputErrorTest, is_reported_for_a_listed_folder_inside_the_output_folder) {
  write("list", "in\n");
  const ProcessResult result = run({"run", "--files-from", "list", "-o", ".", "-k", "2,3"});
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(line_containing(result.err, "in: "), HasSubstr("it is inside the output folder ."));
  EXPECT_THAT(files("in"), ElementsAre("good.png"));
}

TEST_F(InputErrorTest, is_reported_for_a_list_with_null_bytes) {
  write("list", std::string("in/good.png\0in/good.png\0", 24));
  const ProcessResult result = run({"run", "--files-from", "list", "-o", "out", "-k", "2"});
  EXPECT_EQ(result.code, 64);
  EXPECT_THAT(result.err, HasSubstr("null byte"));
  EXPECT_THAT(files("out"), IsEmpty());
}

TEST_F(InputErrorTest, is_reported_for_a_list_with_newlines_instead_of_null_bytes) {
  write("list", "in/good.png\nin/good.png\n");
  const ProcessResult result = run({"run", "--files-from0", "list", "-o", "out", "-k", "2"});
  EXPECT_EQ(result.code, 64);
  EXPECT_THAT(result.err, HasSubstr("list: contains newlines and no null byte; use --files-from "));
}

TEST_F(InputErrorTest, does_not_occur_for_a_list_with_crlf_line_ends) {
  write("list", "in/good.png\r\n");
  EXPECT_EQ(run({"run", "--files-from", "list", "-o", "out", "-k", "2"}).code, 0);
}

TEST_F(InputErrorTest, escapes_control_characters_in_names) {
  write("in/\x1b[31m\n.png", "no image");
  const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2"});
  EXPECT_THAT(result.err, HasSubstr("in/\\x1b[31m\\n.png: "));
  EXPECT_THAT(result.err, Not(HasSubstr("\x1b[31m")));
}

TEST_F(InputErrorTest, escapes_invisible_characters_in_names) {
  write("in/\u202egnp.a.png", "no image");
  write("in/b\u200b\u009b.png", "no image");
  write("in/c\xff.png", "no image");
  write("in/ä.png", "no image");
  const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2", "--report", "-"});
  EXPECT_THAT(result.err, HasSubstr("in/\\u{202e}gnp.a.png: "));
  EXPECT_THAT(result.err, HasSubstr("in/b\\u{200b}\\u{9b}.png: "));
  EXPECT_THAT(result.err, HasSubstr("in/c\\xff.png: "));
  EXPECT_THAT(result.err, HasSubstr("in/ä.png: "));
  EXPECT_THAT(result.out, HasSubstr("/in/\\u202egnp.a.png\""));
  EXPECT_THAT(result.out, HasSubstr("/in/b\\u200b\\u009b.png\""));
  const std::string status = run({"status", "out"}).out;
  EXPECT_THAT(status, HasSubstr("in/\\u{202e}gnp.a.png: "));
  const ProcessResult flag = run({"run", "in", "-o", "out", "--\u202e\x1b[2J"});
  EXPECT_THAT(flag.err, HasSubstr("--\\u{202e}\\x1b[2J"));
  const ProcessResult command = run({"\u202e"});
  EXPECT_THAT(command.err, HasSubstr("'\\u{202e}'"));
}

TEST_F(InputErrorTest, is_reported_for_an_output_in_the_state_folder) {
  write_png(".eckart/lock.png");
  write("list", "in/good.png\n.eckart/lock.png\n");
  const ProcessResult result = run(
      {"run", "--files-from", "list", "-o", "out", "-k", "2", "--set", "output.name={stem}.png"});
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(line_containing(result.err, ".eckart/lock.png: "),
              HasSubstr("inside the folder .eckart"));
}

/// Protects against mistakes on the command line.
TEST_F(InputErrorTest, is_reported_for_a_report_or_ledger_in_place_of_a_foreign_file) {
  write("list", "in/good.png\n");
  write_png("scan");
  const auto image = io::read_file(at("scan"), 1), list = io::read_file(at("list"), 1);
  write("some.json", "{\"a\": 1}");
  EXPECT_EQ(run({"run", "in", "-o", "out", "-k", "2", "--report", "some.json"}).code, 64);
  for (const std::string name : {"scan", "list"}) {
    const ProcessResult report = run({"run", "in", "-o", "out", "-k", "2", "--report", name});
    EXPECT_EQ(report.code, 64);
    EXPECT_THAT(report.err, HasSubstr("report " + name + ": the file exists"));
    const ProcessResult ledger = run({"run", "in", "-o", "out", "-k", "2", "--ledger", name});
    EXPECT_EQ(ledger.code, 64);
    EXPECT_THAT(ledger.err,
                HasSubstr("ledger " + name +
                          ": the file exists and is not an eckart ledger; it was not changed"));
  }
  EXPECT_EQ(io::read_file(at("scan"), 1), image);
  EXPECT_EQ(io::read_file(at("list"), 1), list);
}

TEST_F(InputErrorTest, is_reported_for_an_empty_rank) {
  const ProcessResult result = run({"run", "in", "-o", "out", "-k", ""});
  EXPECT_EQ(result.code, 64);
  EXPECT_THAT(result.err, HasSubstr("--rank"));
}

TEST_F(InputErrorTest, ends_the_run_with_74_when_an_output_cannot_be_written) {
  write_png("in/sub/bad.png");
  fs::create_directories(at("out/sub"));
  fs::permissions(at("out/sub"), fs::perms(0555));
  for (const char* folder : {".", "out"}) fs::permissions(at(folder), fs::perms::all);
  const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2"},
                                   {.folder = {}, .in = {}, .as_nobody = getuid() == 0});
  EXPECT_EQ(result.code, 74);
  const std::string line = line_containing(result.err, "in/sub/bad.png: ");
  EXPECT_THAT(line, HasSubstr("cannot write out/sub/bad.png: Permission denied"));
  EXPECT_THAT(line, HasSubstr("not written"));
  EXPECT_THAT(files("out"), ElementsAre("good.png"));
}

/// Also with --overwrite, which replaces only outputs.
TEST_F(InputErrorTest, is_a_collision_when_a_file_replaces_an_output_folder) {
  write_png("in/sub/bad.png");
  const std::string text = "a file where a folder must be";
  write("out/sub", text);
  const std::vector<std::vector<std::string>> commands{
      {"run", "in", "-o", "out", "-k", "2"}, {"run", "in", "-o", "out", "-k", "2", "--overwrite"}};
  for (const std::vector<std::string>& arguments : commands) {
    const ProcessResult result = run(arguments);
    EXPECT_EQ(result.code, 3);
    const std::string line = line_containing(result.err, "in/sub/bad.png: ");
    EXPECT_THAT(line, HasSubstr("out/sub/bad.png cannot be written (out/sub is not a directory)"));
    EXPECT_THAT(line, HasSubstr("output collision"));
    EXPECT_THAT(files("out"), ElementsAre("good.png", "sub")) << "and no temporaries";
    EXPECT_EQ(fs::file_size(at("out/sub")), text.size());
  }
}

}  // namespace
}  // namespace eckart::test
