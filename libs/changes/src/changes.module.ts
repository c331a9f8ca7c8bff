import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { ChangeFeed, CHANGES_CHANNEL } from './change-feed.js';
import { AuthenticatedPermit, ChangePermit } from './change-permit.js';
import { ChangeStream } from './change-stream.js';
import { ChangesController } from './changes.controller.js';

export interface ChangesOptions {
  /** The PostgreSQL channel on which data/sql/changes.sql of the service announces areas. */
  readonly channel: string;
  /** Default: the request has to authenticate as before. */
  readonly permit?: Type<ChangePermit>;
  /** Modules with what the permit needs. */
  readonly imports?: NonNullable<DynamicModule['imports']>;
}

/** `GET /changes`. Needs PersistenceModule, PlatformModule and AuthModule. */
@Module({})
export class ChangesModule {
  static forRoot({ channel, permit = AuthenticatedPermit, imports = [] }: ChangesOptions): DynamicModule {
    return {
      module: ChangesModule,
      imports,
      controllers: [ChangesController],
      providers: [
        { provide: CHANGES_CHANNEL, useValue: channel },
        { provide: ChangePermit, useClass: permit },
        ChangeFeed,
        ChangeStream,
      ],
    };
  }
}
