"""Authlib and requests-oauthlib behind lines of JSON: one request a line on standard input, one answer a line out."""

import json
import sys

from authlib.common.security import generate_token
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session as AuthlibSession
from oauthlib.oauth2.rfc6749.errors import OAuth2Error
from requests import post
from requests.auth import HTTPBasicAuth
from requests_oauthlib import OAuth2Session as RequestsSession


class Authlib:
    def __init__(self, setup):
        self.setup = setup
        self.verifier = generate_token(64)
        self.session = AuthlibSession(
            setup["client"]["id"],
            setup["client"]["secret"],
            token_endpoint_auth_method="client_secret_" + setup["authentication"],
            scope=setup["scope"],
            redirect_uri=setup["redirectUri"],
            code_challenge_method="S256",
        )

    def at(self, name):
        return self.setup["issuer"] + self.setup["endpoints"][name]

    def authorization_url(self):
        url, self.state = self.session.create_authorization_url(self.at("authorize"), code_verifier=self.verifier)
        return url

    def exchange(self, callback):
        return self.session.fetch_token(
            self.at("token"), authorization_response=callback, state=self.state, code_verifier=self.verifier
        )

    def refresh(self, refresh_token):
        return self.session.refresh_token(self.at("token"), refresh_token=refresh_token)

    def revoke(self, token):
        answer = self.session.revoke_token(self.at("revoke"), token=token, token_type_hint="refresh_token")
        answer.raise_for_status()

    def introspect(self, token):
        answer = self.session.introspect_token(self.at("introspect"), token=token)
        return answer.json()["active"]


class RequestsOauthlib:
    def __init__(self, setup):
        self.setup = setup
        client = setup["client"]
        self.session = RequestsSession(
            client["id"], redirect_uri=setup["redirectUri"], scope=setup["scope"].split(), pkce="S256"
        )
        self.basic = HTTPBasicAuth(client["id"], client["secret"])
        in_header = setup["authentication"] == "basic"
        self.credentials = (
            {"auth": self.basic} if in_header else {"include_client_id": True, "client_secret": client["secret"]}
        )
        self.again = {"auth": self.basic} if in_header else {"client_id": client["id"], "client_secret": client["secret"]}

    def at(self, name):
        return self.setup["issuer"] + self.setup["endpoints"][name]

    def authorization_url(self):
        url, _ = self.session.authorization_url(self.at("authorize"))
        return url

    def exchange(self, callback):
        return self.session.fetch_token(self.at("token"), authorization_response=callback, **self.credentials)

    def refresh(self, refresh_token):
        return self.session.refresh_token(self.at("token"), refresh_token=refresh_token, **self.again)

    # It makes the request and leaves the sending to its user; of introspection it knows nothing.
    def revoke(self, token):
        url, headers, body = self.session._client.prepare_token_revocation_request(
            self.at("revoke"), token, "refresh_token"
        )
        post(url, headers=headers, data=body, auth=self.basic, timeout=20).raise_for_status()

    def introspect(self, token):
        return post(self.at("introspect"), data={"token": token}, auth=self.basic, timeout=20).json()["active"]


def main():
    setup = json.loads(sys.argv[1])
    client = {"authlib": Authlib, "requests-oauthlib": RequestsOauthlib}[setup["library"]](setup)
    for line in sys.stdin:
        name, *values = json.loads(line)
        try:
            answer = {"result": getattr(client, name)(*values)}
        except (OAuthError, OAuth2Error) as error:
            answer = {"refused": error.error}
        except Exception as error:  # reported to the test, which fails
            answer = {"failed": repr(error)}
        print(json.dumps(answer), flush=True)


main()
