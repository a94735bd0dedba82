import pandas as pd
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from privatree import PaperPrivaTreeClassifier, PrivaTreeClassifier, export
from privatree.export import rules
from privatree.model import Model, released_model, released_tree
from privatree.privacy import PrivacyStatement
from privatree.report import model_card

FORMS = [export.export_text, export.export_dot, export.export_json, export.export_sql,
         export.export_onnx, export.as_sklearn, rules, model_card]  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_a_classifier_must_be_fitted(form):
    for unfitted in (PrivaTreeClassifier(), PaperPrivaTreeClassifier()):
        with pytest.raises(NotFittedError, match=r"is not fitted yet.*Call fit\(X, y\) first\."):
            form(unfitted)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_a_fitted_classifier_and_its_model_give_the_same(form, small_schema):
    frame = {"age": [20, 80] * 50, "work": ["state", "none"] * 50, "gain": 0.0, "flag": True}
    classifier = PrivaTreeClassifier(5, max_depth=2, schema=small_schema, random_state=0)
    classifier.fit(pd.DataFrame(frame), ["low", "high"] * 50)
    one, other = form(classifier), form(classifier.model_)
    if form is export.as_sklearn:
        one, other = one.tree_.value.tolist(), other.tree_.value.tolist()
    assert one == other


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize(
    "other",
    [
        None,
        "model.json",
        PrivaTreeClassifier,
        DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]),
        BaggingClassifier(DecisionTreeClassifier(), n_estimators=2).fit([[0.0], [1.0]], [0, 1]),
    ],
    ids=["None", "str", "class", "scikit-learn", "ensemble"],
)
def test_anything_else_is_a_type_error(form, other):
    with pytest.raises(TypeError, match=r"must be a privatree\.Model or a fitted classifier"):
        form(other)


def test_a_tree_is_enough_where_nothing_is_said_of_privacy(small_tree):
    tree = small_tree()
    assert released_tree(tree) is tree
    with pytest.raises(TypeError, match="must have a privacy statement"):
        released_model(tree)


def test_a_model_is_passed_on(small_schema, small_tree):
    model = Model(small_schema, small_tree(), PrivacyStatement("by hand", 1.0))
    assert released_model(model) is model


def test_what_export_offers_can_be_had():
    for name in export.__all__:
        assert callable(getattr(export, name))
        assert callable(getattr(export, name))  # the second time, too
    assert dir(export) == sorted(export.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nope'"):
        _ = export.nope
