#include "codec/npz.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "codec/half_float.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::codec {
namespace {

using test::Bytes;
using test::failure_of;
using testing::ElementsAre;
using testing::HasSubstr;

NpyArray numbers(std::string name, std::vector<std::int64_t> shape, std::vector<float> values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {std::move(name), "<f4", std::move(shape), {bytes.begin(), bytes.end()}};
}

Bytes example() {
  const std::vector<NpyArray> arrays{numbers("U", {2, 3}, {1, 2, 3, 4, 5, 6}),
                                     numbers("scalar", {}, {7}), numbers("s", {2}, {8, 9})};
  return write_npz(arrays);
}

void set_number(Bytes& file, std::size_t at, std::uint32_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) file[at + i] = std::byte(value >> (8 * i));
}

/// Reads everything.
void read_all(const Bytes& bytes) {
  FileBytes file(bytes);
  for (const NpyEntry& entry : list_npz(file)) read_npy(file, entry);
}

TEST(Npz, is_read_as_it_was_written) {
  const Bytes bytes = example();
  EXPECT_TRUE(is_npz(bytes));
  FileBytes file(bytes);
  const std::vector<NpyEntry> entries = list_npz(file);
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].name, "U");
  EXPECT_EQ(entries[0].dtype, "<f4");
  EXPECT_THAT(entries[0].shape, ElementsAre(2, 3));
  EXPECT_THAT(entries[1].shape, ElementsAre());
  EXPECT_THAT(entries[2].shape, ElementsAre(2));
  const auto data = read_npy(file, entries[0]);
  ASSERT_EQ(data.size(), 6 * sizeof(float));
  float last = 0;
  std::memcpy(&last, data.data() + 5 * sizeof(float), sizeof last);
  EXPECT_EQ(last, 6);
}

TEST(Npz, has_numbers_that_are_aligned_in_their_files) {
  const Bytes bytes = example();
  FileBytes file(bytes);
  for (const NpyEntry& entry : list_npz(file)) EXPECT_EQ(entry.header_bytes % 64, 0U);
}

TEST(Npz, is_refused_if_it_is_cut_short_or_changed) {
  const Bytes whole = example();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes part(whole.begin(), whole.begin() + std::ptrdiff_t(size));
    EXPECT_EQ(failure_of([&] { read_all(part); }).reason, FailureReason::corrupt) << size;
  }
  int accepted = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    Bytes changed = whole;
    changed[at] ^= std::byte(0x41);
    accepted += failure_of([&] { read_all(changed); }).reason == FailureReason::none;
  }
  // Names in the local headers, dates, versions and attributes have no meaning here.
  EXPECT_LT(accepted, int(whole.size()) / 4);
}

TEST(Npz, is_refused_if_headers_promise_too_much) {
  const Bytes whole = example();
  const std::size_t end = whole.size() - 22;
  Bytes many = whole;
  set_number(many, end + 10, 0xFFFF, 2);
  EXPECT_THAT(failure_of([&] { read_all(many); }).detail, HasSubstr("65535 arrays"));
  const std::size_t directory = whole.size() - 22 - 3 * 46 - std::strlen("U.npyscalar.npys.npy");
  for (const std::size_t field : {24, 28, 42}) {  // size, length of the name, offset
    Bytes large = whole;
    set_number(large, directory + field, 0xFFFFFFF0, field == 28 ? 2 : 4);
    EXPECT_EQ(failure_of([&] { read_all(large); }).reason, FailureReason::corrupt) << field;
  }
  std::string text(reinterpret_cast<const char*>(whole.data()), whole.size());
  const std::size_t shape = text.find("(2, 3)");
  text.replace(shape, 6, "(9,9) ");
  EXPECT_THAT(failure_of([&] { read_all(test::to_bytes(text)); }).detail,
              HasSubstr("another size than it says"));
}

TEST(Npz, says_why_it_is_not_supported) {
  const auto detail_of = [](std::string_view from, std::string_view to) {
    const Bytes whole = example();
    std::string text(reinterpret_cast<const char*>(whole.data()), whole.size());
    text.replace(text.find(from), from.size(), to);
    return failure_of([&] { read_all(test::to_bytes(text)); }).detail;
  };
  EXPECT_THAT(detail_of("'<f4'", "'<c8'"), HasSubstr("another type"));
  EXPECT_THAT(detail_of("False", "True "), HasSubstr("Fortran order"));
}

TEST(HalfFloat, is_rounded_to_nearest) {
  EXPECT_EQ(from_half(to_half(1)), 1);
  EXPECT_EQ(from_half(to_half(-0.5F)), -0.5F);
  EXPECT_EQ(from_half(to_half(1 + 0x1p-11F)), 1) << "a tie goes to the even number";
  EXPECT_EQ(from_half(to_half(1 + 3 * 0x1p-11F)), 1 + 0x1p-9F);
  EXPECT_EQ(from_half(to_half(0x1p-24F)), 0x1p-24F) << "the smallest subnormal number";
  EXPECT_EQ(from_half(to_half(0x1p-26F)), 0);
  EXPECT_EQ(from_half(to_half(65504)), 65504);
  EXPECT_EQ(from_half(to_half(65536)), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(from_half(to_half(std::nanf("")))));
}

TEST(HalfFloat, keeps_every_half_float) {
  for (std::uint32_t half = 0; half < 0x10000; ++half) {
    const float value = from_half(std::uint16_t(half));
    if (std::isnan(value)) continue;
    EXPECT_EQ(to_half(value), half);
  }
}

}  // namespace
}  // namespace eckart::codec
