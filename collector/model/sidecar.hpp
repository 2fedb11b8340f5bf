// Small files beside a journal, read and written whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace gpumem {

// Replaces the file in one step, mode 0600, never through a link. Throws error.
void write_sidecar(const std::filesystem::path& path, const std::string& text);

// The whole text of a regular file of at most `most` bytes; nothing where there is none.
std::optional<std::string> read_sidecar(const std::filesystem::path& path, std::uint64_t most);

}  // namespace gpumem
