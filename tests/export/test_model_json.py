import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privatree
from privatree.export import export_json
from privatree.model import Model
from privatree.privacy import PrivacyStatement


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_it_is_what_save_writes_and_load_reads(strange, tmp_path_factory, seed):
    model, folder = strange(seed).model, tmp_path_factory.mktemp("json")
    text = export_json(model)
    model.save(folder / "saved.json")
    assert (folder / "saved.json").read_bytes() == text.encode()
    assert privatree.load(folder / "saved.json") == model


@pytest.mark.parametrize("learner", ["half \ud800", "`\u202e\0"])
def test_every_text_of_a_statement_can_be_written(small_schema, small_tree, tmp_path, learner):
    model = Model(small_schema, small_tree(), PrivacyStatement(learner, 1.0))
    path = tmp_path / "model.json"
    path.write_text(export_json(model), encoding="utf-8", newline="")
    assert privatree.load(path) == model


def test_one_that_load_would_refuse_is_refused(small_schema, small_tree, monkeypatch):
    monkeypatch.setattr("privatree._support.json_files.MAX_BYTES", 100)
    model = Model(small_schema, small_tree(), PrivacyStatement("by hand", 1.0))
    with pytest.raises(privatree.ModelFormatError, match="model file"):
        export_json(model)
