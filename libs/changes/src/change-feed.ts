import { ChannelFeed, PgListener } from '@gatehouse/persistence';
import { Inject, Injectable } from '@nestjs/common';

/** The injection token of the PostgreSQL channel that names changed areas. */
export const CHANGES_CHANNEL = Symbol('channel of changes');

/** Stands for every area: announcements may have been missed. */
export const EVERY_AREA = '*';

/** Passes on the areas that data/sql/changes.sql announces, whichever process made the change. */
@Injectable()
export class ChangeFeed extends ChannelFeed {
  constructor(listener: PgListener, @Inject(CHANGES_CHANNEL) channel: string) {
    super(listener, channel, EVERY_AREA);
  }
}
