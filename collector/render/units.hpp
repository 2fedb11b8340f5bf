// Numbers and texts as people read them. Bytes in, powers of 1024 out; times are nanoseconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/kinds.hpp"
#include "analyze/sizes.hpp"
#include "analyze/usage.hpp"

namespace gpumem {

std::string exact_bytes(std::uint64_t bytes);                      // 1.5 GiB (1,610,612,736 bytes)
std::string duration_text(std::uint64_t ns);                       // 12.0 ms, 12.3 s, 12 min 3 s
std::string percent_text(std::int64_t part, std::uint64_t whole);  // 71 %
std::string blocks_and_bytes(const Usage& amount);                 // 3 blocks, 1.5 GiB

std::string kind_text(std::string_view kind);                         // linear device memory, streams
std::string one_of_kind(std::string_view kind);                       // block of arrays, stream
std::string amount_text(std::string_view kind, const Usage& amount);  // 3 blocks, 1.5 GiB of arrays; 3 streams
const char* counts_text(Counts counts);                               // host memory
std::string sums_text(const Sums& sums);                              // the above for sums, "; " between them
std::string on_device(const TotalKey& total);                         // " on GPU 0", or nothing
std::string total_text(const TotalKey& total);                        // linear device memory on GPU 0
std::string signal_text(int signal);                                  // signal 9 (SIGKILL)

// Words of a command as one would type them.
// A word that is longer ends in "…", but for the first: a program is known by the end of its path.
std::string command_text(const std::vector<std::string>& words, std::size_t longest_word = std::string::npos);

std::string shortened(std::string text, std::size_t most);  // to so many characters
std::string clock_text(std::uint64_t wall_ns);              // 2026-11-30 18:13:20 +0000, local time

// Text from a journal made safe for a terminal: control characters are shown, not sent.
std::string printable(std::string_view text);

}  // namespace gpumem
