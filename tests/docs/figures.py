"""Tables and plots of the lessons, made from docs/results.

A lesson has a line for each figure; the lines up to <!-- end of figure --> are made from it:

  <!-- figure results=2026-11-28-streams-h200.json table=streams rows="batch=32 of 2048" columns=schedule,speedup bars=speedup -->

  results  a file of docs/results with reports of `eckart bench`
  table    the name of a table of one of them
  rows     optional: KEY=TEXT, only rows whose column KEY is like TEXT, in which * stands for anything, and | is
           between alternatives; several are separated by semicolons
  columns  keys of columns
  bars     optional: the key of the column that a plot shows; the file is docs/lessons/images/LESSON-N.svg
  log      optional: yes, if the axis of the plot is logarithmic
"""
import fnmatch
import json
import math
import shlex
from xml.sax.saxutils import escape

SHOWN_UNCERTAINTY, MAX_PERCENT = 0.1, 1
UNCERTAINTY_NOTE = ("±: the larger distance of the ends of the 95 % interval from the median, in percent of it, where it is above 10 %; "
                    "above 100 %, the ends themselves. A speedup is a median of ratios, not the ratio of two medians.")
BEGIN, END = "<!-- figure ", "<!-- end of figure -->"
STYLE = (
    "text{font:14px system-ui,sans-serif;fill:#1b1f24}.bar{fill:#2f6fd0}"
    "@media(prefers-color-scheme:dark){text{fill:#e6e8eb}.bar{fill:#6fa3f0}}"
)


def number(value):
    if value >= 1000:
        return f"{value:,.0f}"
    if value == 0 or abs(value) < 1e-3:
        return f"{value:.1e}" if value else "0"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def duration(microseconds):
    """As the program writes it: 68.9 ns, 1.94 us, 16.4 ms, 28.4 s."""
    for unit, factor in (("ns", 1e-3), ("us", 1), ("ms", 1e3), ("s", 1e6)):
        value = microseconds / factor
        if value < 999.5:
            break
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {unit}"


def median(value):
    return value["median"] if isinstance(value, dict) else value


def uncertainty(value):
    """The larger distance of the ends of the interval from the median, as a share of it; 0 without an interval."""
    if not isinstance(value, dict) or "low" not in value or not value["median"]:
        return 0
    return max(value["median"] - value["low"], value["high"] - value["median"]) / value["median"]


def cell_text(value, column):
    share = uncertainty(value)
    if share > MAX_PERCENT:
        return f"{cell_text(median(value), column)} ({cell_text(value['low'], column)} to {cell_text(value['high'], column)})"
    if share > SHOWN_UNCERTAINTY:
        return f"{cell_text(median(value), column)} ±{100 * share:.0f} %"
    value = median(value)
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, str):
        return value
    return duration(value) if column["unit"] == "us" else number(value)


def find_table(source, arguments):
    results = json.loads((source / "docs" / "results" / arguments["results"]).read_text())
    for report in results["experiments"]:
        for table in report["tables"]:
            if table["name"] == arguments["table"]:
                return table
    raise ValueError(f"{arguments['results']} has no table {arguments['table']}")


def is_like(value, text):
    return any(fnmatch.fnmatchcase(str(value), alternative) for alternative in text.split("|"))


def chosen_rows(table, arguments):
    conditions = [condition.split("=", 1) for condition in arguments.get("rows", "").split(";") if condition]
    rows = [row for row in table["rows"] if all(is_like(row[key], text) for key, text in conditions)]
    if not rows:
        raise ValueError(f"no row of {arguments['table']} is like {arguments['rows']}")
    return rows


def markdown_table(table, rows, keys):
    columns = {column["key"]: column for column in table["columns"]}
    units = {key: "" if column["unit"] == "us" else column["unit"] for key, column in columns.items()}
    heads = [" ".join(filter(None, (columns[key]["head"], units[key]))) for key in keys]
    lines = [heads, ["---" if isinstance(rows[0][key], str) else "---:" for key in keys]]
    lines += [[cell_text(row[key], columns[key]) for key in keys] for row in rows]
    table_lines = ["| " + " | ".join(line) + " |" for line in lines]
    if any(uncertainty(row[key]) > SHOWN_UNCERTAINTY for row in rows for key in keys):
        table_lines += ["", UNCERTAINTY_NOTE]
    return table_lines


def bar_plot(table, rows, keys, key, is_logarithmic):
    """An SVG with a bar for each measured row, named by the first columns that are text."""
    labels = [name for name in keys if isinstance(rows[0][name], str)]
    bars = [(", ".join(row[name] for name in labels), median(row[key])) for row in rows]
    bars = [(label, value) for label, value in bars if isinstance(value, (int, float))]
    column = next(column for column in table["columns"] if column["key"] == key)
    left, width, height, line = 330, 300, 18, 26
    largest, smallest = max(value for _, value in bars), min(value for _, value in bars)

    def length(value):
        if is_logarithmic:
            return width * (math.log10(value / smallest) + 0.2) / (math.log10(largest / smallest) + 0.2)
        return width * value / largest

    total = line * (len(bars) + 1)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {total}" width="720" height="{total}">', f"<style>{STYLE}</style>"]
    is_time = column["unit"] == "us"
    title = f"{column['head']}, {column['unit']}" if column["unit"] and not is_time else column["head"]
    parts.append(f'<text x="{left}" y="16">{escape(title)}{", logarithmic" if is_logarithmic else ""}</text>')
    for i, (label, value) in enumerate(bars):
        y = line * (i + 1)
        parts.append(f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{escape(label)}</text>')
        parts.append(f'<rect class="bar" x="{left}" y="{y}" width="{length(value):.1f}" height="{height}"/>')
        parts.append(f'<text x="{left + length(value) + 6:.1f}" y="{y + 14}">{duration(value) if is_time else number(value)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def make_figure(source, lesson, line, index):
    """Returns the lines of a figure, and the SVG files that they show, by path."""
    arguments = dict(word.split("=", 1) for word in shlex.split(line[len(BEGIN) : -len("-->")]))
    table = find_table(source, arguments)
    rows, keys, files, lines = chosen_rows(table, arguments), arguments["columns"].split(","), {}, []
    if key := arguments.get("bars"):
        name = f"{lesson.stem}-{index}.svg"
        files[lesson.parent / "images" / name] = bar_plot(table, rows, keys, key, arguments.get("log") == "yes")
        lines += [f"![{table['title']}](images/{name})", ""]
    return lines + markdown_table(table, rows, keys), files


def made(source, lesson):
    """Returns the text of a lesson with its figures, and its SVG files, by path."""
    lines, files, count, is_inside = [], {}, 0, False
    for line in lesson.read_text().splitlines():
        if line == END:
            is_inside = False
        if not is_inside:
            lines.append(line)
        if line.startswith(BEGIN):
            count += 1
            figure, svgs = make_figure(source, lesson, line, count)
            lines += ["", *figure, ""]
            files |= svgs
            is_inside = True
    return "\n".join(lines) + "\n", files


def check(source, is_write):
    """Compares the lessons and their plots with docs/results, or writes them. Returns errors and a summary."""
    errors, count, images = [], 0, set()
    lessons = source / "docs" / "lessons"
    for lesson in sorted(lessons.glob("*.md")):
        try:
            text, files = made(source, lesson)
        except (KeyError, ValueError, OSError) as error:
            errors.append(f"{lesson.relative_to(source)}: {error}")
            continue
        images |= set(files)
        for path, content in {lesson: text, **files}.items():
            count += 1
            if is_write:
                path.parent.mkdir(exist_ok=True)
                path.write_text(content)
            elif not path.exists() or path.read_text() != content:
                errors.append(f"{path.relative_to(source)} is not made from docs/results; run: tests/docs/check_docs.py figures --write")
    errors += [f"{path.relative_to(source)}: no lesson shows it" for path in set(lessons.glob("images/*.svg")) - images]
    return errors, f"{count} lessons and plots: as docs/results has them"
