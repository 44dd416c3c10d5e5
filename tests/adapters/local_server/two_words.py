"""A server of our protocol whose engine knows a few words, as a process: its argument is the NAME of a file.

A word is a token, ten fit, and it says "café au lait" and ends. A file named `dies` ends the process with its
first call, `hangs` never answers, `broken` can't be loaded.
"""

import os
import sys
import threading

from flows.adapters.local_server import server
from flows.adapters.local_server.find import EngineError


class TwoWords:
    name = "two-words.gguf@sha256:0"

    def __init__(self, file="", context_tokens=10, breaks_after=99):
        if file == "broken":
            raise EngineError("broken: llama.cpp can't load it")
        self.file = file
        self.context_tokens = context_tokens
        self.breaks_after = breaks_after
        self.asked = []

    def read_messages(self, messages):
        return [0] * sum(len(content.split()) for _, content in messages)

    def write(self, prompt, max_tokens, sampling):
        if len(prompt) + max_tokens > self.context_tokens:
            raise EngineError(f"{len(prompt)} and {max_tokens} do not fit", "context_length_exceeded")
        if self.file == "dies":
            os.write(2, b"a last word\n")
            os._exit(3)
        if self.file == "hangs":
            threading.Event().wait()
        if max_tokens > self.breaks_after:
            raise EngineError("broke", "server_error")
        self.asked.append((len(prompt), max_tokens, sampling))
        words = ["café ", "", "au ", "lait"][:max_tokens]
        os.write(1, b"what llama.cpp prints\n")  # standard output has only our lines
        return "".join(words), len(words), max_tokens > 4


if __name__ == "__main__":
    server.find_file = lambda place: place
    server.Engine = TwoWords
    sys.exit(server.main(sys.argv[1]))
