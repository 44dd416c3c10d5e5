"""Run llama.cpp on one GGUF file.

The binding's own class is not used: it has a fixed chat template, reports cut replies as finished and does
not check whether a prompt fits. This module uses its C functions and three more of its library, with
signatures from the `llama.h` that the binding ships (ik_llama.cpp; version 0.1.5 of the binding).
"""

import ctypes
import hashlib
import importlib
import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flows.adapters.local_server.find import INSTALL, EngineError

_BINDING = "ik_llama_cpp"
# Batch size of prompt tokens. From 32 on, version 0.1.5 of the binding gives wrong logits on a processor
# without AVX-VNNI (off by 9 to 23 in a range of about 40; Q4_1), and the model writes nonsense; up to 31 they
# are exact. `_check_batches` verifies this.
_BATCH = 16
_LARGEST_DIFFERENCE = 1.0  # between logits; rounding errors are hundredths
_PIECE_BYTES = 256  # longer than any token's text
_DIGEST_CHARS = 12


@dataclass(frozen=True)
class Sampling:
    """How the next token is chosen."""

    temperature: float  # divides the logits; 0 for the most likely token
    # Probability mass of the most likely tokens to sample from, in (0, 1] (nucleus sampling, Holtzman et al.
    # 2020).
    top_p: float
    seed: int  # random seed; the same seed on the same machine gives the same text


def choose(logits: NDArray[np.float32], sampling: Sampling, draw: np.random.Generator) -> int:
    """Choose the next token by the vocabulary's float32 logits; `draw` is unused at temperature 0."""
    if sampling.temperature == 0:
        return int(logits.argmax())
    scaled = logits.astype(np.float64) / sampling.temperature
    shares = np.exp(scaled - scaled.max())
    shares /= shares.sum()
    # Only candidates are sorted: all tokens below this floor together have less than the remaining
    # mass.
    (likely,) = (shares >= (1 - sampling.top_p) / len(shares)).nonzero()
    order = likely[(-shares[likely]).argsort(kind="stable")]
    sums: list[float] = shares[order].cumsum().tolist()
    kept: list[int] = order[: bisect_left(sums, sampling.top_p) + 1].tolist()
    at = draw.random() * sums[len(kept) - 1]
    # Due to rounding, `at` may equal the last sum.
    return kept[min(bisect_right(sums, at), len(kept) - 1)]


class Engine:
    """One loaded model. Not thread-safe.

    Attributes:
        name: file name and digest, as given in replies.
        context_tokens: the model's context length, prompt and reply.
    """

    def __init__(self, file: Path) -> None:
        """Load the model.

        Raises:
            EngineError: the binding is not installed or miscalculates here, or the file can't be loaded.
        """
        self._c = _binding()
        self._add_functions()
        self._c.llama_backend_init()
        parameters = self._c.llama_model_default_params()
        self._model = self._c.llama_model_load_from_file(os.fsencode(file), parameters)
        if not self._model:
            raise EngineError(f"{file.name}: llama.cpp can't load it; it may be damaged, or of a newer kind")
        vocabulary = self._c.llama_model_get_vocab(self._model)
        self._n_vocab = int(self._c.llama_vocab_n_tokens(vocabulary))
        self.context_tokens = int(self._n_ctx_train(self._model))
        self._check_batches()
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        self.name = f"{file.name}@sha256:{digest[:_DIGEST_CHARS]}"

    def read_messages(self, messages: Sequence[tuple[str, str]]) -> list[int]:
        """Tokenize messages, the role and content of each turn, in the file's chat template.

        A message's text is never parsed for special tokens, so a packet or a brief can't start a new turn.

        Raises:
            EngineError: llama.cpp does not know the template.
        """
        # The template is applied to placeholders, which are then replaced by tokens. Placeholders are
        # numbered private use characters, to distinguish them from the same characters in a text.
        places = [f"\ue000{number}\ue001" for number in range(len(messages))]
        rendered = self._render([(role, place) for (role, _), place in zip(messages, places, strict=True)])
        tokens: list[int] = []
        for number, part in enumerate(re.split("\ue000([0-9]+)\ue001", rendered)):
            if number % 2:
                tokens += self._tokenize(messages[int(part)][1], special=False, first=False)
            else:
                tokens += self._tokenize(part, special=True, first=number == 0)
        return tokens

    def write(self, prompt: Sequence[int], max_tokens: int, sampling: Sampling) -> tuple[str, int, bool]:
        """Generate from the tokens of `read_messages` until the model ends or `max_tokens` are reached.

        Returns:
            The text, its number of tokens, and whether the model ended.

        Raises:
            EngineError: it does not fit (prompts are never truncated), or llama.cpp fails.
        """
        if len(prompt) + max_tokens > self.context_tokens:
            raise EngineError(
                f"{len(prompt):,} tokens of prompt and {max_tokens:,} of reply do not fit into the "
                f"{self.context_tokens:,} that this model can hold; nothing was cut to fit",
                "context_length_exceeded",
            )
        draw = np.random.default_rng(sampling.seed)
        pieces: list[bytes] = []
        with self._context(len(prompt) + max_tokens) as context:
            self._read(context, prompt, _BATCH)
            while len(pieces) < max_tokens:
                token = choose(self._logits(context), sampling, draw)
                if self._c.llama_token_is_eog(self._model, token):
                    return _text(pieces), len(pieces), True
                pieces.append(self._piece(token))
                self._decode(context, [token], len(prompt) + len(pieces) - 1)
        return _text(pieces), len(pieces), False

    def _check_batches(self) -> None:
        """Compare a batch with token-by-token results, to reject a library that computes wrong logits."""
        prompt = self._tokenize(
            "The ferry leaves the north landing at six. " * _BATCH, special=False, first=True
        )
        found: list[NDArray[np.float32]] = []
        for batch in (_BATCH, 1):
            with self._context(_BATCH) as context:
                self._read(context, prompt[:_BATCH], batch)
                found.append(self._logits(context).copy())
        difference = float(np.abs(found[0] - found[1]).max())
        if not difference <= _LARGEST_DIFFERENCE:  # also if it is NaN
            raise EngineError(
                f"{_BINDING} miscalculates this file on this processor: a text read at once and token by "
                f"token gives logits {difference:.1f} apart; use llama-server and model=llama_cpp"
            )

    def _add_functions(self) -> None:
        library = self._c.load_shared_library()
        self._n_ctx_train: Any = library.llama_n_ctx_train
        self._n_ctx_train.argtypes = [ctypes.c_void_p]
        self._n_ctx_train.restype = ctypes.c_int32
        self._template: Any = library.llama_model_chat_template
        self._template.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
        self._template.restype = ctypes.c_char_p
        self._apply: Any = library.llama_chat_apply_template
        self._apply.argtypes = [
            ctypes.c_char_p,
            ctypes.POINTER(_ChatMessage),
            ctypes.c_size_t,
            ctypes.c_bool,
            ctypes.c_char_p,
            ctypes.c_int32,
        ]
        self._apply.restype = ctypes.c_int32

    def _render(self, messages: Sequence[tuple[str, str]]) -> str:
        template = self._template(self._model, None)
        if template is None:
            raise EngineError("the GGUF file has no chat template, so it can't be asked for a brief")
        chat = (_ChatMessage * len(messages))(*((role.encode(), text.encode()) for role, text in messages))
        size = 0
        while True:
            buffer = ctypes.create_string_buffer(size)
            needed = int(self._apply(template, chat, len(messages), True, buffer, size))  # noqa: FBT003 -- a C function has no keywords
            if needed < 0:
                raise EngineError(
                    "llama.cpp's C interface does not know this file's chat template; serve it with "
                    "llama-server --jinja and use model=llama_cpp"
                )
            if needed <= size:
                return buffer.raw[:needed].decode()
            size = needed

    def _tokenize(self, text: str, *, special: bool, first: bool) -> list[int]:
        raw = text.encode()
        # At most one token per byte, plus one before and one after.
        tokens = (ctypes.c_int32 * (len(raw) + 2))()
        count = int(self._c.llama_tokenize(self._model, raw, len(raw), tokens, len(tokens), first, special))
        if count < 0:
            raise EngineError("llama.cpp can't split a text into tokens")
        return list(tokens[:count])

    @contextmanager
    def _context(self, tokens: int) -> Generator[Any]:
        """Create a new context of `tokens`, without state of other requests."""
        parameters = self._c.llama_context_default_params()
        parameters.n_ctx = tokens
        parameters.n_batch = parameters.n_ubatch = _BATCH
        parameters.n_seq_max = 1
        parameters.flash_attn = False  # it crashes on processors without AVX-VNNI
        parameters.n_threads = parameters.n_threads_batch = _threads()
        context = self._c.llama_init_from_model(self._model, parameters)
        if not context:
            raise EngineError(f"llama.cpp has no memory for a context of {tokens:,} tokens")
        try:
            yield context
        finally:
            self._c.llama_free(context)

    def _read(self, context: Any, prompt: Sequence[int], batch: int) -> None:
        for start in range(0, len(prompt), batch):
            self._decode(context, prompt[start : start + batch], start)

    def _decode(self, context: Any, tokens: Sequence[int], position: int) -> None:
        batch = self._c.llama_batch_init(len(tokens), 0, 1)
        try:
            batch.n_tokens = len(tokens)
            for index, token in enumerate(tokens):
                batch.token[index] = token
                batch.pos[index] = position + index
                batch.n_seq_id[index] = 1
                batch.seq_id[index][0] = 0
                batch.logits[index] = index == len(tokens) - 1
            code = self._c.llama_decode(context, batch)
        finally:
            self._c.llama_batch_free(batch)
        if code != 0:
            raise EngineError(f"llama.cpp failed at token {position:,} with code {code}", "server_error")

    def _logits(self, context: Any) -> NDArray[np.float32]:
        pointer = self._c.llama_get_logits_ith(context, -1)
        if not pointer:
            raise EngineError("llama.cpp gave no logits", "server_error")
        return np.ctypeslib.as_array(pointer, (self._n_vocab,))

    def _piece(self, token: int) -> bytes:
        buffer = ctypes.create_string_buffer(_PIECE_BYTES)
        size = int(self._c.llama_token_to_piece(self._model, token, buffer, _PIECE_BYTES, 0, False))  # noqa: FBT003 -- a C function has no keywords
        return buffer.raw[: max(size, 0)]


class _ChatMessage(ctypes.Structure):
    _fields_ = (("role", ctypes.c_char_p), ("content", ctypes.c_char_p))


def _text(pieces: Sequence[bytes]) -> str:
    return b"".join(pieces).decode("utf-8", "replace")


def _binding() -> Any:
    """Import the binding's C functions, which are an optional extra."""
    try:
        return importlib.import_module(f"{_BINDING}._ctypes_api")
    except ModuleNotFoundError as error:
        raise EngineError(f"{_BINDING} is not installed; {INSTALL}") from error
    except (OSError, AttributeError) as error:
        raise EngineError(f"{_BINDING} can't run on this machine: {error}") from error


def _threads() -> int:
    """Return half of the processors, as llama.cpp by default.

    Every layer waits for the slowest thread, so sharing a processor slows down all: with two threads on two
    busy processors a token took twenty times as long as with one.
    """
    affinity = getattr(os, "sched_getaffinity", None)  # not on every system
    processors = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, processors // 2)
