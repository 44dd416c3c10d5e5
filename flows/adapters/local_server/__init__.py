"""A GGUF file behind the OpenAI chat protocol, in a process of its own on this machine.

    sender -> HTTP on loopback -> `server` -> `engine` -> llama.cpp

The process is started by `flows.adapters.completions.send_gguf` with the first call, and ends with
the run. So a local model takes the same way as any endpoint: store, limits, retries, HTTP. It needs
the extra `local` (make local).
"""
