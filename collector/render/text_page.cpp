#include "render/text_page.hpp"

#include <algorithm>

namespace gpumem {
namespace {

constexpr std::size_t gap = 2;  // between columns

std::string padded(std::string_view text, std::size_t width, Align side) {
  const std::size_t used = character_count(text);
  const std::string blanks(width > used ? width - used : 0, ' ');
  return side == Align::left ? std::string(text) + blanks : blanks + std::string(text);
}

}  // namespace

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
}

std::string TextPage::emphasised(std::string_view text) const {
  return colour_ ? "\033[1m" + std::string(text) + "\033[0m" : std::string(text);
}

void TextPage::blank_line() {
  if (!text_.empty() && !text_.ends_with("\n\n")) text_ += '\n';
}

void TextPage::heading(std::string_view text) {
  blank_line();
  lead(text);
}

void TextPage::lead(std::string_view text) {
  TextPage inner(width_, false);
  inner.paragraph(text);
  const std::string& lines = inner.text();
  text_ += emphasised(std::string_view(lines).substr(0, lines.size() - 1)) + '\n';
}

// Continues the line that already has `first_column` characters.
void TextPage::wrapped(std::string_view text, std::size_t first_column, std::size_t indent) {
  std::size_t at = first_column;
  bool is_first_word = true;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t size = character_count(word);
    if (!is_first_word && at + 1 + size > width_) {
      text_ += '\n' + std::string(indent, ' ');
      at = indent;
      is_first_word = true;
    }
    if (!is_first_word) {
      text_ += ' ';
      ++at;
    }
    text_ += word;
    at += size;
    is_first_word = false;
  }
  text_ += '\n';
}

void TextPage::paragraph(std::string_view text, std::size_t indent) {
  text_ += std::string(indent, ' ');
  wrapped(text, indent, indent);
}

void TextPage::item(std::string_view text, std::size_t indent) {
  text_ += std::string(indent, ' ') + "- ";
  wrapped(text, indent + 2, indent + 2);
}

void TextPage::line(std::string_view text, std::size_t indent) {
  text_ += std::string(indent, ' ') + std::string(text) + '\n';
}

void TextPage::hanging(std::string_view text, std::size_t indent) {
  text_ += std::string(indent, ' ');
  wrapped(text, indent, indent + 4);
}

void TextPage::fact(std::string_view label, std::string_view text, std::size_t label_width) {
  const std::size_t column = 2 + label_width + gap;
  text_ += "  " + padded(label, label_width + gap, Align::left);
  wrapped(text, column, column);
}

void TextPage::table(const std::vector<Column>& columns, const TableRows& rows, std::size_t indent) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::size_t widest = character_count(columns[c].title);
    for (const auto& row : rows) widest = std::max(widest, character_count(row[c]));
    widths.push_back(widest);
  }
  const auto add_row = [&](const std::vector<std::string>& cells) {
    std::string out(indent, ' ');
    for (std::size_t c = 0; c + 1 < cells.size(); ++c) {
      out += padded(cells[c], widths[c], columns[c].side) + std::string(gap, ' ');
    }
    text_ += out;
    wrapped(cells.back(), character_count(out), character_count(out));
  };
  std::vector<std::string> titles;
  for (const auto& each : columns) titles.push_back(each.title);
  add_row(titles);
  for (const auto& row : rows) add_row(row);
}

}  // namespace gpumem
