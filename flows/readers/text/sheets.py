"""Apply the style sheets of an HTML mail to the style attributes of its elements."""

from __future__ import annotations

import re

from flows.readers.markup import Element
from flows.readers.text.style import COMMENT, declarations

_MAX_RULES = 1000
_MAX_WRITTEN = 20_000_000  # characters, into all style attributes together
_MAX_SELECTOR, _MAX_STEPS = 500, 10  # no person writes a longer one
_AT_RULE = re.compile(r"@([^{}@;]*+)(?:;|\{((?:[^{}]|\{[^{}]*+\})*+)\})")
_ATTRIBUTE = r"\[\s*([a-z][\w-]*)\s*(?:([~^*$|]?)=\s*[\"']?([^\"'\]]*)[\"']?)?\s*\]"
_SIMPLE = re.compile(rf"([a-z][\w-]*|\*)?((?:[.#][\w-]+|{_ATTRIBUTE})*)", re.IGNORECASE | re.ASCII)
_MARK = re.compile(rf"([.#])([\w-]+)|{_ATTRIBUTE}", re.IGNORECASE | re.ASCII)
_STEP = re.compile(r">|(?:\[[^\]]*\]|[^\s>\[])+")
_PSEUDO = re.compile(r":[\w-]+(?:\([^)]*\))?")
_ELSEWHERE = re.compile(r"::?(?:hover|active|focus|visited|before|after|selection|first-l\w+|placeholder)\b")


def apply_sheets(root: Element) -> int:
    """Copy rules into style attributes, weaker ones first; return how many are left out.

    Selectors of names, classes and ids are matched, descendants and children too. Of any other selector
    it is only known which elements it may mean: their colours are unknown.
    """
    rules: list[tuple[tuple[int, int, int], str, str]] = []
    for sheet in root.iter("style"):
        if _is_screen(str(sheet.get("media") or "")):
            text = COMMENT.sub("", str(sheet.text or ""))
            text = _AT_RULE.sub(_of_screen, text)
            for rule in text.split("}"):
                names, _, body = rule.partition("{")
                rules += _rules(names, body)
    rules.sort(key=lambda rule: rule[0])
    given: dict[Element, list[str]] = {}
    kept, written = 0, 0
    for _, path, body in rules[:_MAX_RULES]:
        elements = root.xpath(path)
        written += len(elements) * (len(body) + 1)
        if written > _MAX_WRITTEN:
            break
        kept += 1
        for element in elements:
            given.setdefault(element, []).append(body)
    for element, bodies in given.items():
        element.set("style", ";".join([*bodies, str(element.get("style") or "")]))
    return len(rules) - kept


def _is_screen(media: str) -> bool:
    return media.strip().lower() in {"", "all", "screen", "only screen"}


def _of_screen(rule: re.Match[str]) -> str:
    kind, _, media = rule.group(1).strip().partition(" ")
    return rule.group(2) or "" if kind.lower() == "media" and _is_screen(media) else ""


def _rules(names: str, body: str) -> list[tuple[tuple[int, int, int], str, str]]:
    found: list[tuple[tuple[int, int, int], str, str]] = []
    for selector in names.replace(":root", "html").replace(":link", "").split(","):
        if len(selector) > _MAX_SELECTOR or _ELSEWHERE.search(selector):
            continue
        simple, said = _PSEUDO.sub("", selector), body
        if simple != selector or re.search(r"[+~](?!=)", simple):
            simple = re.split(r"[+~](?!=)", simple)[-1].strip() or "*"
            colours = {name.partition("-")[0] for name in declarations(body)} & {"color", "background"}
            said = ";".join(f"{name}:unknown" for name in sorted(colours))
        path, weight = _path(simple)
        if path and said:
            found.append((weight, path, said))
    return found


def _path(selector: str) -> tuple[str, tuple[int, int, int]]:
    """A selector as XPath, and its weight: ids, classes and attributes, names; '' where it is not matched."""
    path, ids, others, names = "", 0, 0, 0
    steps = _STEP.findall(selector)
    if len(steps) > _MAX_STEPS:
        return "", (0, 0, 0)
    for step in steps:
        if step == ">":
            path += "/"
            continue
        part = _SIMPLE.fullmatch(step)
        if part is None:
            return "", (0, 0, 0)
        path += ("" if path.endswith("/") else "//") + (part.group(1) or "*").lower()
        names += part.group(1) not in {None, "*"}
        for kind, mark, attribute, how, value in _MARK.findall(part.group(2)):
            name = {".": "class", "#": "id"}.get(kind) or attribute.lower()
            ids, others = ids + (kind == "#"), others + (kind != "#")
            path += _condition(name, how if attribute else "~" if kind == "." else "=", mark or value)
    return path if path.startswith("//") and not path.endswith("/") else "", (ids, others, names)


def _condition(name: str, how: str, value: str) -> str:
    if how == "~":
        return f"[contains(concat(' ', normalize-space(@{name}), ' '), ' {value} ')]"
    if how in {"^", "*"}:
        return f"[{'starts-with' if how == '^' else 'contains'}(@{name}, '{value}')]"
    return f"[@{name}='{value}']" if value else f"[@{name}]"
