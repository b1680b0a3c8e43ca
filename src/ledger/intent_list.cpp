#include "ledger/intent_list.hpp"

#include <sqlite3.h>

#include <cstddef>
#include <utility>

#include "ledger/database.hpp"

namespace eckart::ledger {
namespace {

/// Calls field(...) for each field of an entry, in the order in which they are stored.
template <class Entry, class Field>
void for_each_field(Entry& entry, Field&& field) {
  field(entry.output);
  field(entry.input);
  field(entry.root_length);
  field(entry.settings);
  field(entry.output_index);
  field(entry.state.size);
  field(entry.state.mtime_ns);
  field(entry.state.inode);
  field(entry.bytes);
  field(entry.output_mtime_ns);
  field(entry.content_hash);
}

/// Integers have 7 bits in a byte, the lowest first; the highest bit says that more follow.
class Encoder {
 public:
  void operator()(const std::string& text) {
    (*this)(text.size());
    bytes_ += text;
  }
  template <class Integer>
  void operator()(Integer value) {
    auto rest = std::uint64_t(value);
    for (; rest >= 0x80; rest >>= 7) bytes_ += char(rest | 0x80);
    bytes_ += char(rest);
  }
  std::string finish() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : rest_(bytes) {}
  bool is_at_end() const { return rest_.empty(); }
  void operator()(std::string& text) {
    std::size_t size = 0;
    (*this)(size);
    text = take(size);
  }
  template <class Integer>
  void operator()(Integer& value) {
    std::uint64_t bits = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      bits |= std::uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80) {
        value = Integer(bits);
        return;
      }
    }
    fail();
  }
  [[noreturn]] static void fail() {
    throw DatabaseError{SQLITE_CORRUPT, "publish intents are damaged", 0};
  }

 private:
  std::string_view take(std::size_t size) {
    if (size > rest_.size()) fail();
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
};

}  // namespace

std::string encode_intents(std::span<const OutputEntry> intents) {
  Encoder encode;
  for (const OutputEntry& intent : intents) for_each_field(intent, encode);
  return encode.finish();
}

std::vector<OutputEntry> decode_intents(std::string_view encoded, std::int64_t run) {
  std::vector<OutputEntry> intents;
  for (Decoder decode(encoded); !decode.is_at_end();) {
    OutputEntry& intent = intents.emplace_back();
    for_each_field(intent, decode);
    if (intent.root_length > intent.input.size()) Decoder::fail();
    intent.run = run;
  }
  return intents;
}

}  // namespace eckart::ledger
