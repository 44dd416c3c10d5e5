"""The order of reading: lines, paragraphs, columns, tables, running headers and footers."""
