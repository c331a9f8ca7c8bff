"""A third-party application of the open API: Python 3.9 or newer, nothing to install.

    CLIENT_ID=... CLIENT_SECRET=... python3 docs/examples/third_party_app.py [--tmdb-id 19995]

A program for one person: it prints an address to open in a browser, waits for the answer, unlocks the first resource
of a film, refreshes its tokens and revokes them. It speaks OAuth as RFC 6749 has it, with the endpoints it finds by
RFC 8414.
"""

import argparse
import base64
import hashlib
import html
import http.server
import json
import os
import secrets
import sys
import urllib.error
import urllib.parse
import urllib.request

TIMEOUT_SECONDS = 20
SCOPE = "meta query unlock"


class ApiFailure(Exception):
    """The service refused; `code` is the stable word for why."""

    def __init__(self, code, message):
        super().__init__(f"{message} ({code})")
        self.code = code


class Authorization:
    """Tokens of one user, from the question in the browser to the end."""

    def __init__(self, service, client_id, client_secret, redirect_uri):
        self.client_id = client_id
        self.client_secret = client_secret
        self.redirect_uri = redirect_uri
        self.state = secrets.token_urlsafe(16)
        self.verifier = secrets.token_urlsafe(48)
        self.tokens = None
        # RFC 8414: the server says itself where its endpoints are.
        _, self.server = send(f"{service}/.well-known/oauth-authorization-server")
        if self.server["issuer"] != service:
            raise SystemExit(f"{service} calls itself {self.server['issuer']}: use that address.")

    def address(self):
        digest = hashlib.sha256(self.verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": SCOPE,
            "state": self.state,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        return f"{self.server['authorization_endpoint']}?{urllib.parse.urlencode(query)}"

    def finish(self, answer):
        """`answer`: the query of the callback. Only an answer to our own question, from our own server, counts."""
        if not secrets.compare_digest(answer.get("state", "").encode(), self.state.encode()):
            raise ApiFailure("invalid_state", "This answer was not asked for")
        if answer.get("iss") != self.server["issuer"]:
            raise ApiFailure("invalid_issuer", f"This answer is from {answer.get('iss')}")
        if "error" in answer:
            raise ApiFailure(answer["error"], answer.get("error_description", "Not authorised"))
        self.tokens = self.request(
            "token_endpoint",
            grant_type="authorization_code",
            code=answer.get("code", ""),
            redirect_uri=self.redirect_uri,
            code_verifier=self.verifier,
        )

    def refresh(self):
        self.tokens = self.request(
            "token_endpoint", grant_type="refresh_token", refresh_token=self.tokens["refresh_token"]
        )

    def revoke(self):
        self.request("revocation_endpoint", token=self.tokens["refresh_token"], token_type_hint="refresh_token")

    def request(self, endpoint, **form):
        # RFC 6749 section 2.3.1: both halves are encoded before they are joined.
        pair = f"{urllib.parse.quote_plus(self.client_id)}:{urllib.parse.quote_plus(self.client_secret)}"
        headers = {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}
        status, answer = send(self.server[endpoint], headers, urllib.parse.urlencode(form).encode())
        if status != 200:
            raise ApiFailure(answer["error"], answer.get("error_description", ""))
        return answer


class OpenApi:
    """Calls on behalf of the user."""

    def __init__(self, service, authorization):
        self.service = service
        self.authorization = authorization

    def call(self, path, body=None):
        """One call; refreshes once where the access token has expired."""
        status, answer = self.attempt(path, body)
        if answer["code"] == "OPENAPI_REFRESH_REQUIRED":
            self.authorization.refresh()
            status, answer = self.attempt(path, body)
        if status != 200 or not answer["success"]:
            raise ApiFailure(answer["code"], answer["message"])
        return answer["data"]

    def attempt(self, path, body):
        headers = {
            "X-API-Key": self.authorization.client_secret,
            "Authorization": f"Bearer {self.authorization.tokens['access_token']}",
        }
        if body is None:
            return send(f"{self.service}/api/open{path}", headers)
        headers["Content-Type"] = "application/json"
        return send(f"{self.service}/api/open{path}", headers, json.dumps(body).encode())


def send(address, headers=None, body=None):
    """Status and JSON of an answer; errors of the service are JSON too."""
    request = urllib.request.Request(address, data=body, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def wait_for_answer(port, announce):
    """Listens for the browser's way back; the query it brings, as a dictionary."""
    received = {}

    class Callback(http.server.BaseHTTPRequestHandler):
        timeout = TIMEOUT_SECONDS

        def do_GET(self):
            address = urllib.parse.urlsplit(self.path)
            if address.path != "/callback":
                self.send_error(404)
                return
            received.update(urllib.parse.parse_qsl(address.query))
            text = html.escape("Denied." if "error" in received else "Done: go back to the program.")
            page = f"<!doctype html><title>A third-party application</title><p>{text}</p>".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_):
            pass  # the address holds the code

    with http.server.HTTPServer(("127.0.0.1", port), Callback) as server:
        announce()
        while not received:
            server.handle_request()
    return received


def main():
    parser = argparse.ArgumentParser(description="Authorise, unlock, refresh, revoke.")
    parser.add_argument("--tmdb-id", default="19995", help="the film whose first resource is unlocked")
    parser.add_argument("--port", type=int, default=8090, help="of the redirect address")
    options = parser.parse_args()
    service = os.environ.get("SHARING_URL", "http://127.0.0.1:8081").rstrip("/")
    try:
        client_id, client_secret = os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"]
    except KeyError as missing:
        return f"{missing.args[0]} is missing: register an application, or run npm run seed:demo."

    redirect_uri = f"http://127.0.0.1:{options.port}/callback"
    authorization = Authorization(service, client_id, client_secret, redirect_uri)
    say = lambda text: print(text, flush=True)
    try:
        answer = wait_for_answer(options.port, lambda: say(f"Open this in a browser:\n{authorization.address()}"))
        authorization.finish(answer)
        say(f"Authorised for: {authorization.tokens['scope']}")
        api = OpenApi(service, authorization)
        say(f"Ping: {api.call('/ping')['message']}")
        resources = api.call(f"/resources/movie/{urllib.parse.quote(options.tmdb_id, safe='')}")
        say(f"Resources: {len(resources)}")
        for resource in resources[:1]:
            unlocked = api.call("/resources/unlock", {"slug": resource["slug"]})
            state = "was ours already" if unlocked["already_owned"] else "is unlocked"
            say(f"{resource['title']} {state}: {unlocked['full_url']}")
        authorization.refresh()
        say(f"Refreshed; ping: {api.call('/ping')['message']}")
        authorization.revoke()
        say("Revoked.")
    except ApiFailure as failure:
        return f"Refused: {failure}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
