import { loadSecretKeys } from '@gatehouse/persistence';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ResourceSharingSettings } from '../settings.js';
import { AccountLinks } from './account-links.js';
import { MailOutbox } from './mail-outbox.js';

/** Mails to users and the links in them. Folder mail-delivery sends them. */
@Module({
  providers: [
    MailOutbox,
    {
      provide: AccountLinks,
      inject: [ResourceSharingSettings, DataSource],
      useFactory: ({ home, secretKey }: ResourceSharingSettings, dataSource: DataSource) =>
        new AccountLinks(loadSecretKeys({ home, envValue: secretKey }), dataSource),
    },
  ],
  exports: [MailOutbox, AccountLinks],
})
export class MailsModule {}
