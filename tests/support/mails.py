"""Small texts and mails made in a test, and what is read of them."""

from flows.readers import read_document

HEAD = b"From: a@example.org\nSubject: s\nMIME-Version: 1.0\n"


def read(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_document(path)


def found(document):
    return [(block.kind, block.place, block.text) for block in document.blocks]


def single(kind, body, encoding="8bit"):
    return HEAD + f"Content-Type: {kind}\nContent-Transfer-Encoding: {encoding}\n\n".encode() + body


def multipart(kind, *parts):
    lines = [HEAD + f'Content-Type: multipart/{kind}; boundary="B"\n'.encode()]
    lines += [b"--B\nContent-Type: " + part for part in parts]
    return b"\n".join([*lines, b"--B--\n"])


def body(document):
    return [block.text for block in document.blocks if block.place != "headers"]


def hidden(document):
    return [notice.detail for notice in document.notices if notice.kind == "hidden_text"]


def kinds(document):
    return [notice.kind for notice in document.notices]
