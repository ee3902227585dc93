"""Who gets in, and what a browser may do there."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from nws.core.errors import NwsError, RecipeError
from nws.jobs.serve.access import require_safe
from nws.jobs.serve.app import listen, make_app
from nws.jobs.store import Store, open_store

TOKEN = "0123456789abcdef-secret"


def client(store: Store, token: str | None = None, base_url: str = "http://127.0.0.1:8300") -> TestClient:
    return TestClient(make_app(store, token, 8300), base_url=base_url, follow_redirects=False)


@pytest.fixture
def store(tmp_path: Path):
    with open_store(f"sqlite:///{tmp_path / 'nws.db'}"):
        pass
    with open_store(f"sqlite:///{tmp_path / 'nws.db'}", read_only=True) as opened:
        yield opened


def test_others_need_a_token() -> None:
    for host in ("0.0.0.0", "::", "192.168.1.7", "example.org", "127.0.0.1.nip.io", ""):
        with pytest.raises(RecipeError, match=r"others could read this store.*NWS_SERVE_TOKEN"):
            require_safe(host, None)
        require_safe(host, TOKEN)
    for host in ("127.0.0.1", "::1", "localhost"):
        require_safe(host, None)


@pytest.mark.parametrize("token", ["", "short", "a b c d e f g h i j k l", "passwort-mit-ü-darin", "x" * 15])
def test_a_token_that_can_be_guessed_or_stands_in_no_address_is_refused(token: str) -> None:
    with pytest.raises(RecipeError, match="at least 16 characters"):
        require_safe("127.0.0.1", token)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8300", "localhost.evil.example", "127.0.0.1.nip.io", "[::1", "0.0.0.0", ""]
)
def test_a_name_that_was_made_to_lead_here_is_refused(store: Store, host: str) -> None:
    for own in ("localhost", "localhost:9000", "127.0.0.1:1", "[::1]:8300", "LOCALHOST"):
        assert client(store).get("/", headers={"Host": own}).status_code == 200
    answer = client(store).get("/", headers={"Host": host})
    assert (answer.status_code, answer.text) == (400, "Invalid host header")
    assert answer.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("address", ["/", "/runs/a", "/script.js", "/style.css", "/report?run=a", "/?token=wrong"])
def test_without_the_token_nothing_is_shown(store: Store, address: str) -> None:
    answer = client(store, TOKEN).get(address)
    assert (answer.status_code, answer.text) == (401, "This server needs a token: open it once as /?token=TOKEN.")


def test_the_token_is_given_once_and_then_a_cookie_that_scripts_and_other_sites_do_not_get(store: Store) -> None:
    browser = client(store, TOKEN)
    first = browser.get(f"/?q=a%26b&token={TOKEN}")
    assert first.status_code == 200
    assert 'content="0;url=/?q=a%26b"' in first.text
    assert TOKEN not in first.text
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    assert "<h1>Runs</h1>" in browser.get("/").text
    browser.cookies.set("nws_serve_8300", "0" * 64)
    assert client(store, TOKEN).get("/", headers={"Cookie": "nws_serve_8300=x; a=\x00"}).status_code == 401


def test_the_way_on_never_leads_to_another_host(store: Store) -> None:
    for path in ("//evil.example/", "/%2F%2Fevil.example", "/\\evil.example", '/"><script>x</script>'):
        told = client(store, TOKEN).get(f"http://127.0.0.1:8300{path}?token={TOKEN}").text
        target = told.split("url=")[1].split('"')[0]
        assert target.startswith("/")
        assert not target.startswith(("//", "/\\"))
        assert "<script>" not in told


def test_a_program_sends_the_token_in_a_header(store: Store) -> None:
    programs = client(store, TOKEN)
    assert programs.get("/", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert programs.get("/", headers={"Authorization": f"bearer {TOKEN}"}).status_code == 200
    for wrong in (f"Basic {TOKEN}", TOKEN, "Bearer ", f"Bearer {TOKEN}x", "Bearer é"):
        assert programs.get("/", headers={"Authorization": wrong.encode()}).status_code == 401


@pytest.mark.parametrize("method", ["POST", "OPTIONS"])
def test_it_is_only_read_from(store: Store, method: str) -> None:
    answer = client(store).request(method, "/")
    assert (answer.status_code, set(answer.headers["allow"].split(", "))) == (405, {"GET", "HEAD"})


def test_pages_of_other_sites_may_lead_here_and_not_ask(store: Store) -> None:
    other = {"Sec-Fetch-Site": "cross-site"}
    assert client(store).get("/", headers={**other, "Sec-Fetch-Mode": "no-cors"}).status_code == 403
    assert client(store).get("/", headers={**other, "Sec-Fetch-Mode": "navigate"}).status_code == 200


@pytest.mark.parametrize("address", ["/", "/no", "/runs/no", "/style.css", "/?page=99"])
def test_a_browser_runs_and_asks_nothing_else(store: Store, address: str) -> None:
    headers = client(store).get(address).headers
    policy = headers["content-security-policy"].split("; ")
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "address",
    [
        *("/../../etc/passwd", "/runs/..%2f..%2fetc%2fpasswd", "/runs/%2e%2e", "/runs/a%00b", "/runs/%3Cscript%3E"),
        *("/runs/%ff", "/style.css/../app.py"),
    ],
)
def test_an_address_is_no_path(store: Store, address: str) -> None:
    answer = client(store).get(address)
    assert answer.status_code == 404
    assert "<script>" not in answer.text
    assert "root:" not in answer.text


def test_a_port_that_is_taken_is_said() -> None:
    with (
        listen("127.0.0.1", 0) as taken,
        pytest.raises(NwsError, match=r"The server cannot listen at 127\.0\.0\.1, port"),
    ):
        listen("127.0.0.1", taken.getsockname()[1])
    with pytest.raises(NwsError, match="The server cannot listen at no-such-host"):
        listen("no-such-host.invalid", 0)


def test_the_command_refuses_in_words_before_it_listens(nws, tmp_path: Path) -> None:
    result = nws("serve", "--host", "0.0.0.0")
    assert result.code == 2
    assert "others could read this store" in result.err
    result = nws("serve", "--store", f"sqlite:///{tmp_path / 'none.db'}")
    assert (result.code, "there is no store" in result.err) == (1, True)
    assert list(tmp_path.iterdir()) == []
