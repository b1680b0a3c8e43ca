#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace eckart::ledger {

/// What SQLite said; `code` is its extended result code.
struct DatabaseError {
  int code;
  std::string message;
  int system_error = 0;     ///< errno, where the system has refused something
  bool is_corrupt() const;  ///< the file is no database, or a damaged one
};

/// A prepared statement; reset when it goes out of a Use.
class Statement {
 public:
  Statement(sqlite3* database, std::string_view sql);

  /// One execution: parameters from 1 on, columns from 0 on. Throws DatabaseError.
  class Use {
   public:
    explicit Use(const Statement& statement) : statement_(statement.get()) {}
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    Use& bind(int parameter, std::int64_t value);
    Use& bind(int parameter, std::string_view bytes);      ///< must live until step() has returned
    Use& bind_text(int parameter, std::string_view text);  ///< likewise
    /// Whether there is a row.
    bool step();
    std::int64_t integer(int column) const;
    std::string bytes(int column) const;

   private:
    sqlite3_stmt* statement_;
  };

 private:
  sqlite3_stmt* get() const { return statement_.get(); }
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// An open SQLite file. One thread at a time.
class Database {
 public:
  /// Makes the file if it is missing, unless it is to be read alone: then nothing is changed where
  /// this process may not. Where others keep it locked it is waited for as long as `patience`.
  /// Throws DatabaseError.
  Database(const std::filesystem::path& file, bool read_only, std::chrono::milliseconds patience);
  void execute(const char* sql);
  /// Ends the transaction that has failed, if that has not ended it.
  void roll_back() noexcept;
  sqlite3* get() const { return database_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace eckart::ledger
