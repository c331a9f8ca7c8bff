import { AppError, clientAddress, onAnswered, type ClientAddress } from '@gatehouse/platform';
import { Injectable, RequestMethod, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { CredentialLookup } from '../credentials/credential-lookup.js';
import {
  isPublic,
  type CallingCredential,
  type KeyRecord,
  type TokenRecord,
} from '../credentials/credential-records.js';
import { LastUse } from '../credentials/last-use.js';
import { whenThere, type Soon } from '../credentials/revocable-cache.js';
import { RefusedCalls } from '../refused-calls/refused-calls.js';
import { TestAccounts } from '../test-mode/test-accounts.js';
import {
  apiKeyOf,
  assertProvesCaller,
  assertUsableClient,
  assertUsableKey,
  assertUsableToken,
  bearerOf,
  missingKey,
  userTokenOf,
} from './caller-of-request.js';
import {
  OPEN_OPERATION,
  setCaller,
  type Caller,
  type OpenOperationOptions,
  type OpenScope,
} from '../credentials/caller.js';
import { Callers } from './callers.js';
import { EndpointSwitches } from './endpoint-switches.js';
import { scopeError } from './refusals.js';

interface Operation extends OpenOperationOptions {
  /** Method and route, such as `GET /api/open/ping`. */
  readonly name: string;
}

interface Call {
  readonly request: Request;
  readonly operation: Operation;
  readonly client: ClientAddress;
  readonly response: Response;
}

/**
 * Guards every operation with @OpenOperation(): identifies the caller and checks its rights. Other requests pass
 * unchecked.
 */
@Injectable()
export class OpenApiGuard implements CanActivate {
  private readonly operations = new WeakMap<object, Operation | null>();
  private readonly callers = new Callers();

  constructor(
    private readonly lookup: CredentialLookup,
    private readonly switches: EndpointSwitches,
    private readonly lastUse: LastUse,
    private readonly refused: RefusedCalls,
    private readonly testAccounts: TestAccounts,
  ) {}

  /** Answers immediately for known callers. */
  canActivate(context: ExecutionContext): Soon<boolean> {
    const operation = this.operationOf(context);
    if (operation === null) return true;
    const request = context.getArgByIndex<Request>(0);
    const response = context.getArgByIndex<Response>(1);
    const call = { request, operation, client: clientAddress(request), response };
    const key = apiKeyOf(request.headers);
    return key === undefined ? this.admitWithToken(call) : this.admitWithKey(call, key);
  }

  private admitWithKey(call: Call, text: string): Soon<boolean> {
    const { headers, socket } = call.request;
    const bearer = userTokenOf(headers);
    return whenThere(this.lookup.key(text, socket), (record) =>
      this.logged(call, record ?? undefined, () => this.admitCaller(call, record, bearer)),
    );
  }

  private admitCaller(call: Call, record: KeyRecord | null, bearer: string | undefined): Soon<boolean> {
    const key = assertUsableKey(record, call.client.ip);
    if (bearer === undefined) {
      assertProvesCaller(key);
      return this.admit(call, key, undefined);
    }
    return whenThere(this.lookup.token(bearer, call.request.socket), (token) =>
      this.admit(call, key, assertUsableToken(token, key.application?.id)),
    );
  }

  /** The token of a public application also names the application. Without the key, any other token is not looked at. */
  private admitWithToken(call: Call): Soon<boolean> {
    const { headers, socket } = call.request;
    const bearer = bearerOf(headers);
    if (bearer === undefined) throw missingKey();
    return whenThere(this.lookup.token(bearer, socket), (token) => {
      if (token === null) throw missingKey();
      return whenThere(this.lookup.client(token.clientId), (client) => {
        if (client === null || !isPublic(client)) throw missingKey();
        const credential = this.callers.credentialOf(client);
        return this.logged(call, credential, () => {
          assertUsableClient(client, call.client.ip);
          return this.admit(call, credential, assertUsableToken(token, client.id));
        });
      });
    });
  }

  /** A refusal is recorded for the owner: the guard of limits counts only calls that get to it. */
  private logged(call: Call, credential: CallingCredential | undefined, admit: () => Soon<boolean>): Soon<boolean> {
    const fail = (error: unknown): never => {
      if (credential !== undefined) this.noteRefusal(call, credential);
      throw error;
    };
    try {
      const admitted = admit();
      return admitted instanceof Promise ? admitted.catch(fail) : admitted;
    } catch (error) {
      return fail(error);
    }
  }

  private noteRefusal({ operation: { name }, response }: Call, { application, kind }: CallingCredential): void {
    if (application === null) return;
    const [method = '', endpoint = ''] = name.split(' ');
    onAnswered(response, (status, _milliseconds, { requestId, errorCode: code = '' }) => {
      const isTest = kind === 'test';
      this.refused.note(application.id, { at: new Date(), method, endpoint, status, code, requestId, isTest });
    });
  }

  private admit(
    { request, operation, client }: Call,
    credential: CallingCredential,
    token: TokenRecord | undefined,
  ): Soon<boolean> {
    return whenThere(this.switches.isDisabled(operation.name), (disabled) => {
      if (disabled) throw new AppError('ENDPOINT_DISABLED');
      const caller = this.callers.of(credential, token);
      assertAllowed(caller, credential.scopes, operation);
      if (credential.id !== null) this.lastUse.note(credential.id, client.ip);
      if (!caller.isTest) return this.pass(request, caller);
      return whenThere(this.testAccounts.callerOf(caller), (tested) => this.pass(request, tested));
    });
  }

  private pass(request: Request, caller: Caller): boolean {
    setCaller(request, caller);
    return true;
  }

  /** Metadata of a route never changes: it is read once. */
  private operationOf(context: ExecutionContext): Operation | null {
    const handler = context.getHandler();
    const known = this.operations.get(handler);
    if (known !== undefined) return known;
    const options = Reflect.getMetadata(OPEN_OPERATION, handler) as OpenOperationOptions | undefined;
    const operation = options === undefined ? null : { ...options, name: operationName(context) };
    this.operations.set(handler, operation);
    return operation;
  }
}

function assertAllowed(caller: Caller, ofKey: readonly OpenScope[], { scope, user }: Operation): void {
  if (!ofKey.includes(scope)) throw scopeError('SCOPE_NOT_ALLOWED', scope);
  if (!caller.scopes.includes(scope)) throw scopeError('USER_SCOPE_NOT_ALLOWED', scope);
  if (user === undefined) return;
  if (caller.userId === null) throw new AppError('OPENAPI_USER_REQUIRED');
  if (user === 'premium' && !caller.isPremium) throw new AppError('VIP_REQUIRED');
}

function operationName(context: ExecutionContext): string {
  const handler = context.getHandler();
  const parts = [context.getClass(), handler].map((target) => firstPath(Reflect.getMetadata('path', target)));
  const path = parts.map((part) => part.replace(/^\/|\/$/g, '')).filter((part) => part !== '');
  const method = (Reflect.getMetadata('method', handler) ?? RequestMethod.GET) as RequestMethod;
  return `${RequestMethod[method]} /${path.join('/')}`;
}

function firstPath(path: unknown): string {
  const [first] = [path].flat() as unknown[];
  return typeof first === 'string' ? first : '';
}
