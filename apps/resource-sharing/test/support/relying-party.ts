import * as openid from 'openid-client';
import { expect } from 'vitest';
import { PageReader } from './page-reader.js';
import { CALLBACK, PASSWORD, type RegisteredApp, type ThirdParty } from './third-party.js';

/** The issuer of a service without RESOURCE_SHARING_PUBLIC_URL. */
export const ISSUER = 'http://127.0.0.1:8081';

export interface Answered {
  readonly tokens: openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers;
  readonly claims: openid.IDToken;
  readonly nonce: string;
}

/** A new user, whose browser is logged in at `url`. */
export async function newMember(
  url: string,
  people: ThirdParty,
): Promise<{ id: number; name: string; reader: PageReader }> {
  const { id, name } = await people.user();
  const reader = new PageReader(url);
  await reader.logIn(name, PASSWORD);
  return { id, name, reader };
}

/** The parameters with which the browser was sent back to the application. */
export function answerOf(reader: PageReader): Record<string, string> {
  expect(reader.last?.status).toBe(303);
  expect(reader.location.startsWith(`${CALLBACK}?`), reader.location).toBe(true);
  return Object.fromEntries(new URL(reader.location).searchParams);
}

type Parameters = Readonly<Record<string, string>>;

/** An application that lets its users sign in: openid-client, which verifies every id_token with the published keys. */
export class RelyingParty {
  readonly config: openid.Configuration;
  readonly app: RegisteredApp;
  private readonly verifier = openid.randomPKCECodeVerifier();

  private constructor(config: openid.Configuration, app: RegisteredApp) {
    this.config = config;
    this.app = app;
  }

  /** Reads the discovery document of the service at `url`, which calls itself ISSUER. */
  static async of(url: string, app: RegisteredApp): Promise<RelyingParty> {
    const isPublic = app.application.kind !== 'confidential';
    const authentication = isPublic ? openid.None() : openid.ClientSecretBasic(app.secret);
    const config = await openid.discovery(new URL(ISSUER), app.clientId, undefined, authentication, {
      execute: [openid.allowInsecureRequests, openid.enableNonRepudiationChecks],
      [openid.customFetch]: (address, init) =>
        fetch(address.replace(ISSUER, url), init as RequestInit) as Promise<Response>,
    });
    return new RelyingParty(config, app);
  }

  /** Path of an authorization request. */
  async path(parameters: Parameters = {}): Promise<string> {
    const url = openid.buildAuthorizationUrl(this.config, {
      redirect_uri: CALLBACK,
      scope: 'openid',
      code_challenge: await openid.calculatePKCECodeChallenge(this.verifier),
      code_challenge_method: 'S256',
      ...parameters,
    });
    return `${url.pathname}${url.search}`;
  }

  /** Trades the code of an answer, and verifies what comes back. */
  async exchange(location: string, checks: openid.AuthorizationCodeGrantChecks = {}): Promise<Answered['tokens']> {
    return openid.authorizationCodeGrant(this.config, new URL(location), {
      pkceCodeVerifier: this.verifier,
      idTokenExpected: true,
      ...checks,
    });
  }

  /** From the request to verified claims, with a user who allows everything. */
  async signIn(reader: PageReader, parameters: Parameters = {}): Promise<Answered> {
    const nonce = openid.randomNonce();
    const asked = { nonce, ...parameters };
    const path = await this.path(asked);
    await reader.get(path);
    if (reader.last?.status === 200) {
      await reader.submit(path, { decision: 'allow', scope: (asked as Parameters)['scope']?.split(' ') ?? ['openid'] });
    }
    const tokens = await this.exchange(reader.location, { expectedNonce: nonce });
    const claims = tokens.claims();
    if (claims === undefined) throw new Error('there is no id_token');
    return { tokens, claims, nonce };
  }
}
