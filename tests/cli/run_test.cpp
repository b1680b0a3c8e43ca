// Tests the outputs and messages of `eckart run`.
#include <unistd.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/quality.hpp"
#include "tests/cli/cli_fixture.hpp"

namespace eckart::test {
namespace {

using RunCommandTest = CliTest;

TEST_F(RunCommandTest, mirrors_the_tree_of_its_input) {
  ASSERT_EQ(
      run({"synth", "-o", "in/a/b", "--count", "2", "--kind", "phantom", "--size", "32x48"}).code,
      0);
  write_png("in/top.png");
  write("in/notes.txt", "not an image");
  const ProcessResult result = run({"run", "in", "-o", "out", "-k", "5"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(files("out"),
              ElementsAre("a/b/phantom_32x48_0001.png", "a/b/phantom_32x48_0002.png", "top.png"));
  EXPECT_THAT(result.err, HasSubstr("3 done, 0 failed\nignored     1 file not read: 1 .txt\n"));
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(decode("out/top.png").shape(), (ImageShape{24, 16, 1, Depth::u8}));
}

TEST_F(RunCommandTest, says_which_inputs_are_its_own_outputs) {
  write_png("in/a.png");
  ASSERT_EQ(run({"run", "in", "-o", "old", "-k", "5"}).code, 0);
  fs::rename(at("old"), at("in/old"));
  const ProcessResult result = run({"run", "in", "-o", "out", "-k", "5"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("note        in/old is an output folder of eckart; its images "
                                    "are inputs\n"));
}

using SynthCommandTest = CliTest;

TEST_F(SynthCommandTest, overwrites_no_file) {
  const std::vector<std::string> synth{"synth", "-o", "in", "--count", "2", "--kind", "phantom"};
  ASSERT_EQ(run(synth).code, 0);
  EXPECT_EQ(run(synth).code, 0) << "the same images";
  const fs::path second = at("in/phantom_256x256_0002.png");
  fs::remove(at("in/phantom_256x256_0001.png"));
  write("in/phantom_256x256_0002.png", "precious");
  const ProcessResult result = run(synth);
  EXPECT_EQ(result.code, int(ExitCode::cannot_create));
  EXPECT_THAT(result.err,
              HasSubstr("in/phantom_256x256_0002.png already exists with different content and was "
                        "not replaced: move it away, or use another folder"));
  EXPECT_EQ(fs::file_size(second), 8u);
}

TEST_F(SynthCommandTest, makes_other_images_with_another_seed) {
  std::set<std::vector<std::byte>> images;
  for (const char* seed : {"1", "2"}) {
    ASSERT_EQ(run({"synth", "-o", seed, "--kind", "texture", "--count", "3", "--size", "16",
                   "--seed", seed})
                  .code,
              0);
    for (const std::string& name : files(seed)) images.insert(io::read_file(at(seed) / name, 1));
  }
  EXPECT_EQ(images.size(), 6u);
}

TEST_F(RunCommandTest, rejects_a_cuda_module_of_another_build) {
  write_png("in/a.png");
  const auto run_with_module = [&](const std::string& backend) {
    return run({"run", "in", "-o", backend, "-k", "2", "--backend", backend, "--deterministic"},
               {.program = fs::path(ECKART_FAKE_GPU) / "eckart",
                .environment = {{"LD_LIBRARY_PATH", ECKART_FAKE_GPU},
                                {"FAKE_GPU_BUILD_ID", "0123456789abcdef"}}});
  };
  const ProcessResult result = run_with_module("cuda");
  EXPECT_EQ(result.code, int(ExitCode::unavailable));
  EXPECT_THAT(result.err,
              HasSubstr("libeckart_cuda.so has build ID 0123456789abcdef, but the program has"));
  const ProcessResult automatic = run_with_module("auto");
  EXPECT_EQ(automatic.code, 0);
  EXPECT_THAT(automatic.err,
              AllOf(HasSubstr("install both from the same package"), HasSubstr("1 done")));
}

TEST_F(RunCommandTest, accepts_files_and_folders_together) {
  write_png("in/a.png");
  write_png("b.png");
  EXPECT_EQ(run({"run", "in", "b.png", "-o", "out", "-k", "2"}).code, 0);
  EXPECT_THAT(files("out"), ElementsAre("a.png", "b.png"));
}

TEST_F(RunCommandTest, writes_an_output_for_each_rank) {
  write_png("in/a.png");
  EXPECT_EQ(run({"run", "in", "-o", "out", "--rank", "1,4,16"}).code, 0);
  EXPECT_THAT(files("out"), ElementsAre("a.k1.png", "a.k16.png", "a.k4.png"));
}

TEST_F(RunCommandTest, names_outputs_by_pattern) {
  write("in/a.jpg", encoded("jpeg"));
  EXPECT_EQ(
      run({"run", "in", "-o", "out", "--set", "output.name={name}-{rank}.{ext}", "-k", "3"}).code,
      0);
  EXPECT_THAT(files("out"), ElementsAre("a.jpg-3.png"));
}

TEST_F(RunCommandTest, writes_jpeg) {
  write("in/a.png", encoded("png", 20, 30, 3));
  const ProcessResult result = run({"run", "in", "-o", "out", "--format", "jpeg", "-k", "3"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, Not(HasSubstr("compression adds"))) << "PSNR is that of the file";
  ASSERT_THAT(files("out"), ElementsAre("a.jpg"));
  const auto file = io::read_file(at("out/a.jpg"), 1);
  EXPECT_EQ(codec::detect_codec(file).format, ImageFormat::jpeg);
  EXPECT_EQ(decode("out/a.jpg").shape(), (ImageShape{20, 30, 3, Depth::u8}));
}

TEST_F(RunCommandTest, reads_the_names_of_its_inputs_from_a_file_or_from_stdin) {
  write_png("a.png");
  write_png("in/b.png");
  const std::string list = "a.png\n\nin\n";
  write("list", list);
  EXPECT_EQ(run({"run", "--files-from", "list", "-o", "out1", "-k", "2"}).code, 0);
  EXPECT_EQ(
      run({"run", "--files-from", "-", "-o", "out2", "-k", "2"}, {.folder = {}, .in = list}).code,
      0);
  EXPECT_THAT(files("out1"), ElementsAre("a.png", "in/b.png"));
  EXPECT_EQ(files("out2"), files("out1"));
}

TEST_F(RunCommandTest, reads_names_with_newlines_as_find_print0_writes_them) {
  write_png("in/a\nb.png");
  write_png("in/c.png");
  const std::string list("in/a\nb.png\0in/c.png", 19);  // the last null byte is missing
  const ProcessResult result =
      run({"run", "--files-from0", "-", "-o", "out", "-k", "2"}, {.in = list});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(files("out"), ElementsAre("in/a\nb.png", "in/c.png"));
}

TEST_F(RunCommandTest, prints_summary_as_one_json_object) {
  write_png("in/a.png");
  write_png("in/b.png");
  write("in/c.png", "");
  const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2,3", "--json", "-q"});
  EXPECT_EQ(result.code, 3);
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json.at("done"), 2);
  EXPECT_EQ(json.at("failed"), 1);
  EXPECT_EQ(json.at("failures").at("empty file"), 1);
  EXPECT_EQ(json.at("outputs"), 4);
  EXPECT_EQ(json.at("interrupted"), false);
  EXPECT_EQ(json.at("stages").size(), 5u);
  ASSERT_EQ(json.at("solvers").size(), 1u);
  EXPECT_EQ(json.at("solvers")[0].at("rank"), 3);
  EXPECT_NE(json.at("solvers")[0].at("reason"), "");
  EXPECT_EQ(count_occurrences(result.out, "\n"), 1);
  EXPECT_EQ(files("out").size(), 4u);
}

TEST_F(RunCommandTest, prints_a_config_that_it_reads_back) {
  const ProcessResult first =
      run({"run", "--print-config", "-k", "3,7", "--set", "threads.load=2", "--format", "jpeg"});
  EXPECT_EQ(first.code, 0) << first.err;
  write("c.yaml", first.out);
  const ProcessResult second = run({"run", "--print-config", "--config", "c.yaml"});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(second.out, first.out);
  EXPECT_NE(run({"run", "--print-config"}).out, first.out);
}

TEST_F(RunCommandTest, accepts_a_config_with_watches_and_prints_them) {
  write("c.yaml", "rank: 2\nwatches: [{input: /a, output: /b, rank: 7}]\n");
  const ProcessResult printed = run({"run", "--print-config", "--config", "c.yaml"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("\n  - input:\n      folder: \"/a\""));
  EXPECT_THAT(line_containing(printed.out, "rank:"), HasSubstr("2"));
  EXPECT_THAT(printed.out, HasSubstr("\n    rank: \"7\""));
}

TEST_F(RunCommandTest, prefers_flags_to_set_options_and_set_options_to_config) {
  write("c.yaml", "rank: 2\nthreads: {load: 2, write: 2}\n");
  const std::string out = run({"run", "--print-config", "--config", "c.yaml", "--set",
                               "threads.load=3", "--set", "rank=4", "-k", "5"})
                              .out;
  EXPECT_THAT(line_containing(out, "rank:"), HasSubstr("5"));
  EXPECT_THAT(line_containing(out, "load:"), HasSubstr("3"));
  EXPECT_THAT(line_containing(out, "write:"), HasSubstr("2"));
}

TEST_F(RunCommandTest, prints_outputs_and_writes_nothing_in_dry_run) {
  write_png("in/a.png");
  write("in/b/a.jpg", encoded("jpeg"));
  const ProcessResult result = run({"run", "in", "-o", "out", "--dry-run"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "in/a.png -> out/a.png: new\nin/b/a.jpg -> out/b/a.png: new\n");
  EXPECT_FALSE(fs::exists(at("out")));
}

TEST_F(RunCommandTest, counts_the_bytes_to_read_in_dry_run) {
  write_png("in/a.png");
  ASSERT_EQ(run({"run", "in", "-o", "out"}).code, 0);
  write("in/b.jpg", encoded("jpeg"));
  write("in/c.jpg", encoded("jpeg"));
  const ProcessResult result = run({"run", "in", "-o", "out", "--dry-run", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const std::string last = line_containing(result.out, "dry_run_summary");
  const auto sum = nlohmann::json::parse(last);
  EXPECT_EQ(sum.at("inputs"), 3);
  EXPECT_EQ(sum.at("input_bytes"), 2 * fs::file_size(at("in/b.jpg"))) << "a.png is done";
  EXPECT_THAT(result.err, HasSubstr("inputs: 3, "));
  EXPECT_THAT(result.err, HasSubstr(" MB to read\n"));
}

TEST_F(RunCommandTest, reports_failures_in_dry_run) {
  write_png("in/a.png");
  write("in/a.jpg", encoded("jpeg"));
  const ProcessResult one_name =
      run({"run", "in", "-o", "out", "--dry-run", "--set", "output.name=result.png"});
  EXPECT_EQ(one_name.code, 3);
  EXPECT_THAT(one_name.out, HasSubstr("in/a.jpg -> out/result.png: new\n"));
  EXPECT_THAT(line_containing(one_name.out, "in/a.png"),
              HasSubstr("would fail: its output out/result.png is already the output of"));
  write("out/a.png", "precious");
  const ProcessResult in_the_way = run({"run", "in/a.png", "-o", "out", "--dry-run"});
  EXPECT_EQ(in_the_way.code, 3);
  EXPECT_THAT(in_the_way.out, HasSubstr("in/a.png -> out/a.png: collision (not in the ledger"));
  EXPECT_THAT(
      in_the_way.err,
      HasSubstr(
          "to resolve 1 collision, run without --dry-run, which keeps equal files; for others, "
          "move the file, or set another output folder or output.name; a run with --overwrite "
          "replaces it\n"));
  EXPECT_EQ(fs::file_size(at("out/a.png")), 8u);
  EXPECT_THAT(files("out"), ElementsAre("a.png"));
  EXPECT_EQ(run({"run", "nowhere", "-o", "out", "--dry-run"}).code, 66);
  fs::create_directory(at("empty"));
  EXPECT_EQ(run({"run", "empty", "-o", "out", "--dry-run"}).code, 65);
}

TEST_F(RunCommandTest, reports_output_that_would_replace_its_input_in_dry_run) {
  write_png("a.png");
  const ProcessResult result = run({"run", "a.png", "-o", ".", "--dry-run"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.out, HasSubstr("would overwrite the input itself"));
}

TEST_F(RunCommandTest, caps_rank_at_full_rank_and_warns_once) {
  write_png("in/a.png");
  write_png("in/b.png");
  const ProcessResult result = run({"run", "in", "-o", "out", "-k", "1000"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(count_occurrences(result.err, "rank 1000 is above min(rows, cols) = 16"), 1);
  const Image input = decode("in/a.png"), output = decode("out/a.png");
  EXPECT_TRUE(std::equal(input.data(), input.data() + input.bytes(), output.data()));
}

TEST_F(RunCommandTest, is_silent_with_quiet) {
  write_png("in/a.png");
  const ProcessResult result = run({"run", "in", "-o", "out", "-q", "-k", "2"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "");
}

TEST_F(RunCommandTest, logs_each_image_and_batch_with_verbose) {
  write_png("in/a.png");
  write_png("in/b.png");
  EXPECT_EQ(count_occurrences(run({"run", "in", "-o", "out", "-k", "2"}).err, "-> out/"), 0);
  const std::string more = run({"run", "in", "-o", "out", "-k", "2,3", "-v"}).err;
  EXPECT_THAT(line_containing(more, "-> out/a.k3.png"),
              HasSubstr("in/a.png (24 x 16 x 1, 8 bits): rank 3, "));
  EXPECT_EQ(count_occurrences(more, "-> out/"), 4);
  EXPECT_EQ(count_occurrences(more, "1 planes of 32 x 32"), 0);
  const std::string most = run({"run", "in", "-o", "out", "-k", "2", "-vv", "--overwrite"}).err;
  EXPECT_EQ(count_occurrences(most, "1 planes of 32 x 32"), 2);
}

TEST_F(RunCommandTest, works_with_its_standard_streams_closed) {
  write_png("in/a.png");
  const EckartProcess::Options closed{
      .folder = {}, .in = {}, .as_nobody = false, .closed_streams = true};
  EXPECT_EQ(run({"run", "in", "-o", "out", "-k", "2"}, closed).code, 0);
  EXPECT_NO_THROW(decode("out/a.png"));
  EXPECT_EQ(run({"run", "in", "-o", "out", "-k", "2", "--json"}, closed).code, 74)
      << "the results went nowhere";
}

TEST_F(RunCommandTest, works_from_unsearchable_program_folder) {
  write_png("in/a.png");
  fs::create_directory(at("closed"));
  fs::copy_file(ECKART_PROGRAM, at("closed/eckart"));
  fs::permissions(at("closed"), fs::perms::owner_all);
  fs::permissions(at("."), fs::perms::all);
  const ProcessResult result =
      run({"run", "in", "-o", "out", "-k", "2"}, {.folder = {},
                                                  .in = {},
                                                  .as_nobody = getuid() == 0,
                                                  .closed_streams = false,
                                                  .program = at("closed/eckart")});
  EXPECT_EQ(result.code, 0) << result.err;
}

TEST_F(RunCommandTest, skips_its_own_output_on_rerun) {
  write_png("in/a.png");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 0);
  EXPECT_THAT(files("out"), ElementsAre("a.png"));
}

using Json = nlohmann::json;

/// Returns the report lines by file name.
std::map<std::string, Json> report_lines(const std::string& text) {
  std::map<std::string, Json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const Json json = Json::parse(line);
    lines[json.value("output", json.at("input").get<std::string>())] = json;
  }
  return lines;
}

TEST_F(RunCommandTest, reports_each_output_and_each_failure) {
  write("in/a.png", encoded("png", 24, 16, 3));
  write("in/b.png", "no image");
  const ProcessResult result =
      run({"run", "in", "-o", "out", "--rank", "2,16", "--report", "r.jsonl"});
  EXPECT_EQ(result.code, int(ExitCode::some_failed)) << result.err;
  const auto file = io::read_file(at("r.jsonl"), 1);
  const auto lines = report_lines({reinterpret_cast<const char*>(file.data()), file.size()});
  ASSERT_EQ(lines.size(), 3U);
  const Json& coarse = lines.at(at("out/a.k2.png"));
  EXPECT_EQ(coarse.at("input"), at("in/a.png").native());
  EXPECT_EQ(coarse.at("rows"), 24);
  EXPECT_EQ(coarse.at("cols"), 16);
  EXPECT_EQ(coarse.at("bits"), 8);
  EXPECT_EQ(coarse.at("rank"), 2);
  ASSERT_EQ(coarse.at("energy").size(), 3U);
  EXPECT_LT(coarse.at("energy").at(1).get<double>(), 1);
  EXPECT_LE(coarse.at("loss_estimate_db").get<double>(), 0.01);

  const Image in = decode("in/a.png"), out = decode("out/a.k2.png");
  double squared_error = 0;
  for (std::size_t i = 0; i < in.bytes(); ++i)
    squared_error += std::pow(int(in.data()[i]) - int(out.data()[i]), 2);
  EXPECT_NEAR(coarse.at("psnr_db").get<double>(), psnr_db(squared_error, in.bytes(), 255), 1e-9);

  const Json& exact = lines.at(at("out/a.k16.png"));
  EXPECT_TRUE(exact.at("psnr_db").is_null());
  EXPECT_EQ(exact.at("loss_estimate_db"), 0);
  EXPECT_EQ(exact.at("loss_bound_db"), 0);
  const Json& failure = lines.at(at("in/b.png"));
  EXPECT_EQ(failure.at("reason"), "not an image");
  EXPECT_EQ(failure.at("stage"), "load");
}

TEST_F(RunCommandTest, proves_the_loss_with_certificate_bound) {
  ASSERT_EQ(
      run({"synth", "-o", "in", "--count", "2", "--kind", "texture", "--size", "120x90"}).code, 0);
  const ProcessResult proven = run({"run", "in", "-o", "proven", "-k", "5,10", "--set",
                                    "certificate=bound", "--report", "r.jsonl"});
  EXPECT_EQ(proven.code, 0) << proven.err;
  EXPECT_THAT(proven.err, HasSubstr("proven loss at most "));
  const auto file = io::read_file(at("r.jsonl"), 1);
  for (const auto& [name, line] :
       report_lines({reinterpret_cast<const char*>(file.data()), file.size()})) {
    ASSERT_TRUE(line.at("loss_bound_db").is_number()) << line;
    EXPECT_LE(line.at("loss_bound_db").get<double>(), 0.01);
  }
  const ProcessResult estimated =
      run({"run", "in", "-o", "estimated", "-k", "5,10", "--solver", "subspace"});
  EXPECT_THAT(estimated.err, HasSubstr("loss estimate at most "));
}

TEST_F(RunCommandTest, reports_to_stdout) {
  write_png("in/a.png");
  const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2", "--report", "-"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(report_lines(result.out).at(at("out/a.png")).at("rank"), 2);
}

TEST_F(RunCommandTest, fails_when_the_report_cannot_be_written) {
  write_png("in/a.png");
  const ProcessResult none = run({"run", "in", "-o", "out", "--report", "no/folder/r.jsonl"});
  EXPECT_EQ(none.code, int(ExitCode::cannot_create));
  EXPECT_THAT(none.err, HasSubstr("no/folder/r.jsonl cannot be created"));
  const ProcessResult full = run({"run", "in", "-o", "out", "--report", "/dev/full"});
  EXPECT_EQ(full.code, int(ExitCode::io_error));
  EXPECT_THAT(full.err, HasSubstr("/dev/full is incomplete: No space left"));
  EXPECT_THAT(run({"run", "in", "-o", "out", "--report", "x.jsonl", "--trace", "./x.jsonl"}).err,
              HasSubstr("--report and --trace name the same file"));
  const ProcessResult image = run({"run", "in", "-o", "out", "--report", "in/a.png"});
  EXPECT_EQ(image.code, int(ExitCode::usage));
  EXPECT_NO_THROW(decode("in/a.png"));
}

TEST_F(RunCommandTest, takes_the_value_of_a_flag_literally) {
  write_png("in/a.png");
  for (const std::string& name : Names{"led\\tq.db", "le\"d.db", "it's # a: led.db"}) {
    const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2", "--ledger", name});
    EXPECT_EQ(result.code, 0) << name << ": " << result.err;
    EXPECT_TRUE(fs::exists(at(name))) << name;
  }
}

}  // namespace
}  // namespace eckart::test
