from privatree.robustness.certificates._certificate_text import NOT_PRIVATE as NOT_PRIVATE
from privatree.robustness.certificates._certificate_text import confidence_text as confidence_text
from privatree.robustness.certificates._certificate_text import pluralize as pluralize
from privatree.robustness.certificates._certificate_text import (
    public_conditions_text as public_conditions_text,
)
from privatree.robustness.certificates._certificate_text import score_text as score_text
from privatree.robustness.certificates._certification import (
    check_certification_parameters as check_certification_parameters,
)
from privatree.robustness.certificates._preconditions import (
    refuse_counted_size as refuse_counted_size,
)
from privatree.robustness.certificates._preconditions import (
    require_guarantee as require_guarantee,
)
