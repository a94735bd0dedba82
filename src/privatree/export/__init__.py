"""Exports of released trees and ensembles: text, plots, SQL, ONNX and others.

They read only the released model. An ensemble can be exported to text, JSON, SQL and ONNX, and its
terms to pictures, CSV and JSON; the other exports are for trees.

::

    text/                trees and ensembles in words
    sql/                 the model as a SQL expression, in the dialect of a database
    onnx_graph/          the model as an ONNX graph
    terms/               the terms of an ensemble as pictures, lines of text, CSV and JSON
    _model_json.py       the model as JSON, as in a model file
    _dot.py              the tree in the language of Graphviz
    _plot.py             the tree as a matplotlib plot
    _leaf_colours.py     colours of leaves in that plot and in the language of Graphviz
    _tree_layout.py      positions of the boxes in that plot
    _budget_plot.py      the privacy budget as a bar chart
    _scores_plot.py      private scores, and calibration, as plots
    _budget_path.py      the path of the tree on which most epsilon was spent
    _sklearn_view.py     the tree as a fitted scikit-learn tree, for scikit-learn's tools and SHAP
    _float32_rounding.py rounding to 32 bits that keeps numbers on their side of each threshold
    _notebook.py         the model as HTML for a notebook
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
