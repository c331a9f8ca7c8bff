import type { CountrySource, NodeSource, NodeView, ProxyNodeType } from '@gatehouse/contracts';
import { BigIntId, CreatedAt, UpdatedAt } from '@gatehouse/persistence';
import { Column, Entity, Index, Unique } from 'typeorm';

@Entity('nodes')
@Unique('nodes_fingerprint_key', ['fingerprint'])
@Index('nodes_country_idx', ['country'])
export class NodeEntity {
  @BigIntId()
  id: number;

  @Column({ type: 'text' })
  fingerprint: string;

  /** `manual` wins over `subscription` where both brought the node. */
  @Column({ type: 'text' })
  source: NodeSource;

  /** A name that a person gave; it survives every refresh. */
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

  /** Sealed JSON of the ProxyNode. */
  @Column({ type: 'text' })
  config: string;

  @Column({ type: 'boolean', default: true })
  enabled: boolean;

  @Column({ type: 'text', nullable: true })
  country: string | null;

  @Column({ name: 'country_source', type: 'text', default: 'none' })
  countrySource: CountrySource;

  @CreatedAt()
  createdAt: Date;

  @UpdatedAt()
  updatedAt: Date;
}
