"""A GGUF file behind the OpenAI chat protocol, in its own process on this machine.

    sender -> HTTP on loopback -> `server` -> `engine` -> llama.cpp

`flows.adapters.completions.send_gguf` starts the process with the first call; it ends with the run. So a
local model
is used like any endpoint: store, limits, retries, HTTP. It needs the extra `local` (make local).
"""
