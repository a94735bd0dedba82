from privatree.export._budget_path import PathSpend as PathSpend
from privatree.export._budget_path import budget_path_bars as budget_path_bars
from privatree.export._budget_plot import plot_budget
from privatree.export._dot import export_dot
from privatree.export._leaf_colours import value_places as value_places
from privatree.export._model_json import export_json
from privatree.export._notebook import notebook_html as notebook_html
from privatree.export._plot import plot_tree
from privatree.export._scores_plot import plot_calibration, plot_scores
from privatree.export._sklearn_view import SklearnRegressorView, SklearnView, as_sklearn
from privatree.export.onnx_graph._export_onnx import export_onnx
from privatree.export.sql._expression import export_sql
from privatree.export.terms._export_terms import export_terms
from privatree.export.terms._overview_plot import plot_terms
from privatree.export.terms._term_bars import term_bars as term_bars
from privatree.export.terms._term_plot import plot_term
from privatree.export.text._cell_texts import cell_texts as cell_texts
from privatree.export.text._distributions import spread_text as spread_text
from privatree.export.text._distributions import target_intervals as target_intervals
from privatree.export.text._export_text import export_text
from privatree.export.text._rule_sentences import Rule, rules
from privatree.export.text._shown_values import name_text as name_text
from privatree.export.text._shown_values import share_text as share_text
from privatree.export.text._shown_values import shown_thresholds as shown_thresholds
from privatree.export.text._shown_values import value_text as value_text
from privatree.export.text._tree_text import node_texts as node_texts
from privatree.export.text._tree_text import nodes_with_missing as nodes_with_missing
from privatree.export.text._tree_text import outcome_text as outcome_text
from privatree.export.text._tree_text import support_text as support_text
from privatree.export.text._tree_text import threshold_texts as threshold_texts

__all__ = [
    "Rule",
    "SklearnRegressorView",
    "SklearnView",
    "as_sklearn",
    "export_dot",
    "export_json",
    "export_onnx",
    "export_sql",
    "export_terms",
    "export_text",
    "plot_budget",
    "plot_calibration",
    "plot_scores",
    "plot_term",
    "plot_terms",
    "plot_tree",
    "rules",
]
