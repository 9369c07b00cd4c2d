"""The graph view of a walk: `graph_view`, and the looks of labels for whoever draws the same dots elsewhere."""

from components.graph.component import Event, graph_view, warm
from components.graph.styles import PALETTE, LabelStyle, label_styles

__all__ = ["PALETTE", "Event", "LabelStyle", "graph_view", "label_styles", "warm"]
