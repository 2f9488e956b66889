"""The server: consent, personal links, blinding, hostile input."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from pgm_explainer_study.design import plan
from pgm_explainer_study.web.static_page import static_page

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>{{7*7}}"


def one(trial, value, name="submission-1", ms=900):
    return {"trial": trial, "value": value, "ms": ms, "submission": name}


def test_nothing_is_stored_without_consent(client):
    status, _, text = client.request("POST", "/join", "")
    assert status == 400
    assert "consent" in text
    assert "Consent" in client.request("GET", "/")[2]


def test_every_response_has_the_policy_and_no_cookie(client):
    token = client.join()
    for path in ("/", f"/r/{token}", f"/r/{token}/data", "/study.js", "/nothing", "/r/x"):
        _, headers, _ = client.request("GET", path)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert "set-cookie" not in headers


def test_pages_have_no_inline_script_or_style(client):
    for path in ("/", f"/r/{client.join()}"):
        page = client.request("GET", path)[2]
        assert not re.search(r"<script(?! src=)|<style|\son\w+=|style=", page)
        assert not re.search(r"(src|href|action)=\"(?!/)", page)


def test_the_page_is_told_no_arm(client, study):
    """The names are nowhere, and what differs between arms is the picture and its words."""
    token = client.join()
    text = client.request("GET", f"/r/{token}/data")[2]
    for arm in study.arms:
        assert f'"{arm.id}"' not in text
        assert arm.name not in text
    fields = {
        block: {tuple(trial) for trial in json.loads(text)["trials"] if trial["block"] == block}
        for block in ("rating", "forecast")
    }
    assert {len(found) for found in fields.values()} == {1}
    for hidden in ("correct", "slot", "repeat", "attention", "round", "C0DE"):
        assert f'"{hidden}"' not in text


def test_an_answer_is_stored_once_however_often_it_is_sent(client):
    token = client.join()
    for _ in range(3):
        assert client.answer(token, one(0, 1))[0] == 200
    assert client.answers(token) == {"0": 1}
    assert client.answer(token, one(0, 2, "submission-2"))[0] == 200
    assert client.answer(token, one(0, 1))[0] == 200  # a replay undoes nothing
    assert client.answers(token) == {"0": 2}


def test_a_wrong_answer_about_the_instructions_gets_a_hint(client, study):
    status, reply = client.answer(client.join(), one(0, 1), one(1, 1, "submission-2"))
    assert status == 200
    assert reply["hints"] == {"0": study.checks[0].hint}


def test_the_completion_code_is_told_at_the_end_only(client, study):
    token = client.join()
    length = len(plan(study, 0))
    answers = [one(trial, 0, f"submission-{trial}") for trial in range(length)]
    assert client.answer(token, *answers[:-1])[1]["ending"] is None
    assert "C0DE" not in client.request("GET", f"/r/{token}/data")[2]
    ending = client.answer(token, answers[-1])[1]["ending"]
    assert ending["code"] == "C0DE"
    assert ending["url"] == "https://app.prolific.com/submissions/complete?cc=C0DE"


WRONG = [
    {"answers": [one(10_000, 1)]},
    {"answers": [one(-1, 1)]},
    {"answers": [one(0, 3)]},
    {"answers": [one(0, -1)]},
    {"answers": [one(0, "1")]},
    {"answers": [one(0, True)]},
    {"answers": [one(0, 1.0)]},
    {"answers": [one(0, 1, "")]},
    {"answers": [one(0, 1, EVIL)]},
    {"answers": [one(0, 1, "x" * 41)]},
    {"answers": [one(0, 1, ms=-1)]},
    {"answers": [{**one(0, 1), "rater": 1}]},
    {"answers": one(0, 1)},
    {"answers": [one(0, 1, f"s{at}") for at in range(201)]},
    {},
    [],
    None,
]


@pytest.mark.parametrize("body", WRONG, ids=lambda body: f"{body!r:.50}")
def test_impossible_answers_are_refused_and_logged(client, body):
    token = client.join()
    assert client.answer(token, one(0, 1, "good"))[0] == 200
    before = client.log().count("refused")
    status, _, _ = client.request(
        "POST", f"/r/{token}/answers", json.dumps(body), Content_Type="application/json"
    )
    assert status == 400
    assert client.answers(token) == {"0": 1}
    assert client.log().count("refused") == before + 1
    assert token not in client.log()


def test_a_good_answer_beside_a_bad_one_is_not_half_stored(client):
    token = client.join()
    assert client.answer(token, one(0, 1), one(0, 99, "submission-2"))[0] == 400
    assert client.answers(token) == {}


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        ("not JSON", "application/json", 400),
        ("[" * 50_000, "application/json", 400),
        ('{"answers": [], "answers": []}', "application/json", 400),
        ("x" * 70_000, "application/json", 413),
        ('{"answers": []}', "text/plain", 415),
        ("\xff\xfe", "application/json", 400),
    ],
)
def test_bodies_that_are_no_answers_are_refused(client, body, kind, status):
    token = client.join()
    data = body.encode("latin-1")
    assert client.request("POST", f"/r/{token}/answers", data, Content_Type=kind)[0] == status


def test_a_large_form_is_refused(client):
    assert client.request("POST", "/join", "agree=yes&x=" + "y" * 70_000)[0] == 413


def test_a_forged_link_opens_nothing(client):
    token = client.join()
    for forged in (
        "x",
        token[:-1],
        token[:-1] + ("A" if token[-1] != "A" else "B"),
        token + "A",
        "%00",
        "'--",
    ):
        assert client.request("GET", f"/r/{forged}")[0] == 404
        assert client.request("GET", f"/r/{forged}/data")[0] == 404
        assert client.answer(forged, one(0, 1))[0] == 404


def test_a_link_of_one_rater_changes_nothing_of_another(client):
    first, second = client.join(), client.join()
    client.answer(first, one(0, 1))
    client.answer(second, one(0, 2))
    assert (client.answers(first), client.answers(second)) == ({"0": 1}, {"0": 2})


@pytest.mark.parametrize(
    "path",
    [
        "/../study.json",
        "/study.sqlite",
        "/..%2f..%2fetc/passwd",
        "/assets/",
        "/static",
        "/r/",
        "//etc/passwd",
        "/study.js/../../store.py",
    ],
)
def test_there_is_no_way_to_other_files(client, path):
    status, _, text = client.request("GET", path)
    assert status == 404
    assert "root:" not in text
    assert "sqlite" not in text


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE"])
def test_other_methods_are_refused(client, method):
    assert client.request(method, f"/r/{client.join()}/answers")[0] in (404, 405)


def test_a_strange_host_name_is_refused(client):
    assert client.request("GET", "/", Host="evil.example")[0] == 400
    assert client.request("GET", "/", Host="localhost:1")[0] == 200


def test_a_recruited_person_joins_once(client):
    ids = {"PROLIFIC_PID": "person1", "STUDY_ID": "s", "SESSION_ID": "first"}
    token = client.join(**ids)
    assert client.join(**ids) == token
    assert client.join(**{**ids, "SESSION_ID": "second"})[0] == 403
    assert client.join(PROLIFIC_PID="person1")[0] == 403
    assert client.join(**{**ids, "PROLIFIC_PID": "person2"}) != token


def test_identifiers_are_passed_on_and_checked(client):
    page = client.request("GET", "/?PROLIFIC_PID=abc&SESSION_ID=def&other=1")[2]
    assert '<input type="hidden" name="PROLIFIC_PID" value="abc">' in page
    assert "other" not in page
    for path in ("/?PROLIFIC_PID=%3Cscript%3E", f"/?SESSION_ID={'x' * 65}"):
        status, _, text = client.request("GET", path)
        assert status == 400
        assert "<script>" not in text


def test_too_many_changes_are_no_person(client, study):
    token = client.join()
    limit = 20 * len(plan(study, 0)) + 200
    for start in range(0, limit, 200):
        size = min(200, limit - start)
        assert client.answer(token, *(one(0, 1, f"s{start + at}") for at in range(size)))[0] == 200
    assert client.answer(token, one(0, 2, "more"))[0] == 400
    assert client.answers(token) == {"0": 1}


def test_the_cap_pilot_and_markup(serve, study):
    """One server for three promises, since starting one takes seconds."""
    evil = replace(study, title=EVIL, texts=replace(study.texts, intro=EVIL, consent=EVIL))
    client = serve(evil, "--max-raters", "1")
    page = client.request("GET", "/")[2]
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "49" not in page
    client.join()
    assert client.join()[0] == 403
    client.server.stop()
    pilot = serve(study, "--pilot", "--max-raters", "1")
    pilot.join()
    token = pilot.join()  # a pilot has no cap
    assert "Pilot" in pilot.request("GET", f"/r/{token}")[2]


def test_the_static_page_is_blinded_too(study):
    page = static_page(study, 5)
    data = re.search(r'id="data">(.*?)</script>', page)[1]
    for arm in study.arms:
        assert f'"{arm.id}"' not in data
        assert arm.name not in data
    for hidden in ("correct", "repeat", "round", "exclusions"):
        assert f'"{hidden}"' not in data
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/]{43}='", page.replace("&#39;", "'"))
    evil = replace(study, texts=replace(study.texts, intro=EVIL), title=EVIL)
    assert "<script>alert" not in static_page(evil, 1)
