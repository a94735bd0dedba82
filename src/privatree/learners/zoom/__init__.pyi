from privatree.learners.zoom._intervals import LEVEL_EVIDENCE as LEVEL_EVIDENCE
from privatree.learners.zoom._intervals import SURPLUS_EVIDENCE as SURPLUS_EVIDENCE
from privatree.learners.zoom._intervals import interval_mechanism as interval_mechanism
from privatree.learners.zoom._intervals import zoom_evidence as zoom_evidence
from privatree.learners.zoom._intervals import zoom_in as zoom_in
