"""Authlib signs a user in: one request a line on standard input as JSON, one answer a line out."""

import json
import sys

from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.jwk import KeySet
from requests import get


class Party:
    def __init__(self, setup):
        self.issuer = setup["issuer"]
        self.client_id = setup["client"]["id"]
        self.metadata = get(self.issuer + "/.well-known/openid-configuration", timeout=20).json()
        self.verifier = generate_token(64)
        self.nonce = generate_token(20)
        self.session = OAuth2Session(
            self.client_id,
            setup["client"]["secret"],
            scope=" ".join(setup["scopes"]),
            redirect_uri=setup["redirectUri"],
            code_challenge_method="S256",
        )

    def authorization_url(self):
        url, self.state = self.session.create_authorization_url(
            self.metadata["authorization_endpoint"], code_verifier=self.verifier, nonce=self.nonce
        )
        return url

    def sign_in(self, callback):
        tokens = self.session.fetch_token(
            self.metadata["token_endpoint"],
            authorization_response=callback,
            state=self.state,
            code_verifier=self.verifier,
        )
        keys = KeySet.import_key_set(get(self.metadata["jwks_uri"], timeout=20).json())
        algorithms = self.metadata["id_token_signing_alg_values_supported"]
        token = jwt.decode(tokens["id_token"], keys, algorithms=algorithms)
        claims = CodeIDToken(
            token.claims,
            token.header,
            {"iss": {"essential": True, "value": self.issuer}, "aud": {"essential": True, "value": self.client_id}},
            {"nonce": self.nonce, "client_id": self.client_id, "access_token": tokens["access_token"]},
        )
        claims.validate(leeway=5)
        answer = self.session.get(self.metadata["userinfo_endpoint"], timeout=20)
        answer.raise_for_status()
        return {"claims": dict(token.claims), "userInfo": answer.json()}


def main():
    party = Party(json.loads(sys.argv[1]))
    for line in sys.stdin:
        name, *values = json.loads(line)
        try:
            answer = {"result": getattr(party, name)(*values)}
        except Exception as error:  # reported to the test, which fails
            answer = {"failed": repr(error)}
        print(json.dumps(answer), flush=True)


main()
