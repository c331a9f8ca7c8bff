import type { TemplateTarget } from '@gatehouse/contracts';
import { BigIntId, CreatedAt, UpdatedAt } from '@gatehouse/persistence';
import { Column, Entity, Unique } from 'typeorm';

/** A document of one's own, into which the nodes of publications are put. */
@Entity('publication_templates')
@Unique('publication_templates_name_key', ['name'])
export class PublicationTemplateEntity {
  @BigIntId()
  id: number;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  target: TemplateTarget;

  /** The text, sealed: documents hold credentials. */
  @Column({ type: 'text' })
  content: string;

  /** Characters of the text. */
  @Column({ type: 'integer' })
  size: number;

  /** The beginning of its SHA-256, which the audit log shows in place of the text. */
  @Column({ type: 'text' })
  digest: string;

  @CreatedAt()
  createdAt: Date;

  @UpdatedAt()
  updatedAt: Date;
}
