import { layerOfWork, pgPool, withLayer } from '@gatehouse/persistence';
import { JsonLogger } from '@gatehouse/platform';
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';

const FLUSH_MS = 1_000;
const MAX_LOOKS = 20_000;

const ADD = `INSERT INTO share_looks (user_id, share_id, day)
  SELECT l.user_id, s.id, now()::date
  FROM unnest($1::bigint[], $2::uuid[]) AS l (user_id, slug) JOIN shares s ON s.slug = l.slug
  ORDER BY l.user_id, s.id
  ON CONFLICT (user_id, share_id) DO UPDATE SET day = excluded.day WHERE share_looks.day < excluded.day`;

interface Look {
  readonly userId: number;
  readonly slug: string;
  /** Of a test call. */
  readonly layer: string | undefined;
}

/** The shares that users viewed before they unlocked them; written once a second, and kept here until then. */
@Injectable()
export class ShareLooks implements OnModuleInit, BeforeApplicationShutdown {
  private looks = new Map<string, Look>();
  private written = new Map<string, Look>();
  private timer: NodeJS.Timeout | undefined;
  private flushing: Promise<void> | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly logger: JsonLogger,
  ) {}

  onModuleInit(): void {
    this.timer = setInterval(() => void this.flush(), FLUSH_MS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }

  note(userId: number, slug: string): void {
    if (this.looks.size >= MAX_LOOKS) return;
    this.looks.set(idOf(userId, slug), { userId, slug, layer: layerOfWork() });
  }

  has(userId: number, slug: string): boolean {
    const id = idOf(userId, slug);
    return this.looks.has(id) || this.written.has(id);
  }

  /** Never rejects: a lost view must not fail a shutdown. */
  flush(): Promise<void> {
    this.flushing ??= this.write().finally(() => {
      this.flushing = undefined;
    });
    return this.flushing;
  }

  private async write(): Promise<void> {
    this.written = this.looks;
    this.looks = new Map();
    if (this.written.size === 0) return;
    for (const [layer, looks] of Map.groupBy(this.written.values(), (look) => look.layer)) {
      await withLayer(layer, () => this.store(looks));
    }
  }

  private async store(looks: readonly Look[]): Promise<void> {
    try {
      await pgPool(this.dataSource).query({
        name: 'add_looks',
        text: ADD,
        values: [looks.map(({ userId }) => userId), looks.map(({ slug }) => slug)],
      });
    } catch (error) {
      this.logger.warn('looks at shares were not stored', { error }, 'ShareLooks');
    }
  }
}

function idOf(userId: number, slug: string): string {
  return `${userId} ${slug.replaceAll('-', '').toLowerCase()}`;
}
