"""A GGUF file that answers the OpenAI chat protocol, in its own process on this machine.

    sender -> lines of JSON -> `server` -> `engine` -> llama.cpp

`flows.adapters.completions.senders.send_gguf` starts the process with the first call; it ends with the run.
So a local model is used like any endpoint: store, limits, retries. It needs the extra `local` (make local).
"""
