import { UnitOfWork } from '@gatehouse/persistence';
import type { ConnectionRecord } from '@gatehouse/proxy-kernel';
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { KernelService } from '../kernel-process/kernel.service.js';
import { lockGroups } from '../kernel-config/lock-groups.js';

const FLUSH_MS = 2_000;
/** Groups come and go; what is counted for one that is gone is lost with it. */
const MAX_GROUPS = 5_000;

interface Bytes {
  upload: number;
  download: number;
}

/** Adds finished flows to the totals of the groups they went through. */
@Injectable()
export class GroupTraffic implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger('Outbound');
  private pending = new Map<string, Bytes>();
  private timer: NodeJS.Timeout | null = null;
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly kernel: KernelService,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  onModuleInit(): void {
    this.kernel.onClosed((records) => this.add(records));
  }

  /** The kernel has told its last by now; the database closes in the stage after this one. */
  async beforeApplicationShutdown(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    await this.flush();
  }

  /** Finished flows that the row does not hold yet. */
  waiting(group: string): Bytes {
    return this.pending.get(group) ?? { upload: 0, download: 0 };
  }

  private add(records: readonly ConnectionRecord[]): void {
    for (const { chain, upload, download } of records) {
      // The last is the outbound itself.
      for (const group of chain.slice(0, -1)) this.count(group, upload, download);
    }
    if (this.pending.size > 0) this.timer ??= setTimeout(() => this.flushSoon(), FLUSH_MS);
  }

  private count(group: string, upload: number, download: number): void {
    const sum = this.pending.get(group);
    if (sum) {
      sum.upload += upload;
      sum.download += download;
    } else if (this.pending.size < MAX_GROUPS) this.pending.set(group, { upload, download });
  }

  private flushSoon(): void {
    this.timer = null;
    void this.flush();
  }

  private flush(): Promise<void> {
    this.writing = this.writing.then(() => this.write());
    return this.writing;
  }

  private async write(): Promise<void> {
    const batch = this.pending;
    if (batch.size === 0) return;
    this.pending = new Map();
    const sums = [...batch.values()];
    try {
      await this.unitOfWork.run(async (tx) => {
        await lockGroups(tx);
        await tx.query(
          `UPDATE outbound_groups owner SET upload_total = owner.upload_total + more.upload,
             download_total = owner.download_total + more.download
           FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS more (name, upload, download)
           WHERE owner.name = more.name`,
          [[...batch.keys()], sums.map(({ upload }) => upload), sums.map(({ download }) => download)],
        );
      });
    } catch (error) {
      this.logger.warn('Traffic of groups could not be written; it is tried again with the next', error);
      for (const [group, { upload, download }] of batch) this.count(group, upload, download);
    }
  }
}
