#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "io/publication.hpp"
#include "ledger/ledger.hpp"
#include "pipeline/input_identity.hpp"
#include "pipeline/made_with.hpp"

namespace eckart {

/// What stands at the place of an output, and so what becomes of it.
struct OutputPlace {
  enum class Kind {
    vacant,   ///< nothing is there, nor was it
    same,     ///< this very output: nothing is to be done
    redone,   ///< an earlier output of this input, if it is still there; or what --overwrite gives
              ///< up
    unknown,  ///< it may stay if it has the bytes of the output, and else is in the way
    taken,    ///< in the way: nothing is written there
  };
  Kind kind = Kind::vacant;
  std::string why{};             ///< a clause: "its input has changed"
  std::string measured{};        ///< what the ledger has for a report, where it is the same
  bool made_with_other = false;  ///< from this input as it is, with other settings
  bool is_ours = false;  ///< of what is unknown: a result of the same input, but changed since
  bool may_be_replaced = true;  ///< by --overwrite or --redo, if it is in the way
};

/// What there is of a path.
struct Standing {
  std::filesystem::file_type type = std::filesystem::file_type::not_found;
  std::int64_t bytes = 0;  ///< of a regular file
  std::int64_t mtime_ns = 0;
  /// What is not a directory though the path needs one there; empty where nothing is. Then nothing
  /// is found at the path.
  std::filesystem::path obstacle{};
  int error = 0;  ///< errno where it cannot be told what is there; the type is `none` then
};
/// A link to a regular file is one.
Standing look_at(const std::filesystem::path& path);

/// What the ledger has of an output.
struct KnownOutput {
  std::optional<ledger::Entry> entry{};
  bool is_announced = false;  ///< it was renamed to its place, but not recorded as done
};
/// Where what was announced is what stands there, that; else what is done.
KnownOutput find_known(ledger::Ledger& ledger, const std::string& output, const Standing& standing);

/// What an output is to be, for judge().
struct WantedOutput {
  InputIdentity input;
  std::uint64_t settings;
  OnChange on_change;
  std::int64_t first_run;  ///< not 0: what was not made from this run on is given up
};

/// An input that may be the same counts as another.
OutputPlace judge(const WantedOutput& wanted, const KnownOutput& known, const Standing& standing);

/// Of the place of an output whose bytes are in `written`: what io::publish() is to do. Throws
/// ItemError(output_collision).
io::AtTakenPlace decide(const OutputPlace& place, const std::filesystem::path& output,
                        const std::filesystem::path& written);

/// Throws ItemError(output_collision): the output cannot be made, for what is in the way.
[[noreturn]] void refuse(const std::filesystem::path& output, const OutputPlace& place);

}  // namespace eckart
