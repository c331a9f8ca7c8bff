import type { Actor } from '@gatehouse/auth';
import type { CertificateView, ServiceCheckStep, ServiceCheckView } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import { passesTls, type ResourceKind } from '@gatehouse/tunnel-kernel';
import { Injectable } from '@nestjs/common';
import { CertificatesService } from '../certificates/certificates.service.js';
import { parseHostTargets } from '../common/targets.js';
import type { QuotaResource } from '../common/quota-rows.js';
import { spareTunnels } from '../data/ip-rule.entity.js';
import { OwnedRows } from '../data/owned-rows.js';
import { Edges } from '../edge-host/edges.service.js';
import { Fleet } from '../edge-host/fleet.service.js';
import { readOptions } from '../data/row-options.js';
import { TunnelOptions, type Tunnel } from '../data/tunnel.entity.js';
import { usedUpQuotas } from '../quotas/quotas.js';
import { ListenPorts } from '../tunnels/listen-port.js';
import { fieldError } from '../wire/field-error.js';
import { NameCheck } from './name-check.js';
import type { TunnelCheckBody } from './service-check.dto.js';
import { step, stepOfCertificate, stepOfPort, stepOfRow, stepsOfTarget } from './steps.js';

/** Concurrent checks of this process: each waits for a target. */
const MAX_CHECKS = 32;

interface Checked {
  kind: ResourceKind;
  id: number;
  clientId: number;
  status: number;
  /** Of several, the one to try. */
  port?: number | undefined;
}

/** Checks whether visitors of a host or tunnel get an answer. */
@Injectable()
export class ServiceChecks {
  private running = 0;

  constructor(
    private readonly owned: OwnedRows,
    private readonly edges: Edges,
    private readonly fleet: Fleet,
    private readonly certificates: CertificatesService,
    private readonly names: NameCheck,
  ) {}

  /** @throws AppError NOT_FOUND, EDGE_UNAVAILABLE, SERVICE_UNAVAILABLE */
  async host(id: number, actor: Actor): Promise<ServiceCheckView> {
    const { clientId, status, host, scheme, targetAddr } = await this.owned.hosts(actor).one(id);
    const isPassed = passesTls({ targets: parseHostTargets(targetAddr) });
    return this.check({ kind: 'host', id, clientId, status }, actor, async () => {
      const [name, certificate] = await Promise.all([
        this.names.run(host),
        scheme === 'http' || isPassed ? null : this.certificateOf(id, actor),
      ]);
      // One that passes TLS on shows the certificate of its target.
      return [...(name === null ? [] : [name]), ...(isPassed ? [] : [stepOfCertificate(certificate)])];
    });
  }

  /** @throws AppError NOT_FOUND, VALIDATION_FAILED, EDGE_UNAVAILABLE, SERVICE_UNAVAILABLE */
  async tunnel(id: number, { port }: TunnelCheckBody, actor: Actor): Promise<ServiceCheckView> {
    const tunnel = await this.owned.tunnels(actor).one(id);
    const { clientId, status, mode } = tunnel;
    if (port !== undefined) await this.requirePort(tunnel, port);
    return this.check({ kind: 'tunnel', id, clientId, status, port }, actor, async () => {
      if (!ListenPorts.needsPort(mode)) return [];
      return [stepOfPort((await this.fleet.tunnelStates([id]))?.get(id))];
    });
  }

  /** `more`: steps between the target and access. */
  private async check(row: Checked, actor: Actor, more: () => Promise<ServiceCheckStep[]>): Promise<ServiceCheckView> {
    if (this.running >= MAX_CHECKS) {
      throw new AppError('SERVICE_UNAVAILABLE', 'Too many checks are running', { retryAfterSeconds: 1 });
    }
    this.running += 1;
    try {
      const { kind, id, clientId, port } = row;
      const client = await this.owned.clients(actor).one(clientId);
      const enabled = stepOfRow(row.status, client, new Date()) ?? (await this.quotaStep(row, client.ownerUserId));
      const [target, others, access] = await Promise.all([
        enabled.state === 'ok' ? this.edges.checkTarget(clientId, { kind, id }, port) : null,
        more(),
        this.access(row, actor),
      ]);
      const steps = [enabled, ...(target === null ? [] : stepsOfTarget(target)), ...others, access];
      const answers = steps.every(({ state }) => state === 'ok' || state === 'warning');
      return { answers, steps, port: target?.port ?? null, checked_at: new Date().toISOString() };
    } finally {
      this.running -= 1;
    }
  }

  /** Visitors are refused when any of the quotas that count their traffic is used up. */
  private async quotaStep({ kind, id, clientId }: Checked, userId: number): Promise<ServiceCheckStep> {
    const counted: [QuotaResource, number][] = [
      ...(kind === 'tunnel' ? [['tunnel', id] satisfies [QuotaResource, number]] : []),
      ['client', clientId],
      ['user', userId],
    ];
    const usedUp = await usedUpQuotas(this.owned.options, counted);
    const first = counted.find(([resource]) => usedUp.has(resource));
    return step(first ? `quota_of_${first[0]}` : 'enabled');
  }

  private async requirePort({ id, mode, listenPort }: Tunnel, port: number): Promise<void> {
    if (!ListenPorts.needsPort(mode)) throw fieldError('port', 'the tunnel has no port');
    const options = await readOptions(this.owned.options, TunnelOptions, 'tunnelId', [id]);
    const last = listenPort + (options.get(id)?.portCount ?? 1) - 1;
    if (port >= listenPort && port <= last) return;
    if (last === listenPort) throw fieldError('port', `the tunnel has port ${last} only`);
    throw fieldError('port', `the tunnel has the ports ${listenPort} to ${last}`);
  }

  private async certificateOf(hostId: number, actor: Actor): Promise<CertificateView | null> {
    try {
      return await this.certificates.get(hostId, actor);
    } catch (error) {
      if (error instanceof AppError && error.code === 'NOT_FOUND') return null;
      throw error;
    }
  }

  /** A resource's own policies replace those of its client. */
  private async access({ kind, id, clientId }: Checked, actor: Actor): Promise<ServiceCheckStep> {
    const policies = await this.owned.authPolicies(actor).some([
      { sql: 'row.enabled = 1' },
      {
        sql: `((row.resource_type = :kind AND row.resource_id = :id)
          OR (row.resource_type = 'client' AND row.resource_id = :clientId))`,
        parameters: { kind, id, clientId },
      },
    ]);
    const own = policies.filter(({ resourceType }) => resourceType === kind);
    const types = new Set((own.length > 0 ? own : policies).map(({ type }) => type));
    if (types.size > 0) return step('access_protected', [...types].join(', '));
    const rules = await this.owned.ipRules(actor).some([
      {
        sql: `((row.scope = :kind AND row.resource_id = :id)
          OR (row.scope = 'client' AND row.resource_id = :clientId))`,
        parameters: { kind, id, clientId },
      },
      ...(kind === 'tunnel' ? [{ sql: `NOT ${spareTunnels('row')}` }] : []),
    ]);
    return rules.length > 0 ? step('access_rules', rules.length) : step('access_open');
  }
}
