"""What a page paints: characters that can be seen, words, shapes, annotations."""
