import { verifyPassword } from '@gatehouse/auth';
import { loadSecretKey, pgPool } from '@gatehouse/persistence';
import { AppError, clientAddress, JsonLogger, pendingSource } from '@gatehouse/platform';
import { formatIp, parseIp } from '@gatehouse/net';
import {
  readVisitorRequest,
  TunnelVisits,
  visitedTunnel,
  visitorRefusal,
  type FailedVisitors,
  type GatewayAnswer,
} from '@gatehouse/tunnel-kernel';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DataSource } from 'typeorm';
import { EventLog } from '../events/event-log.js';
import { PolicySecrets } from '../common/policy-secrets.js';
import { visitSecretOf } from '../edge-host/start-edge.js';
import { TunnelGatewaySettings } from '../settings.js';
import { VisitTries } from './visit-tries.js';
import { VisitorTurns } from './visitor-turns.js';
import { VisitedTunnels, type VisitedTunnel } from './visited-tunnels.js';

/** The pages below `/visit/`, on which visitors of raw tunnels have their address admitted. */
@Injectable()
export class Visits implements BeforeApplicationShutdown {
  private readonly tunnels: VisitedTunnels;
  private readonly visits: TunnelVisits;
  private readonly turns = new VisitorTurns();

  constructor(
    dataSource: DataSource,
    { home, secretKey, publicUrl }: TunnelGatewaySettings,
    secrets: PolicySecrets,
    private readonly events: EventLog,
    private readonly logger: JsonLogger,
  ) {
    const queries = pgPool(dataSource);
    this.tunnels = new VisitedTunnels(queries, (policyId, sealed) => secrets.open(policyId, sealed));
    const log =
      (level: 'debug' | 'log' | 'warn' | 'error') =>
      (message: string, fields?: Record<string, unknown>): void =>
        logger[level](message, fields ?? {}, 'Visits');
    this.visits = new TunnelVisits(
      {
        secret: visitSecretOf(loadSecretKey({ home, envValue: secretKey })),
        // Hashing is queued together with logins, so that guesses at tunnels do not block the console.
        verifyPassword: (encoded, password) => verifyPassword(password, encoded),
      },
      {
        now: Date.now,
        logger: { debug: log('debug'), info: log('log'), warn: log('warn'), error: log('error') },
        publicUrl,
        tries: new VisitTries(queries),
        standing: (id, address, policies) => this.tunnels.standing(id, address, policies),
        letIn: (id, address, policy, ttlSeconds) => this.tunnels.letIn(id, address, policy, ttlSeconds),
        failed: (visitors) => void this.report(visitors),
      },
    );
  }

  beforeApplicationShutdown(): void {
    this.visits.stop();
  }

  /** Answers a request; never rejects. */
  async serve(request: Request, response: Response): Promise<void> {
    await pendingSource(request);
    const { key } = clientAddress(request);
    if (!this.turns.take(key)) return send(request, response, busy(request));
    try {
      send(request, response, await this.answer(request));
    } catch (error) {
      if (!(error instanceof AppError)) this.logger.error('a visitor could not be answered', { error }, 'Visits');
      send(request, response, busy(request));
    } finally {
      this.turns.done(key);
    }
  }

  private async answer(request: Request): Promise<GatewayAnswer> {
    const id = visitedTunnel(request.url);
    const address = parseIp(clientAddress(request).ip);
    const tunnel = id === null || address === null ? null : await this.tunnels.find(id);
    if (!tunnel || address === null) return nothingHere(request);
    const asked = readVisitorRequest(arrivalOf(tunnel, formatIp(address), request), request);
    return asked ? this.visits.answer(asked, tunnel.policies) : nothingHere(request, 400);
  }

  private async report({ resource, clientId, policyId, address, count }: FailedVisitors): Promise<void> {
    try {
      const tunnel = await this.tunnels.find(resource.id);
      await this.events.record({
        type: 'auth.visitor_failed',
        resource: { kind: 'tunnel', id: resource.id },
        ownerUserId: tunnel?.ownerUserId ?? null,
        message: `${count === 1 ? 'A visitor' : `${count} visitors`} did not prove who they are`,
        data: { client_id: clientId, policy_id: policyId, address, count },
      });
    } catch (error) {
      // The visitor stays refused; only the event is missing.
      this.logger.warn('an event could not be recorded', { error }, 'Visits');
    }
  }
}

function arrivalOf(
  { id, clientId }: VisitedTunnel,
  address: string,
  request: Request,
): Parameters<typeof readVisitorRequest>[0] {
  return {
    resource: { kind: 'tunnel', id },
    clientId,
    visitor: { address, port: request.socket.remotePort ?? 0 },
    scheme: request.protocol === 'https' ? 'https' : 'http',
  };
}

/** The same answer whether the tunnel does not exist or cannot be visited. */
function nothingHere(request: Request, status = 404): GatewayAnswer {
  return visitorRefusal(readerOf(request), status, 'nothingToProve');
}

function busy(request: Request): GatewayAnswer {
  return visitorRefusal(readerOf(request), 503, 'notChecked', [['retry-after', '1']]);
}

function readerOf({ method, headers, url }: Request): Parameters<typeof visitorRefusal>[0] {
  return { method, headers, target: url };
}

function send(request: Request, response: Response, { status, headers, body }: GatewayAnswer): void {
  if (response.headersSent || response.destroyed) return;
  response.status(status);
  // Headers of the platform stay where the page sets none.
  for (const name of new Set(headers.map(([field]) => field))) {
    const values = headers.filter(([field]) => field === name).map(([, value]) => value);
    response.setHeader(name, values.length === 1 ? (values[0] ?? '') : values);
  }
  if (!response.hasHeader('cache-control')) response.setHeader('cache-control', 'no-store');
  // The unread rest of a body must not be parsed as the next request.
  if (!request.readableEnded && request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('connection', 'close');
  }
  response.end(request.method === 'HEAD' ? undefined : body);
}
