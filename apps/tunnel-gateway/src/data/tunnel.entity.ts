import { BigIntColumn, BigIntId, TimestampColumn } from '@gatehouse/persistence';
import type { TunnelMode } from '@gatehouse/tunnel-kernel';
import { Check, Column, Entity, Index, JoinColumn, ManyToOne, OneToOne, PrimaryColumn } from 'typeorm';
import { Client } from './client.entity.js';
import { ENABLED } from './user.entity.js';

/** A port that leads to a client's targets. The columns are given by the data model. */
@Entity('tunnels', { schema: 'tunnel_gateway' })
@Index('tunnels_client_id_idx', ['clientId'])
@Index('tunnels_listen_port_idx', ['listenPort'])
@Check('tunnels_mode_check', `mode IN ('tcp', 'udp', 'http_proxy', 'socks5', 'mix_proxy', 'secret', 'p2p', 'file')`)
@Check('tunnels_listen_port_check', 'listen_port BETWEEN 0 AND 65535')
@Check('tunnels_status_check', 'status IN (0, 1)')
@Check('tunnels_run_status_check', 'run_status BETWEEN 0 AND 3')
export class Tunnel {
  @BigIntId()
  id: number;

  @BigIntColumn({ name: 'client_id' })
  clientId: number;

  @ManyToOne(() => Client, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'client_id', foreignKeyConstraintName: 'tunnels_client_id_fkey' })
  client: Client;

  @Column({ type: 'text', nullable: true })
  name: string | null;

  @Column({ type: 'text' })
  mode: TunnelMode;

  @Column({ name: 'listen_ip', type: 'text', nullable: true, default: '0.0.0.0' })
  listenIp: string | null;

  /** The first of several. 0 in modes without a port. */
  @Column({ name: 'listen_port', type: 'integer' })
  listenPort: number;

  @Column({ name: 'target_addr', type: 'text' })
  targetAddr: string;

  /** Set by the owner: 1 enabled, 0 disabled. */
  @Column({ type: 'integer', default: ENABLED })
  status: number;

  /** Actual state: 0 stopped, 1 running, 2 waiting for the agent, 3 failed. Only the data plane writes it. */
  @Column({ name: 'run_status', type: 'integer', default: 0, update: false, insert: false })
  runStatus: number;

  @BigIntColumn({ name: 'inlet_flow', nullable: true, default: 0 })
  inletFlow: number | null;

  @BigIntColumn({ name: 'export_flow', nullable: true, default: 0 })
  exportFlow: number | null;

  @TimestampColumn({ name: 'created_at', nullable: true })
  createdAt: Date | null;

  @TimestampColumn({ name: 'updated_at', nullable: true })
  updatedAt: Date | null;
}

/** Options without a column in the data model. */
@Entity('tunnel_options')
@Check('tunnel_options_proxy_protocol_check', 'proxy_protocol IN (0, 1, 2)')
@Check('tunnel_options_rate_limit_check', 'rate_limit >= 0')
@Check('tunnel_options_port_count_check', 'port_count BETWEEN 1 AND 1000')
export class TunnelOptions {
  @PrimaryColumn({ name: 'tunnel_id', type: 'bigint' })
  tunnelId: number;

  @OneToOne(() => Tunnel, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'tunnel_id', foreignKeyConstraintName: 'tunnel_options_tunnel_fk' })
  tunnel: Tunnel;

  /** Version of the PROXY protocol header that targets get; 0: none. */
  @Column({ name: 'proxy_protocol', type: 'integer', default: 0 })
  proxyProtocol: 0 | 1 | 2;

  /** Visitors connect through a proxy that names them. */
  @Column({ name: 'accept_proxy_protocol', type: 'boolean', default: false })
  acceptProxyProtocol: boolean;

  /** KiB per second; 0: no limit of its own. */
  @Column({ name: 'rate_limit', type: 'integer', default: 0 })
  rateLimit: number;

  /** Ports from `listen_port` on. */
  @Column({ name: 'port_count', type: 'integer', default: 1 })
  portCount: number;
}
