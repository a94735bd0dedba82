import pandas as pd
import pytest

from privatree.reproduction.loading._fingerprint import fingerprint


def table():
    frame = pd.DataFrame(
        {
            "whole": pd.Series([1, 2, 3], dtype="int64"),
            "real": pd.Series([0.5, 0.25, 0.125], dtype="float64"),
            "kind": pd.Categorical(["ü", "a", "ü"], categories=["a", "ü"]),
        }
    )
    return frame, pd.Series(["no", "yes", "no"], name="target")


def test_it_is_the_same_on_every_machine_and_in_every_version():
    assert fingerprint(*table()) == "1dd9a4be66330262"


def test_it_does_not_depend_on_the_index_or_on_how_text_is_held():
    frame, labels = table()
    moved = frame.set_axis([7, 8, 9])
    assert fingerprint(moved, labels.astype(object)) == fingerprint(frame, labels)
    codes = frame["kind"].cat.codes
    held_otherwise = pd.Categorical.from_codes(codes, pd.Index(["a", "ü"], dtype=object))
    assert fingerprint(frame.assign(kind=held_otherwise), labels) == fingerprint(frame, labels)


CHANGES = {
    "value": lambda frame, labels: (frame.assign(whole=[1, 2, 4]), labels),
    "last bit": lambda frame, labels: (frame.assign(real=frame["real"] + 2e-17), labels),
    "type": lambda frame, labels: (frame.astype({"whole": "float64"}), labels),
    "category": lambda frame, labels: (frame.assign(kind=frame["kind"].cat.codes + 0), labels),
    "renamed category": lambda frame, labels: (
        frame.assign(kind=frame["kind"].cat.rename_categories({"a": "b"})),
        labels,
    ),
    "order of categories": lambda frame, labels: (
        frame.assign(kind=frame["kind"].cat.reorder_categories(["ü", "a"])),
        labels,
    ),
    "category that never occurs": lambda frame, labels: (
        frame.assign(kind=frame["kind"].cat.add_categories("z")),
        labels,
    ),
    "name": lambda frame, labels: (frame.rename(columns={"whole": "hole"}), labels),
    "order of columns": lambda frame, labels: (frame[["real", "whole", "kind"]], labels),
    "order of rows": lambda frame, labels: (frame[::-1], labels),
    "column left out": lambda frame, labels: (frame[["whole", "real"]], labels),
    "row left out": lambda frame, labels: (frame[:2], labels[:2]),
    "label": lambda frame, labels: (frame, labels.replace("no", "No")),
    "other label": lambda frame, labels: (frame, labels[::-1].shift(1, fill_value="no")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_content_changes_it(change):
    frame, labels = table()
    changed = CHANGES[change](frame, labels)
    assert fingerprint(*changed) != fingerprint(frame, labels)
