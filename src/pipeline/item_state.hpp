#pragma once

#include <string_view>

namespace eckart {

/// How far an image is. docs/explanation/architecture.md draws the transitions; advance() knows the
/// legal ones.
enum class ItemState {
  found,      ///< its outputs have names, or it has failed already
  loaded,     ///< decoded into its task
  computed,   ///< its outputs have pixels
  written,    ///< its outputs are complete, under temporary names
  published,  ///< its outputs are at their places, as durably as the settings ask for
  recorded,   ///< the ledger has it, if one is kept
  finished,   ///< counted and reported
};
std::string_view to_string(ItemState state);

/// Moves `state` to `next`. An item that is `ok` passes the states in their order, but that
///   - full-rank outputs need no computation: loaded -> written,
///   - outputs whose publication failed are written again: written -> written,
///   - a run may end because its ledger cannot be written: published -> finished.
/// An item that has failed, is skipped or is deferred has nothing to do in the states that it
/// leaves out: it may move to any later state. Throws std::logic_error for every other transition.
void advance(ItemState& state, ItemState next, bool ok);

}  // namespace eckart
