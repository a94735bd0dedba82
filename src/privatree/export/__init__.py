"""A released tree in other forms. Nothing is read but what was released.

::

    _text.py             lines of text
    _rule_sentences.py   one sentence for each leaf
    _dot.py              a graph for Graphviz
    _plot.py             a drawing with matplotlib
    _tree_layout.py      where its boxes stand
    _budget_plot.py      the privacy budget as bars
    _budget_path.py      the path where most of it was spent
    _model_json.py       the text of the model file
    sql/                 one CASE expression, in the dialect of a database
    _onnx_graph.py       an ONNX model
    _sklearn_view.py     a trained tree of scikit-learn, for its own functions and for SHAP
    _float32.py          numbers that scikit-learn cannot round across a threshold
    _notebook.py         a model as HTML for a notebook
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
