"""Draw one picture: recall by data set, and recall against latency. Numbers come on stdin.

Runs alone, in the environment `picture`; imports nothing of this repository.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

Results = dict[str, Any]
_HUB_COLOUR = "#c2185b"
_TEXT = "#333333"
_COLOURS = ("#1f77b4", "#2a9d8f", "#7b5ea7", "#e08e0b", "#6b7a8f", "#8c564b", "#4c9f38")
_MARKERS = ("s", "D", "^", "v", "P", "X", "h")
_NAMES = {
    "hub": "Plastic Memories",
    "hub-no-embedder": "Plastic Memories, no embedder",
    "hub-keyword": "Plastic Memories, keyword only",
    "chroma": "Chroma",
    "fts5": "SQLite FTS5",
    "langgraph": "LangGraph store",
    "llamaindex": "LlamaIndex",
    "mem0": "mem0, one store",
    "mem0-apart": "mem0, a store each",
}


def main(png: str) -> None:
    results = json.load(sys.stdin)
    systems = {name: row for name, row in results["systems"].items() if "failed" not in row}
    plt.rcParams |= {"font.size": 11, "text.color": _TEXT, "axes.edgecolor": "#bbbbbb"}
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(15, 7.2), gridspec_kw={"width_ratios": [1.25, 1]}
    )
    _by_set(left, systems)
    _against_time(right, systems)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=5, frameon=False)
    figure.text(0.02, 0.95, "What is found, and how fast", fontsize=18, fontweight="bold")
    figure.text(0.02, 0.915, _subtitle(results), fontsize=10.5, color="#666666")
    figure.tight_layout(rect=(0.01, 0.09, 0.99, 0.91))
    figure.savefig(png, dpi=130)


def _by_set(axes: Axes, systems: Results) -> None:
    sets = list(next(iter(systems.values()))["scores"]["by_set"])[::-1]
    others = [name for name in systems if not name.startswith("hub")]
    for name, row in systems.items():
        values = [row["scores"]["by_set"][one]["recall@10"] for one in sets]
        # Peers with the same vectors have the same recall: shift them so that all are visible.
        shift = 0.0 if name not in others else 0.09 * (others.index(name) - len(others) / 2)
        heights = [place + shift for place in range(len(sets))]
        axes.scatter(values, heights, label=_title(name), **_style(name, systems))
    if "hub" in systems:
        for place, one in enumerate(sets):
            value = systems["hub"]["scores"]["by_set"][one]["recall@10"]
            axes.annotate(
                f"{value:.2f}",
                (value, place),
                xytext=(0, 13),
                textcoords="offset points",
                ha="center",
                color=_HUB_COLOUR,
                fontweight="bold",
            )
    axes.set_yticks(range(len(sets)), [one.replace("_", " ") for one in sets])
    axes.set_xlim(-0.02, 1.04)
    axes.set_ylim(-0.6, len(sets) - 0.4)
    axes.set_title("Evidence found among the first 10 (recall@10) →", loc="left", fontsize=12)
    _plain(axes, "y")


def _against_time(axes: Axes, systems: Results) -> None:
    for name, row in systems.items():
        # A logarithmic scale has no zero.
        x = max(row["question_ms"]["p50"], 0.01)
        axes.scatter([x], [_mean_recall(row)], **_style(name, systems))
    if "hub" in systems:
        _write_hub(axes, systems["hub"])
    axes.set_xscale("log")
    axes.margins(x=0.15, y=0.15)
    axes.xaxis.set_major_formatter(mpl.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel("← faster      ms for a question (p50, logarithmic), embedding apart")
    axes.set_title("Recall@10, mean of the data sets, against time", loc="left", fontsize=12)
    axes.annotate(
        "better and faster",
        xy=(0.01, 0.99),
        xytext=(0.12, 0.93),
        xycoords="axes fraction",
        color="#999999",
        arrowprops={"arrowstyle": "->", "color": "#999999"},
    )
    _plain(axes, "both")


def _write_hub(axes: Axes, row: Results) -> None:
    recall, time_ms = _mean_recall(row), row["question_ms"]["p50"]
    axes.annotate(
        f"{recall:.2f} in {time_ms:.1f} ms",
        (time_ms, recall),
        # To the right: above it the arrow may be in the way.
        xytext=(13, 0),
        textcoords="offset points",
        va="center",
        color=_HUB_COLOUR,
        fontweight="bold",
    )


def _mean_recall(row: Results) -> float:
    return float(row["scores"]["mean_of_sets"]["recall@10"])


def _style(name: str, systems: Results) -> dict[str, Any]:
    if name == "hub":
        return {"s": 190, "color": _HUB_COLOUR, "zorder": 5}
    if name.startswith("hub"):
        marker = "o" if "embedder" in name else "d"
        look = {"facecolors": "white", "edgecolors": _HUB_COLOUR, "linewidths": 1.6}
        return {"s": 80, "zorder": 4, "marker": marker, **look}
    place = [one for one in systems if not one.startswith("hub")].index(name)
    colour, marker = _COLOURS[place % len(_COLOURS)], _MARKERS[place % len(_MARKERS)]
    return {"s": 60, "color": colour, "marker": marker, "alpha": 0.85, "zorder": 3}


def _plain(axes: Axes, grid: str) -> None:
    axes.grid(axis=grid, color="#e8e8e8", zorder=0)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=0)


def _title(name: str) -> str:
    return _NAMES.get(name, name)


def _subtitle(results: Results) -> str:
    sizes = results["sample"].values()
    memories = sum(one["memories"] for one in sizes)
    questions = sum(one["questions"] for one in sizes)
    return (
        f"{questions:,} questions about {memories:,} memories in {len(results['sample'])} data sets"
        f" ({results['profile']} profile), every system with the same embedder and no model call; "
        "Plastic Memories through HTTP, the others called in their own process"
    )


if __name__ == "__main__":
    main(sys.argv[1])
