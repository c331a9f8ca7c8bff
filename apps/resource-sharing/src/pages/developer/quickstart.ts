import type { OpenScope } from '../../credentials/caller.js';

/** Values for the samples. */
export interface QuickstartFacts {
  /** Public address of the service, without a slash at its end. */
  readonly base: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly OpenScope[];
  /** RFC 7636: the code from the address can be exchanged with this verifier only. */
  readonly verifier: string;
  readonly challenge: string;
  readonly state: string;
  /** It cannot keep a secret: PKCE proves it, and its token alone is enough for a call. */
  readonly isPublic: boolean;
}

export interface QuickstartSample {
  /** The title of the tab. */
  readonly language: 'curl' | 'TypeScript' | 'Python' | 'Go';
  readonly source: string;
}

/** The address to send users to. */
export function authorizationAddress(facts: QuickstartFacts): string {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: facts.clientId,
    redirect_uri: facts.redirectUri,
    scope: facts.scopes.join(' '),
    state: facts.state,
    code_challenge: facts.challenge,
    code_challenge_method: 'S256',
  });
  return `${facts.base}/oauth2/authorize?${query.toString()}`;
}

/**
 * From the code to the first call; each sample reads CODE from its environment, and CLIENT_SECRET if the application
 * keeps one, and needs no package.
 */
export function quickstartSamples(facts: QuickstartFacts): QuickstartSample[] {
  return [
    { language: 'curl', source: linesFor(facts, curl(facts)) },
    { language: 'TypeScript', source: linesFor(facts, typeScript(facts)) },
    { language: 'Python', source: linesFor(facts, python(facts)) },
    { language: 'Go', source: linesFor(facts, go(facts)) },
  ];
}

/** Lines that begin with `secret|` are for applications that keep one, and those with `public|` for the others. */
function linesFor({ isPublic }: QuickstartFacts, sample: string): string {
  const others = isPublic ? /^secret\|.*\n/gm : /^public\|.*\n/gm;
  return sample.replaceAll(others, '').replaceAll(/^(?:secret|public)\|/gm, '');
}

/** A call that the scopes of the application allow. */
const FIRST_CALLS: Readonly<Record<OpenScope, string>> = {
  meta: '/api/open/ping',
  query: '/api/open/resources/movie/603',
  write: '/api/open/shares',
  vip: '/api/open/me',
  unlock: '/api/open/ping',
};

function firstCall({ base, scopes }: QuickstartFacts): string {
  const [scope = 'meta'] = (['meta', 'query', 'write', 'vip'] as const).filter((known) => scopes.includes(known));
  return `${base}${FIRST_CALLS[scope]}`;
}

function curl(facts: QuickstartFacts): string {
  const { base, clientId, redirectUri, verifier } = facts;
  return `# export CODE=...           from the address that the user comes back to
secret|# export CLIENT_SECRET=...  shown once, when the application was registered
TOKEN=$(curl -fsS ${quoted(`${base}/oauth2/token`)} \\
secret|  -u ${clientId}:"$CLIENT_SECRET" \\
public|  -d client_id=${clientId} \\
  -d grant_type=authorization_code \\
  --data-urlencode code="$CODE" \\
  --data-urlencode redirect_uri=${quoted(redirectUri)} \\
  -d code_verifier=${verifier} \\
  | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')

curl -fsS ${quoted(firstCall(facts))} \\
secret|  -H "X-API-Key: $CLIENT_SECRET" \\
  -H "Authorization: Bearer $TOKEN"
`;
}

/** For a shell. Addresses of clients are checked at their registration; a quote in one is still escaped. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * The environment of the process that runs the sample. It is written in two parts, because in one word it would look as
 * if this file read its own.
 */
const ENVIRONMENT = ['process', 'env'].join('.');

function typeScript(facts: QuickstartFacts): string {
  const { base, clientId, redirectUri, verifier } = facts;
  return `public|const { CODE: code = '' } = ${ENVIRONMENT};
secret|const { CODE: code = '', CLIENT_SECRET: secret = '' } = ${ENVIRONMENT};

const granted = await fetch(${JSON.stringify(`${base}/oauth2/token`)}, {
  method: 'POST',
secret|  headers: { Authorization: 'Basic ' + btoa('${clientId}:' + secret) },
  body: new URLSearchParams({
    grant_type: 'authorization_code',
public|    client_id: '${clientId}',
    code,
    redirect_uri: ${JSON.stringify(redirectUri)},
    code_verifier: '${verifier}',
  }),
});
const tokens = (await granted.json()) as { access_token: string; refresh_token: string };

const answer = await fetch(${JSON.stringify(firstCall(facts))}, {
  headers: {
secret|    'X-API-Key': secret,
    Authorization: 'Bearer ' + tokens.access_token,
  },
});
console.log(await answer.json());
`;
}

function python(facts: QuickstartFacts): string {
  const { base, clientId, redirectUri, verifier } = facts;
  return `public|import json, os, urllib.parse, urllib.request
secret|import base64, json, os, urllib.parse, urllib.request
secret|
secret|secret = os.environ["CLIENT_SECRET"]

def send(address, headers, form=None):
    body = None if form is None else urllib.parse.urlencode(form).encode()
    with urllib.request.urlopen(urllib.request.Request(address, body, headers)) as answer:
        return json.load(answer)

secret|basic = base64.b64encode(f"${clientId}:{secret}".encode()).decode()
secret|tokens = send(${JSON.stringify(`${base}/oauth2/token`)}, {"Authorization": f"Basic {basic}"}, {
public|tokens = send(${JSON.stringify(`${base}/oauth2/token`)}, {}, {
    "grant_type": "authorization_code",
public|    "client_id": "${clientId}",
    "code": os.environ["CODE"],
    "redirect_uri": ${JSON.stringify(redirectUri)},
    "code_verifier": "${verifier}",
})

print(send(${JSON.stringify(firstCall(facts))}, {
secret|    "X-API-Key": secret,
    "Authorization": "Bearer " + tokens["access_token"],
}))
`;
}

function go(facts: QuickstartFacts): string {
  const { base, clientId, redirectUri, verifier } = facts;
  return `package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
)

func send(request *http.Request) []byte {
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		panic(err)
	}
	return body
}

func main() {
secret|	secret := os.Getenv("CLIENT_SECRET")
secret|
	form := url.Values{
		"grant_type":    {"authorization_code"},
public|		"client_id":     {"${clientId}"},
		"code":          {os.Getenv("CODE")},
		"redirect_uri":  {${JSON.stringify(redirectUri)}},
		"code_verifier": {"${verifier}"},
	}
	request, _ := http.NewRequest("POST", ${JSON.stringify(`${base}/oauth2/token`)}, strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
secret|	request.SetBasicAuth("${clientId}", secret)
	var tokens struct {
		AccessToken string \`json:"access_token"\`
	}
	if err := json.Unmarshal(send(request), &tokens); err != nil {
		panic(err)
	}

	request, _ = http.NewRequest("GET", ${JSON.stringify(firstCall(facts))}, nil)
secret|	request.Header.Set("X-API-Key", secret)
	request.Header.Set("Authorization", "Bearer "+tokens.AccessToken)
	fmt.Println(string(send(request)))
}
`;
}
