"""Pictures of attention, one call each. A function takes tensors and returns a Picture; none computes attention.

`picture` says what a picture is, and `tables` what stands beside one as text; `charts` draws numbers, `runs` a dot for
each run, `planes` tokens, `stream` a layer, `heads` all heads of a model, and `heights` the stairs of chapter 3.
"""
from mha.viz.charts import bars, curves, heatmaps, histograms, matrices, matrix
from mha.viz.heads import composition, head_grid
from mha.viz.heights import heights
from mha.viz.picture import INK, Picture
from mha.viz.planes import arcs, lookup, value_map
from mha.viz.runs import dots
from mha.viz.stream import stream
from mha.viz.tables import Table, columns, table

__all__ = [
    "Picture", "INK", "Table", "table", "columns",
    "bars", "heatmaps", "curves", "dots", "matrix", "matrices", "histograms",
    "lookup", "value_map", "arcs", "stream", "heights", "head_grid", "composition",
]
