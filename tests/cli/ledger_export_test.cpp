// Tests `eckart ledger export` and `eckart ledger import`.
#include <sys/stat.h>

#include <cstdlib>
#include <regex>

#include "tests/cli/ledger_fixture.hpp"

namespace eckart::test {
namespace {

using LedgerCommandTest = RunWithLedgerTest;

TEST_F(LedgerCommandTest, warns_of_a_ledger_that_it_renames_on_import) {
  ASSERT_EQ(run({"ledger", "export", "out", "backup.jsonl"}).code, 0);
  write("out/.eckart/ledger.db", std::string(5000, 'x'));
  const ProcessResult result = run({"ledger", "import", "out", "backup.jsonl"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("renamed to ledger.db.damaged-1"));
}

TEST_F(LedgerCommandTest, skips_failures_of_changed_inputs_on_import) {
  write("in/bad.png", "no image");
  ASSERT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 3);
  ASSERT_EQ(run({"ledger", "export", "out", "backup.jsonl"}).code, 0);
  EXPECT_THAT(run({"ledger", "import", "out", "backup.jsonl"}).out, Not(HasSubstr("failures")));
  write_png("in/bad.png");
  ASSERT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 0);
  EXPECT_THAT(run({"ledger", "import", "out", "backup.jsonl"}).out, Not(HasSubstr("failures")));
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("4 done, 0 failed"));
}

/// Otherwise the export would look like an empty ledger.
TEST_F(LedgerCommandTest, fails_without_ledger_on_export) {
  fs::create_directory(at("empty"));
  const ProcessResult result = run({"ledger", "export", "empty"});
  EXPECT_EQ(result.code, int(ExitCode::no_input));
  EXPECT_EQ(result.out, "");
}

TEST_F(LedgerCommandTest, reports_a_file_that_cannot_be_created_on_export) {
  fs::create_symlink("nothing", at("link"));
  for (const std::string& name : Names{std::string(300, 'x'), "no/such/folder/file", "link"}) {
    const ProcessResult result = run({"ledger", "export", "out", name});
    EXPECT_EQ(result.code, int(ExitCode::cannot_create)) << name;
    EXPECT_THAT(result.err, AllOf(HasSubstr(name + ": "), Not(HasSubstr("internal"))));
  }
  EXPECT_FALSE(fs::exists(at("nothing")));
}

TEST_F(LedgerCommandTest, leaves_no_incomplete_file_on_export) {
  const std::string header = R"({"kind":"ledger","eckart_ledger":1})";
  write("large.jsonl", header + "\n" + R"({"kind":"ledger_settings","settings_text":")" +
                           std::string(3 << 20, 'x') + "\"}\n");
  ASSERT_EQ(run({"ledger", "import", "out", "large.jsonl"}).code, 0);
  const ProcessResult result = run(  // a file may have at most 1 MiB
      {"-c", "ulimit -f 2048; exec " ECKART_PROGRAM " ledger export out backup.jsonl"},
      {.program = "/bin/sh"});
  EXPECT_EQ(result.code, int(ExitCode::io_error));
  EXPECT_THAT(result.err, HasSubstr("backup.jsonl: cannot be written: File too large"));
  EXPECT_FALSE(fs::exists(at("backup.jsonl")));
}

TEST_F(LedgerCommandTest, names_the_reason_if_a_file_cannot_be_read_on_import) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  for (const auto& [name, reason] :
       {std::pair{"nowhere", "no such file or folder"},
        std::pair{"in", "cannot be read: not a regular file"},
        std::pair{"pipe", "cannot be read: not a regular file"},
        std::pair{"/dev/null", "cannot be read: not a regular file"}}) {
    const ProcessResult result = run({"ledger", "import", "out", name});
    EXPECT_EQ(result.code, int(ExitCode::no_input));
    EXPECT_THAT(result.err, HasSubstr(std::string(name) + ": " + reason));
  }
}

TEST_F(LedgerCommandTest, rejects_no_ledger) {
  for (const Names& command :
       {Names{"status", "out"}, Names{"prune", "out"}, Names{"ledger", "export", "out"}}) {
    Names arguments = command;
    arguments.insert(arguments.end(), {"--ledger", "none"});
    const ProcessResult result = run(arguments);
    EXPECT_EQ(result.code, 64);
    EXPECT_THAT(result.err, HasSubstr("--ledger none: this command needs a ledger"));
  }
}

/// Publish intents belong to a killed or a running process.
TEST_F(LedgerCommandTest, skips_publish_intents_on_export) {
  ASSERT_EQ(std::system(("sqlite3 '" + at("out/.eckart/ledger.db").string() +
                         "' \"INSERT INTO publish_intent SELECT * FROM output; "
                         "DELETE FROM output WHERE output = CAST('a.png' AS BLOB)\"")
                            .c_str()),
            0);
  ASSERT_EQ(run({"ledger", "export", "out", "backup.jsonl"}).code, 0);
  fs::remove_all(at("out/.eckart"));
  EXPECT_THAT(run({"ledger", "import", "out", "backup.jsonl"}).out,
              HasSubstr("2 outputs imported"));
}

TEST_F(LedgerCommandTest, restores_entries_by_export_and_import) {
  write("in/bad.png", "no image");
  EXPECT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 3);
  fs::rename(at("in/b.png"), at("in/b\xff.png"));
  EXPECT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 3);
  ASSERT_EQ(run({"ledger", "export", "out", "l.jsonl"}).code, 0);
  EXPECT_THAT(run({"ledger", "export", "out", "l.jsonl"}).err, HasSubstr("already exists"));
  const std::string before = run({"ledger", "export", "out"}).out;
  EXPECT_EQ(before, bytes("l.jsonl"));
  EXPECT_THAT(before, AllOf(HasSubstr("{\"kind\":\"ledger\",\"eckart_ledger\":1,"),
                            HasSubstr("\"hex\":\"62ff2e706e67\"")));
  fs::remove_all(at("out/.eckart"));
  fs::remove(at("out/a.png"));
  const ProcessResult imported = run({"ledger", "import", "out", "l.jsonl"});
  EXPECT_EQ(imported.code, 0) << imported.err;
  EXPECT_THAT(imported.out, HasSubstr("3 outputs imported, 0 already known, 1 missing"));
  EXPECT_THAT(run({"ledger", "import", "out", "l.jsonl"}).out,
              HasSubstr("0 outputs imported, 3 already known, 1 missing"));
  EXPECT_EQ(summary("in"), "1 done, 2 skipped, 1 failed") << "b.png is of no input any more";
  EXPECT_EQ(count_occurrences(run({"ledger", "export", "out"}).out, "\n"),
            count_occurrences(before, "\n"));
}

TEST_F(LedgerCommandTest, restores_measurements_by_export_and_import) {
  const Names report{"status", "out", "--report", "-"};
  const std::string before = run(report).out;
  EXPECT_THAT(before, HasSubstr("\"rank\":2"));
  ASSERT_EQ(run({"ledger", "export", "out", "l.jsonl"}).code, 0);
  fs::remove_all(at("out/.eckart"));
  ASSERT_EQ(run({"ledger", "import", "out", "l.jsonl"}).code, 0);
  EXPECT_EQ(run(report).out, before);
}

TEST_F(LedgerCommandTest, escapes_names_that_control_a_terminal_in_an_export) {
  write_png("in/c\u202e\u009b.png");
  EXPECT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 0);
  const std::string exported = run({"ledger", "export", "out"}).out;
  EXPECT_THAT(exported, HasSubstr("c\\u202e\\u009b.png"));
  write("l.jsonl", exported);
  EXPECT_THAT(run({"ledger", "import", "out", "l.jsonl"}).out, HasSubstr("4 already known"));
}

TEST_F(LedgerCommandTest, rejects_an_invalid_line_and_changes_nothing_on_import) {
  const std::string good = run({"ledger", "export", "out"}).out;
  const std::string before = bytes("out/.eckart/ledger.db");
  const auto expect_refused = [&](const std::string& text, const std::string& why) {
    write("l.jsonl", text);
    const ProcessResult result = run({"ledger", "import", "out", "l.jsonl"});
    EXPECT_EQ(result.code, int(ExitCode::nothing_readable)) << text;
    EXPECT_THAT(result.err, HasSubstr(why));
  };
  expect_refused("", "the file is empty");
  expect_refused("garbage\n", "l.jsonl:1: invalid JSON from byte 1 on");
  expect_refused("{}\n", "l.jsonl:1: not a ledger export");
  expect_refused("{\"eckart_ledger\":2}\n", "l.jsonl:1: has version 2");
  expect_refused(good + "{\"output\":\"a\"}\n", "l.jsonl:6: key '");
  expect_refused(good + "{\"what\":1}\n", "has neither output nor reason");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t found = text.find(from);
    EXPECT_NE(found, text.npos) << from;
    return text.replace(found, from.size(), to);
  };
  expect_refused(with("\"output\":\"a.png\"", "\"output\":\"../a.png\""), "l.jsonl:3: output: ");
  expect_refused(with("\"output\":\"a.png\"", "\"output\":\"/a.png\""), "below the output folder");
  expect_refused(with("\"output\":\"a.png\"", "\"output\":{\"hex\":\"zz\"}"), "not hexadecimal");
  expect_refused(with("\"output_index\":0", "\"output_index\":\"0\""),
                 "output_index is not an integer");
  expect_refused(with("\"output_index\":0", "\"output_index\":99999999999"),
                 "output_index: 99999999999 is out of range");
  expect_refused(with("\"output_index\":0", "\"output_index\":-1"), "output_index: ");
  expect_refused(with("\"input_bytes\":", "\"input_bytes\":18446744073709551615,\"x\":"),
                 "input_bytes: 18446744073709551615 is out of range");
  expect_refused(with("\"output_bytes\":", "\"output_bytes\":-"), "output_bytes: ");
  EXPECT_TRUE(bytes("out/.eckart/ledger.db") == before);
  EXPECT_EQ(run({"ledger", "import", "out", "none.jsonl"}).code, int(ExitCode::no_input));
  EXPECT_EQ(run({"ledger"}).code, int(ExitCode::usage));
}

/// The outputs of a long file are recorded in several steps.
TEST_F(LedgerCommandTest, imports_nothing_of_a_long_file_with_an_invalid_last_line) {
  const std::string exported = run({"ledger", "export", "out"}).out;
  const std::string line = line_containing(exported, "\"output\":\"a.png\"");
  std::string text = exported;
  for (int i = 0; i < 1500; ++i) {
    const std::string name = std::to_string(i) + ".png";
    fs::create_hard_link(at("out/a.png"), at("out") / name);
    text += std::regex_replace(line, std::regex("\"output\":\"a.png\""),
                               "\"output\":\"" + name + "\"") +
            "\n";
  }
  write("l.jsonl", text + "garbage\n");
  EXPECT_EQ(run({"ledger", "import", "out", "l.jsonl"}).code, int(ExitCode::nothing_readable));
  EXPECT_TRUE(run({"ledger", "export", "out"}).out == exported);
  write("l.jsonl", text);
  EXPECT_THAT(run({"ledger", "import", "out", "l.jsonl"}).out, HasSubstr("1,500 outputs imported"));
}

/// Exports of older versions have no `kind`, `failed_input` instead of `input`, and `input_size`
/// instead of `input_bytes`.
TEST_F(LedgerCommandTest, imports_lines_of_older_versions) {
  write("in/bad.png", "no image");
  ASSERT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 3);
  const std::string exported = run({"ledger", "export", "out"}).out;
  std::string older = std::regex_replace(exported, std::regex(R"(\{"kind":"\w+",)"), "{");
  older = std::regex_replace(older, std::regex(R"(\{"input":)"), R"({"failed_input":)");
  older = std::regex_replace(older, std::regex("input_bytes"), "input_size");
  ASSERT_THAT(older, AllOf(HasSubstr(R"({"failed_input":")"), HasSubstr(R"("input_size":)"),
                           Not(HasSubstr("kind"))));
  write("older.jsonl", older);
  fs::remove_all(at("out/.eckart"));
  const ProcessResult imported = run({"ledger", "import", "out", "older.jsonl"});
  EXPECT_EQ(imported.code, 0) << imported.err;
  EXPECT_EQ(imported.out,
            "out: 3 outputs imported, 0 already known, 0 missing or changed\n"
            "1 failure imported\n");
  EXPECT_EQ(run({"ledger", "export", "out"}).out, exported);
}

TEST_F(LedgerCommandTest, exports_hashes_with_16_digits) {
  const std::string exported = std::regex_replace(run({"ledger", "export", "out"}).out,
                                                  std::regex(R"("settings_hash":"[0-9a-f]{16}")"),
                                                  R"("settings_hash":"000000000000abcd")");
  ASSERT_THAT(exported, HasSubstr("000000000000abcd"));
  write("short.jsonl", exported);
  fs::remove_all(at("out/.eckart"));
  ASSERT_EQ(run({"ledger", "import", "out", "short.jsonl"}).code, 0);
  EXPECT_EQ(run({"ledger", "export", "out"}).out, exported);
}

TEST_F(LedgerCommandTest, prints_the_counts_of_an_import_as_json) {
  write("in/bad.png", "no image");
  ASSERT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 3);
  ASSERT_EQ(run({"ledger", "export", "out", "l.jsonl"}).code, 0);
  fs::remove_all(at("out/.eckart"));
  fs::remove(at("out/a.png"));
  const ProcessResult imported = run({"ledger", "import", "out", "l.jsonl", "--json"});
  EXPECT_EQ(imported.code, 0) << imported.err;
  EXPECT_EQ(imported.out,
            "{\"kind\":\"ledger_import\",\"output_folder\":\"out\",\"outputs\":2,"
            "\"already_known\":0,\"missing_or_changed\":1,\"failed\":1}\n");
}

}  // namespace
}  // namespace eckart::test
