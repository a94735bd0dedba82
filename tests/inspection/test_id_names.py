import pytest

from privatree.inspection._id_names import describe_id_name


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("person's id", "patient_id PatientID patientid patient-no id_patient PATIENT_NUMBER "
         "person_id personid customer_id CustomerKey client_code household_id hh_id hhid "
         "account_no subject_id user_id userId userid member_number employee_id student_id cust_no "
         "bene_id pat_id emp_id mrn MRN ssn SSN email E-Mail national_id nhs_number Patienten-Nr "
         "Kundennummer KundenNr kunden_id kdnr Haushalts-ID Mitgliedsnummer Personalnummer "
         "Versichertennummer Schülernummer PatientenID Sozialversicherungsnummer id_client "
         "numero_client id_paciente codice_fiscale klantnummer personnummer Patientinnen_Nr"),
        ("person", "patient person Person customer client household account subject user users "
         "member Kunde Haushalt ménage usuario persona patients"),
        ("id", "id ID loan_id store_id uuid device_id idProduct"),
        ("row's id", "row_id record_id visit_id encounter_id hadm_id case_id orders_id"),
        (None, "age person_age household_size account_balance customer_type userRating paid valid "
         "grid covid number code name key identity_politics patientenzahl clients_served idle "
         "video note kind 1 _ , x1"),
    ],
)  # fmt: skip
def test_a_name_sounds_like_what_it_is(kind, names):
    found = {name: describe_id_name(name) for name in names.split()}
    assert found == dict.fromkeys(names.split(), kind)


def test_an_odd_or_long_name_takes_no_time(takes_at_most):
    odd = ["", " ", "\n", "é" * 10_000, "patient" * 10_000, "user" + "idnr" * 10_000 + "x"]
    takes_at_most(1, lambda: [describe_id_name(name) for name in odd])
    assert {describe_id_name(name) for name in odd} == {None}
