"""Names of columns that say who a row is about: patient_id, Kundennummer, mrn.

A name alone proves nothing. It is a reason to ask the owner of the records.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

IdName = Literal["person's id", "person", "id", "row's id"]
"""What a name sounds like: ids of persons (patient_id), persons (patient), ids of unknown things
(loan_id), ids of rows or visits (row_id)."""

_PERSONS = (
    # English
    "account|applicant|beneficiary|borrower|caller|cardholder|child|citizen|client|consumer|"
    "customer|debtor|defendant|donor|driver|employee|enrollee|family|guest|household|individual|"
    "inmate|insured|member|offender|owner|parent|participant|passenger|patient|person|player|"
    "policyholder|prisoner|pupil|resident|respondent|student|subject|subscriber|taxpayer|tenant|"
    "user|veteran|victim|visitor|voter|worker|"
    # German, without accents
    "antragsteller|arbeitnehmer|befragte|benutzer|bewohner|buerger|burger|familie|haushalt|klient|"
    "konto|kontoinhaber|kunde|mitarbeiter|mitglied|nutzer|personal|proband|schueler|schuler|"
    "studierende|teilnehmer|versicherte|versicherung|"
    # French
    "abonne|adherent|assure|compte|eleve|etudiant|foyer|menage|personne|salarie|usager|utilisateur|"
    # Spanish, Portuguese and Italian
    "alumno|assistito|conto|conta|cuenta|dipendente|empleado|famiglia|hogar|paciente|"
    "paziente|persona|pessoa|socio|usuario|utente|"
    # Dutch
    "gebruiker|huishouden|klant|persoon"
)
_SHORT_PERSONS = "acct|bene|cust|emp|hh|kd|memb|national|pat|pers|pt|stud|subj|usr"
"""Abbreviations that mean persons only together with a word for ids: cust_no."""
_IDS = (
    "code|guid|hash|id|ident|identification|identificador|identifiant|identifier|identity|ids|"
    "kennung|kennzahl|kennziffer|key|matricule|nr|no|num|numero|number|nummer|pseudonym|ref|"
    "reference|schluessel|schlussel|uid|uuid"
)
_KNOWN_IDS = (
    "ahv|bsn|codicefiscale|cpf|dni|email|krankenversichertennummer|medicalrecord|mrn|nhs|nino|nir|"
    "personnummer|pesel|pid|rentenversicherungsnummer|socialsecurity|sozialversicherungsnummer|ssn|"
    "steuerid|steuernummer|svnr"
)
"""Names that mean ids of persons as they are."""
_ROWS = (
    "admission|aufenthalt|besuch|booking|buchung|case|claim|encounter|entry|episode|event|fall|"
    "hadm|index|invoice|line|log|message|observation|order|rechnung|record|row|sample|session|stay|"
    "ticket|transaction|trip|visit|vorgang|zeile"
)
"""Words for what a row can be: their ids are not ids of persons."""

_ID = f"(?:{_IDS})"
_PERSON = f"(?:{_PERSONS})(?:innen|en|in|es|e|s|n)?"  # Patienten-, Mitglieds-
_PERSON_ID = re.compile(
    f"(?:{_KNOWN_IDS}){_ID}?|{_PERSON}{_ID}+|{_ID}{_PERSON}"
    f"|(?:{_SHORT_PERSONS}){_ID}|{_ID}(?:{_SHORT_PERSONS})"
)
_PERSON_ALONE = re.compile(_PERSON)
_ROW = re.compile(f"(?:{_ROWS})s?")


def describe_id_name(name: str) -> IdName | None:
    """Return what the name of a column sounds like; None if it does not sound like ids."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)  # PatientID
    plain = unicodedata.normalize("NFKD", parted.casefold())
    words = re.findall(r"[a-z]+", "".join(c for c in plain if not unicodedata.combining(c)))
    if not words:
        return None
    joined = "".join(words)
    if _PERSON_ID.fullmatch(joined):
        return "person's id"
    if _PERSON_ALONE.fullmatch(joined):
        return "person"
    is_id = words[-1] in ("id", "uid", "uuid", "guid") or words[0] == "id"
    if is_id and any(map(_ROW.fullmatch, words)):
        return "row's id"
    return "id" if is_id else None
