from privatree.learners.zoom._intervals import zoom_evidence as zoom_evidence
from privatree.learners.zoom._intervals import zoom_in as zoom_in
