"""Workers and data bases that die: nothing is answered twice differently, nothing is lost.

``make faults`` runs the whole study; a small one is here.
"""

from __future__ import annotations

from discreet.service import KeyBook
from support import live_world
from support.live_world import OTHER_ROW, ROW
from support.service_faults import kill_server, killable_server, short_folder, start_server, study


def test_killed_workers_change_no_answer(tmp_path):
    found = study(tmp_path, cap=25, rows=40, clients=4, queries=200, restarts=3, pause=0.3)
    assert found.is_sound, found
    assert (found.answered, found.without_an_answer) == (200, 0)
    assert found.workers_killed >= 3
    assert found.statuses["answered"] > 0
    assert found.statuses["frozen"] > 0


def test_a_lost_server_gives_503_and_comes_back_with_the_same_answers(tmp_path, world):
    with short_folder() as folder, killable_server(folder) as (address, _):
        live_world.begin(address, tmp_path / "books.db", answers=10, rows=40)
        answering = live_world.take_up(address, tmp_path / "books.db")
        book = KeyBook(address)
        _, key = book.create_key("a client")
        client = world.serve(answering)  # keys in a file: who asks is known without the server
        before = client.post("/predict", json={"rows": [ROW]}).json()
        kill_server(folder)
        for path in ("/health", "/status"):
            assert client.get(path).status_code == 503
        said = client.post("/predict", json={"rows": [OTHER_ROW]})
        assert (said.status_code, said.json()["error"]["code"]) == (503, "unavailable")
        elsewhere = world.serve_with(answering, book, key)  # keys on the server
        said = elsewhere.post("/predict", json={"rows": [ROW]})
        assert said.status_code == 503  # who asks cannot be found out, so nothing is answered
        start_server(folder)
        assert client.post("/predict", json={"rows": [OTHER_ROW]}).status_code == 200
        assert client.post("/predict", json={"rows": [ROW]}).json() == before
        assert elsewhere.post("/predict", json={"rows": [ROW]}).json() == before
        assert client.get("/status").json()["answers"] == 2
        book.close()
