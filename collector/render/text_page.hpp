// A page of text that grows from top to bottom: headings, wrapped paragraphs, labelled facts, aligned tables.
//
// Knows width and colour, and nothing of what it prints. Widths count characters of UTF-8, not bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gpumem {

enum class Align { left, right };

struct Column {
  std::string title;
  Align side = Align::left;
};

using TableRows = std::vector<std::vector<std::string>>;

class TextPage {
 public:
  TextPage(std::size_t width, bool colour) : width_(width), colour_(colour) {}

  void blank_line();                    // never two in a row, and none at the top
  void heading(std::string_view text);  // a line of its own, after a blank line
  void lead(std::string_view text);     // wrapped, emphasised
  void paragraph(std::string_view text, std::size_t indent = 0);
  void item(std::string_view text, std::size_t indent);      // a paragraph with a dash before it
  void line(std::string_view text, std::size_t indent = 0);  // never wrapped: for what one copies

  // Wrapped, with what follows the first line indented further.
  void hanging(std::string_view text, std::size_t indent);
  std::size_t room(std::size_t indent) const { return width_ > indent ? width_ - indent : 0; }

  // "label   text", the text wrapped beside the label; all labels of one block are padded to `label_width`.
  void fact(std::string_view label, std::string_view text, std::size_t label_width);

  // The last column takes what is left of the width; longer cells there run on rather than being cut.
  void table(const std::vector<Column>& columns, const TableRows& rows, std::size_t indent = 2);

  const std::string& text() const { return text_; }

 private:
  void wrapped(std::string_view text, std::size_t first_column, std::size_t indent);
  std::string emphasised(std::string_view text) const;

  std::size_t width_;
  bool colour_;
  std::string text_;
};

// Number of characters of a UTF-8 text.
std::size_t character_count(std::string_view text);

}  // namespace gpumem
