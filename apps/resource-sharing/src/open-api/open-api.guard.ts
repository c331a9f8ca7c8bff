import { AppError, clientAddress, onAnswered, type ClientAddress } from '@gatehouse/platform';
import { Injectable, RequestMethod, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { CredentialLookup } from '../credentials/credential-lookup.js';
import type { KeyRecord, TokenRecord } from '../credentials/credential-records.js';
import { LastUse } from '../credentials/last-use.js';
import { whenThere, type Soon } from '../credentials/revocable-cache.js';
import { RefusedCalls } from '../refused-calls/refused-calls.js';
import { apiKeyOf, assertUsableKey, assertUsableToken, userTokenOf } from './caller-of-request.js';
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
  ) {}

  /** Answers immediately for known callers. */
  canActivate(context: ExecutionContext): Soon<boolean> {
    const operation = this.operationOf(context);
    if (operation === null) return true;
    const request = context.getArgByIndex<Request>(0);
    const text = apiKeyOf(request.headers);
    const bearer = userTokenOf(request.headers);
    const call = { request, operation, client: clientAddress(request) };
    return whenThere(this.lookup.key(text, request.socket), (record) => {
      const fail = (error: unknown): never => {
        this.noteRefusal(context, operation, record?.application?.id);
        throw error;
      };
      try {
        const admitted = this.admitWith(call, record, bearer);
        return admitted instanceof Promise ? admitted.catch(fail) : admitted;
      } catch (error) {
        return fail(error);
      }
    });
  }

  private admitWith(call: Call, record: KeyRecord | null, bearer: string | undefined): Soon<boolean> {
    const key = assertUsableKey(record, call.client.ip);
    if (bearer === undefined) return this.admit(call, key, undefined);
    return whenThere(this.lookup.token(bearer, call.request.socket), (token) =>
      this.admit(call, key, assertUsableToken(token, key)),
    );
  }

  /** Recorded for the owner of the application, because the guard of limits counts only calls that get this far. */
  private noteRefusal(context: ExecutionContext, { name }: Operation, applicationId: number | undefined): void {
    if (applicationId === undefined) return;
    const [method = '', endpoint = ''] = name.split(' ');
    onAnswered(context.getArgByIndex<Response>(1), (status, _milliseconds, { requestId, errorCode }) => {
      this.refused.note(applicationId, { at: new Date(), method, endpoint, status, code: errorCode ?? '', requestId });
    });
  }

  private admit({ request, operation, client }: Call, key: KeyRecord, token: TokenRecord | undefined): Soon<boolean> {
    return whenThere(this.switches.isDisabled(operation.name), (disabled) => {
      if (disabled) throw new AppError('ENDPOINT_DISABLED');
      const caller = this.callers.of(key, token);
      assertAllowed(caller, key.scopes, operation);
      this.lastUse.note(key.id, client.ip);
      setCaller(request, caller);
      return true;
    });
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
