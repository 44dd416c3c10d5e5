"""Find a GGUF file, and report why it can't be used."""

import importlib.util
from pathlib import Path

PACKAGE = "package:"  # prefix of the name of an installed package with a GGUF file

INSTALL = "install the extra `local`: make local"  # remedy for a missing package


class EngineError(Exception):
    """A model that can't be loaded or a request that it can't serve, with a message for the user.

    Attributes:
        code: error code of the OpenAI protocol.
    """

    def __init__(self, message: str, code: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.code = code


def find_file(place: str) -> Path:
    """Return the GGUF file at `place`: a path, or `package:NAME` for the one in a package.

    Raises:
        EngineError: it is missing or not a GGUF file.
    """
    if place.startswith(PACKAGE):
        name = place.removeprefix(PACKAGE)
        # Not imported, as the package may need other packages.
        spec = importlib.util.find_spec(name) if name.isidentifier() else None
        folders = spec.submodule_search_locations if spec else None
        if not folders:
            raise EngineError(f"the package {name!r} is not installed; {INSTALL}")
        files = sorted(file for folder in folders for file in Path(folder).glob("*.gguf"))
        if len(files) != 1:
            raise EngineError(f"the package {name!r} holds {len(files)} GGUF files; one is needed")
        return files[0]
    file = Path(place).expanduser()
    try:
        with file.open("rb") as opened:
            magic = opened.read(4)
    except OSError as error:
        raise EngineError(f"{place}: can't be read ({error.strerror})") from error
    if magic != b"GGUF":
        raise EngineError(f"{place}: not a GGUF file, which begins with the letters GGUF")
    return file
