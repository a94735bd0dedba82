from privatree.robustness.certificates._certificate_text import NOT_PRIVATE as NOT_PRIVATE
from privatree.robustness.certificates._certificate_text import pluralize as pluralize
from privatree.robustness.certificates._certificate_text import (
    public_conditions as public_conditions,
)
from privatree.robustness.certificates._certificate_text import shown_confidence as shown_confidence
from privatree.robustness.certificates._certificate_text import shown_score as shown_score
from privatree.robustness.certificates._certification import (
    check_certificate_parameters as check_certificate_parameters,
)
from privatree.robustness.certificates._preconditions import (
    guaranteed_spending as guaranteed_spending,
)
from privatree.robustness.certificates._preconditions import (
    refuse_counted_size as refuse_counted_size,
)
