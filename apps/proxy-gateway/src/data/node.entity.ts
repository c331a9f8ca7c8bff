import type { CountrySource, NodeSource, NodeView, ProxyNodeType } from '@gatehouse/contracts';
import { BigIntColumn, BigIntId, CreatedAt, TimestampColumn, UpdatedAt } from '@gatehouse/persistence';
import { Column, Entity, Index, Unique } from 'typeorm';

@Entity('nodes')
@Unique('nodes_fingerprint_key', ['fingerprint'])
@Index('nodes_country_idx', ['country'])
export class NodeEntity {
  @BigIntId()
  id: number;

  @Column({ type: 'text' })
  fingerprint: string;

  /** `manual` wins if both a user and a subscription added the node. */
  @Column({ type: 'text' })
  source: NodeSource;

  /** A name that a user gave; refreshes keep it. */
  @Column({ name: 'custom_name', type: 'text', nullable: true })
  customName: string | null;

  @Column({ name: 'original_name', type: 'text' })
  originalName: string;

  @Column({ type: 'text' })
  type: ProxyNodeType;

  @Column({ type: 'text' })
  server: string;

  @Column({ type: 'integer' })
  port: number;

  @Column({ type: 'text' })
  network: string;

  @Column({ type: 'text' })
  tls: NodeView['tls'];

  @Column({ type: 'boolean' })
  udp: boolean;

  @Column({ type: 'text', nullable: true })
  sni: string | null;

  @Column({ type: 'text', nullable: true })
  cipher: string | null;

  /** The ProxyNode as sealed JSON. */
  @Column({ type: 'text' })
  config: string;

  @Column({ type: 'boolean', default: true })
  enabled: boolean;

  @Column({ type: 'text', nullable: true })
  country: string | null;

  @Column({ name: 'country_source', type: 'text', default: 'none' })
  countrySource: CountrySource;

  /** Labels that users group their nodes by. */
  @Column({ type: 'text', array: true, default: [] })
  tags: string[];

  /** The address that destinations see traffic of this node come from. */
  @Column({ name: 'exit_ip', type: 'text', nullable: true })
  exitIp: string | null;

  @Column({ name: 'exit_country', type: 'text', nullable: true })
  exitCountry: string | null;

  @BigIntColumn({ name: 'exit_asn', nullable: true })
  exitAsn: number | null;

  @TimestampColumn({ name: 'exit_checked_at', nullable: true })
  exitCheckedAt: Date | null;

  /** Since when the kernel has failed to dial it; null if it can. */
  @TimestampColumn({ name: 'circuit_open_since', nullable: true })
  circuitOpenSince: Date | null;

  @CreatedAt()
  createdAt: Date;

  @UpdatedAt()
  updatedAt: Date;
}
