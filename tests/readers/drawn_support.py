"""Pages of text and tables to draw into a PDF file, and what is read of them."""

HEIGHT, WIDTH = 792, 612
BODY = [
    "The brigade holds its line of departure and prepares to pass the battalion",
    "at first light, while the reserve moves to the crossing and waits for the",
    "order of the corps to go forward with two companies of engineers.",
]
ROWS = [
    ["Unit", "Men", "Status"],
    ["A Coy", "112", "GREEN"],
    ["B Coy", "98", "RED"],
    ["C Coy", "120", "AMBER"],
]


def page(*lines, body=BODY):
    """A page of running text from 200 points down, with other lines at (x, y)."""

    def draw(canvas):
        for at, line in enumerate(body):
            canvas.drawString(72, 200 + 12 * at, line)
        for x, y, text in lines:
            canvas.drawString(x, y, text)

    return draw


def kinds(document, *wanted):
    return [block.text for block in document.blocks if block.kind in wanted]


def running(document):
    return [(block.text, block.place) for block in document.blocks if block.kind in {"header", "footer"}]


def grid(canvas, xs, ys, rows, rules="hv"):
    """Write rows into a grid; `h` and `v` draw the rules, `o` the outline, `u` the rule under the head."""
    lines = [(xs[0], y, xs[-1], y) for y in ys] if "h" in rules else []
    lines += [(x, ys[0], x, ys[-1]) for x in xs] if "v" in rules else []
    lines += [(xs[0], ys[1], xs[-1], ys[1])] if "u" in rules else []
    canvas.lines(lines)
    if "o" in rules:
        canvas.rect(xs[0], ys[0], xs[-1] - xs[0], ys[-1] - ys[0])
    for y, row in zip(ys, rows, strict=False):
        for x, text in zip(xs, row, strict=False):
            canvas.drawString(x + 4, y + 14, text)


def bands(canvas, xs, ys, rows, alternate=False):
    for at in range(0, len(rows), 2 if alternate else 1):
        canvas.setFillGray(0.85 if at % 2 else 0.95)
        canvas.rect(xs[0], ys[at], xs[-1] - xs[0], ys[at + 1] - ys[at], fill=1, stroke=0)
    canvas.setFillGray(0)
    grid(canvas, xs, ys, rows, "")


def open_sides(canvas, xs, ys, rows, sides):
    left, right = sides
    grid(canvas, xs[left : len(xs) - right], ys, [], "hv")
    grid(canvas, xs, ys, rows, "")


def pipe(rows):
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([head, "|" + " --- |" * len(rows[0]), *body])


XS, YS = [72, 150, 240, 330], [100, 120, 140, 160, 180]
