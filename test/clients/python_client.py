"""Drives the Python client for python.e2e-spec.ts: a line of JSON with a command in, a line with its outcome out."""

import json
import sys
import threading
from dataclasses import asdict, replace

import httpx
from gatehouse_sharing import MemoryTokens, PendingSignIn, Retries, SharingClient, SharingError, every_item
from gatehouse_sharing.generated.api.resources import resources_of_title, unlocks_unlock
from gatehouse_sharing.generated.api.shares import shares_create, shares_detail, shares_list
from gatehouse_sharing.generated.api.usage import quota_ping
from gatehouse_sharing.generated.api.vip import profile_me
from gatehouse_sharing.generated.models.create_share_body import CreateShareBody
from gatehouse_sharing.generated.models.resources_of_title_type import ResourcesOfTitleType
from gatehouse_sharing.generated.models.unlock_body import UnlockBody

setup = json.loads(sys.argv[1])


class Network(httpx.BaseTransport):
    """The network between client and service, and what goes wrong in it: a status, `lost`, `unreachable`."""

    def __init__(self) -> None:
        self._inner = httpx.HTTPTransport()
        self._lock = threading.Lock()
        self.faults: list = []
        self.sent: list[str] = []
        self.keys: list[str | None] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        with self._lock:
            self.sent.append(f"{request.method} {request.url.path}")
            self.keys.append(request.headers.get("idempotency-key"))
            fault = self.faults.pop(0) if self.faults else None
        if fault == "unreachable":
            raise httpx.ConnectError("refused")
        if isinstance(fault, list):
            return httpx.Response(fault[0], headers={"retry-after": fault[1]} if fault[1] else {})
        answer = self._inner.handle_request(request)
        if fault == "lost":
            answer.read()
            raise httpx.ReadError("cut")
        return answer


network = Network()
store = MemoryTokens()
client = SharingClient(
    setup["url"],
    client_id=setup.get("clientId"),
    secret=setup.get("secret"),
    tokens=store,
    retries=Retries(first_wait=0.005),
    transport=network,
)


def me() -> str:
    return profile_me.sync(client=client.api).data.username


def start(scopes: list[str]) -> dict:
    url, pending = client.start_sign_in("https://client.example/callback", scopes)
    return {"url": url, "pending": asdict(pending)}


def finish(callback: str, pending: dict) -> list[str]:
    return list(client.finish_sign_in(callback, PendingSignIn(**pending)).scopes)


def change(**fields) -> None:
    store.save(replace(store.load(), **fields))


def together(count: int) -> list[str]:
    names: list[str] = []
    threads = [threading.Thread(target=lambda: names.append(me())) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return names


def unlock(slug: str) -> str:
    return unlocks_unlock.sync(client=client.api, body=UnlockBody(slug=slug)).data.url


def share(url: str, title: str) -> str:
    body = CreateShareBody.from_dict({"url": url, "tmdb_id": "680", "media_type": "movie", "title": title})
    return shares_create.sync(client=client.api, body=body).data.slug


def titles(size: int) -> list[str]:
    return [
        item.title for item in every_item(lambda page: shares_list.sync(client=client.api, page=page, page_size=size))
    ]


def take_sent() -> dict:
    sent, network.sent = network.sent, []
    keys, network.keys = network.keys, []
    return {"sent": sent, "keys": keys}


def device(scopes: list[str]) -> list[str]:
    def show(code) -> None:
        print(json.dumps({"result": [code.user_code, code.address]}), flush=True)

    return list(client.sign_in_on_device(scopes, show).scopes)


COMMANDS = {
    "start": start,
    "finish": finish,
    "me": me,
    "ping": lambda: quota_ping.sync(client=client.api).data.name,
    "expire": lambda: change(expires_at=0),
    "spoil": lambda: change(access_token="hat_unknown"),
    "together": together,
    "signed_in": lambda: store.load() is not None,
    "sign_out": client.sign_out,
    "fault": lambda *faults: network.faults.extend(faults),
    "take_sent": take_sent,
    "unlock": unlock,
    "share": share,
    "titles": titles,
    "missing": lambda: shares_detail.sync(slug="f" * 32, client=client.api),
    "of_title": lambda: resources_of_title.sync(ResourcesOfTitleType.MOVIE, "19995", client=client.api).meta.total,
    "device": device,
}

for line in sys.stdin:
    name, *values = json.loads(line)
    try:
        outcome = {"result": COMMANDS[name](*values)}
    except SharingError as error:
        outcome = {"refused": {"type": type(error).__name__, **asdict(error)}}
    print(json.dumps(outcome), flush=True)
