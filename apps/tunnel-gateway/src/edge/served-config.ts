import { splitKeys } from '../common/key-box.js';
import {
  TunnelError,
  type IpPatternKind,
  type TunnelLogger,
  type TunnelServer,
  type TunnelServerConfig,
  type TunnelState,
} from '@gatehouse/tunnel-kernel';
import type { ClientDirectory } from './client-directory.js';
import { toServerConfig, type MappedConfig } from './config-mapper.js';
import type { ConfigRows } from '../common/config-rows.js';
import type { AddressLists } from '../common/address-lists.js';
import type { AddressFiles } from '../common/address-files.js';
import { servedElsewhere, type WorkerShare } from './door/worker-share.js';
import type { EdgeOptions } from '../common/edge-ipc.js';
import { HostCertificates } from './host-certificates.js';
import { PolicySecrets } from '../common/policy-secrets.js';

export interface ServedConfigParts {
  server: TunnelServer;
  logger: TunnelLogger;
  directory: ClientDirectory;
  files: AddressFiles;
  lists: AddressLists;
  /** Null: this process serves all clients. */
  share: WorkerShare | null;
  /** Called before a configuration that may no longer have all clients. */
  beforeChange(): void;
}

/** The part of the configuration that the tunnel server serves, and the reasons for what it does not serve. */
export class ServedConfig {
  private readonly parts: ServedConfigParts;
  private readonly certificates: HostCertificates;
  private readonly policySecrets: PolicySecrets;
  /** Tunnels that the server did not accept. */
  private unserved: TunnelState[] = [];
  /** Kinds of the rules that are served. */
  private ruleKinds: ReadonlySet<IpPatternKind> = new Set();
  /** Where the ports of all tunnels are opened; undefined: where each tunnel says. */
  private readonly tunnelAddress: string | undefined;

  constructor(options: EdgeOptions, parts: ServedConfigParts) {
    this.parts = parts;
    this.tunnelAddress = options.tunnelAddress;
    this.certificates = new HostCertificates(
      options.certificateFolder,
      splitKeys(options.certificateKey),
      parts.logger,
    );
    this.policySecrets = new PolicySecrets(options.visitorSecret);
  }

  /** An invalid configuration is refused as a whole: the previous one stays. */
  async apply(rows: ConfigRows): Promise<void> {
    try {
      await this.serve(rows);
    } catch (error) {
      if (!(error instanceof TunnelError)) throw error;
      const { revision } = rows;
      this.parts.logger.error('the configuration cannot be served', { revision, error: error.message });
    }
  }

  /** Disconnects agents whose former key has expired; must be called about every second. */
  endPreviousKeys(): void {
    if (this.parts.directory.previousKeyEnded()) this.disconnectOutdated();
  }

  states(): TunnelState[] {
    return [...this.parts.server.tunnels(), ...this.unserved];
  }

  /** Whether certificate files or a database of addresses changed since the last `apply`: call it again. */
  otherFiles(): boolean {
    const otherAddresses = this.parts.files.load(this.ruleKinds);
    return otherAddresses || this.certificates.changed();
  }

  private async serve(rows: ConfigRows): Promise<void> {
    const { server, directory, files, lists, share } = this.parts;
    const own = share?.take(rows) ?? rows;
    // Disconnected while they are still served, so that their agents reconnect soon: to the worker that has them now.
    for (const id of share?.left ?? []) server.disconnect(id, servedElsewhere());
    const mapped = this.map(own);
    this.parts.beforeChange();
    directory.apply(rows);
    files.load(this.ruleKinds);
    lists.apply(rows.addressLists ?? []);
    await server.apply(this.atOwnAddress(mapped.config));
    this.disconnectOutdated();
  }

  private disconnectOutdated(): void {
    const { server, directory } = this.parts;
    for (const { clientId } of server.agents()) {
      if (directory.isOutdated(clientId)) server.disconnect(clientId);
    }
  }

  private map(rows: ConfigRows): MappedConfig {
    const mapped = toServerConfig(
      rows,
      (host) => this.certificates.of(host),
      (policyId, sealed) => this.policySecrets.open(policyId, sealed),
    );
    this.certificates.settle();
    this.ruleKinds = new Set(rows.ipRules.map(({ kind }) => kind));
    this.unserved = rows.tunnels.flatMap(({ id, clientId }): TunnelState[] => {
      const error = mapped.tunnelProblems.get(id);
      return error === undefined ? [] : [{ id, clientId, state: 'error', port: 0, error }];
    });
    this.report(mapped);
    return mapped;
  }

  private atOwnAddress(config: TunnelServerConfig): TunnelServerConfig {
    const { tunnelAddress: host } = this;
    if (host === undefined) return config;
    return { ...config, tunnels: config.tunnels.map((tunnel) => ({ ...tunnel, listen: { ...tunnel.listen, host } })) };
  }

  private report({ hostProblems, ruleProblems }: MappedConfig): void {
    const { logger, share } = this.parts;
    for (const [id, problem] of hostProblems) {
      if (share?.isOwnHost(id) ?? true) logger.warn('a host cannot be served', { host: id, problem });
    }
    for (const [rule, problem] of ruleProblems) logger.warn('a rule matches nothing', { rule, problem });
  }
}
