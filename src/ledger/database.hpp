#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace eckart::ledger {

/// An error of SQLite. `code` is the extended result code.
struct DatabaseError {
  int code;
  std::string message;
  int system_errno = 0;  ///< errno, or 0 if no system call failed
  /// Whether the file is damaged or not a database, so that valid statements fail.
  bool is_corrupt() const;
};

/// A prepared statement. The destructor of an Execution resets it.
class Statement {
 public:
  Statement(sqlite3* database, std::string_view sql);

  /// One execution of the statement. Parameters count from 1, columns from 0. Throws DatabaseError.
  class Execution {
   public:
    explicit Execution(const Statement& statement) : statement_(statement.get()) {}
    ~Execution();
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;
    Execution& bind(int parameter, std::int64_t value);
    /// Binds a blob. `bytes` must stay valid until step() returns.
    Execution& bind(int parameter, std::string_view bytes);
    /// Binds a text. `text` must stay valid until step() returns.
    Execution& bind_text(int parameter, std::string_view text);
    /// Advances to the next row. Returns false if there is none.
    bool step();
    std::int64_t integer(int column) const;
    std::string bytes(int column) const;
    bool is_null(int column) const;

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

enum class OpenMode {
  read_write,  ///< created if it does not exist
  read_write_existing,
  read_only,  ///< changes nothing if this process may not write
  immutable,  ///< changes and creates nothing; may read a state that another process is changing
};

inline bool is_for_reading(OpenMode mode) {
  return mode == OpenMode::read_only || mode == OpenMode::immutable;
}

/// An open SQLite file. For one thread at a time.
class Database {
 public:
  /// Opens a file. If another process has locked it, waits for at most `timeout`. Throws
  /// DatabaseError.
  Database(const std::filesystem::path& file, OpenMode access, std::chrono::milliseconds timeout);
  /// Returns a copy in memory. Changes do not reach the file. Throws DatabaseError.
  Database copy_to_memory() const;
  void execute(const char* sql);
  /// Runs `body` in a write transaction, which is rolled back if `body` throws.
  template <class Body>
  void transaction(const Body& body) {
    run_transaction(begin_write_, "BEGIN IMMEDIATE", body);
  }
  /// Runs `body` in a read transaction: `body` sees one state of the file, whatever others write.
  template <class Body>
  void read_transaction(const Body& body) {
    run_transaction(begin_read_, "BEGIN", body);
  }
  /// Whether the path of the open file now names another file or none.
  bool has_moved() const;
  Statement prepare(std::string_view sql) const { return {get(), sql}; }
  /// The rowid of the last row that was inserted.
  std::int64_t last_inserted_id() const;

 private:
  Database() = default;
  sqlite3* get() const { return database_.get(); }
  /// Prepares the statement at its first use.
  void step(std::optional<Statement>& statement, const char* sql) {
    if (!statement) statement.emplace(prepare(sql));
    Statement::Execution(*statement).step();
  }
  template <class Body>
  void run_transaction(std::optional<Statement>& begin, const char* sql, const Body& body) {
    step(begin, sql);
    try {
      body();
      step(commit_, "COMMIT");
    } catch (...) {
      roll_back();
      throw;
    }
  }
  /// Rolls back the failed transaction if SQLite has not done so.
  void roll_back() noexcept;
  struct CloseDatabase {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, CloseDatabase> database_;
  std::optional<Statement> begin_write_, begin_read_, commit_;
};

}  // namespace eckart::ledger
